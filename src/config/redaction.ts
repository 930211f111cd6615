/**
 * What may be shown of payloads, results, options and texts that may quote them. Whatever leaves the
 * process for people to read goes through here.
 *
 * @module
 */

import { isRecord } from "./faults.ts";
import { isEnvRef } from "./secrets.ts";
import type { ConfigChange, PoolEvent } from "../contract/event.ts";
import type { Logger } from "../contract/job.ts";
import { withoutPassword } from "../base/escape.ts";

/** Deepest level that is shown. */
const MAX_LEVELS = 128;

/** Most values that are shown of one payload. */
const MAX_VALUES = 20_000;

/** Most hidden values that texts are searched for: with more, a text that may quote them is hidden as a whole. */
const MAX_HIDDEN = 200;

/** A shorter text is hidden only where it is a word of its own: else it would hide parts of many. */
const SHORTEST_PART = 4;

/** A shorter value is hidden in its field only: texts would be full of holes, and nobody's secret is so short. */
const SHORTEST_SECRET = 3;

const HIDDEN = "[redacted]";

/** Names of fields that are hidden unless a config lists others. */
export const USUAL_REDACT: readonly string[] = [
  ...["password", "passwd", "pwd", "passphrase", "passcode", "pin", "otp"],
  ...[
    "secret",
    "secrets",
    "clientSecret",
    "secretKey",
    "privateKey",
    "accessKey",
    "apiKey",
    "xApiKey",
  ],
  ...["token", "accessToken", "refreshToken", "idToken", "authToken", "bearer", "jwt"],
  ...["authorization", "proxyAuthorization", "cookie", "setCookie", "credentials"],
  ...["card", "cardNumber", "creditCard", "cvc", "cvv", "iban", "ssn"],
];

/** Copies a value for display. `beside`: what its texts may quote, such as the payload of its job. */
export type Show = (value: unknown, ...beside: readonly unknown[]) => unknown;

/** Hides fields by name, and what they hold wherever it is quoted. */
export class Redaction {
  #keys: ReadonlySet<string> = new Set();
  #values: ReadonlySet<string> = new Set();

  /** `keys`: names of fields, in any case and with any separators. `config`: what runs, whose fields count too. */
  constructor(keys: Iterable<string>, config?: unknown) {
    this.adopt(keys, config);
  }

  /** Goes by other names and another config. What the one before held stays hidden until the next. */
  adopt(keys: Iterable<string>, config: unknown): void {
    const before = this.#keys.size === 0 ? [] : this.#values;
    this.#keys = new Set([...keys].map(plainName));
    this.#values = new Set([...valuesIn([config], this.#keys), ...before]);
  }

  /**
   * Copies a value for display: listed keys, what they hold and the passwords of addresses are hidden at
   * any depth, and what JSON could not hold (cycles, a depth that would overflow the stack, huge graphs)
   * is named instead.
   */
  readonly show: Show = (value, ...beside) => {
    const values = this.#keys.size === 0 ? this.#values : this.#valuesOf([...beside, value]);
    const hide = values.size > MAX_HIDDEN ? withoutPassword : hider(values);
    return copy(value, {
      keys: this.#keys,
      hide: this.#keys.size === 0 ? hide : (text) => hide(withoutNamed(text, this.#keys)),
      isOfJob: this.#keys.size > 0 && beside.length > 0,
      above: new Set(),
      left: MAX_VALUES,
    });
  };

  /** A text without what is hidden. `beside`: what it may quote. */
  hide(text: string, ...beside: readonly unknown[]): string {
    if (this.#keys.size === 0) return withoutPassword(text);
    const values = this.#valuesOf(beside);
    return values.size > MAX_HIDDEN ? HIDDEN : hider(values)(withoutNamed(text, this.#keys));
  }

  /** An event as observers may have it. What jobs say was hidden as it was said. */
  event(event: PoolEvent): PoolEvent {
    if (this.#keys.size === 0 || !("error" in event) || event.error === undefined) return event;
    return { ...event, error: this.hide(event.error) };
  }

  /** What is wrong at a place of the config, as it may be shown. */
  fault(pointer: string, message: string): string {
    // What is received may be cut: then it is not found in the message. A literal is not quoted.
    return this.#isHidden(pointer)
      ? message.replace(/\breceived (?!a literal\b)[^]*/, `received ${HIDDEN}`)
      : this.hide(message);
  }

  /** A change of the config as it may be shown. */
  readonly change = (change: ConfigChange): ConfigChange => {
    const { from, to, pointer } = change;
    const isHidden = this.#isHidden(pointer);
    const show = (value: unknown): unknown =>
      isHidden && !isEnvRef(value) ? HIDDEN : this.show(value, from, to);
    return {
      ...change,
      ...(from === undefined ? {} : { from: show(from) }),
      ...(to === undefined ? {} : { to: show(to) }),
    };
  };

  /** A logger that shows no more than may be shown. `beside`: what its lines may quote. */
  logger(log: Logger, ...beside: readonly unknown[]): Logger {
    const at = (level: keyof Logger): Logger[keyof Logger] => (message, fields) => {
      if (this.#keys.size === 0) return log[level](message, fields);
      const shown = fields === undefined ? undefined : this.show(fields, ...beside);
      log[level](this.hide(message, ...beside), isRecord(shown) ? shown : undefined);
    };
    return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  }

  #isHidden(pointer: string): boolean {
    return pointer.split("/").some((key) => this.#keys.has(plainName(key)));
  }

  #valuesOf(beside: readonly unknown[]): ReadonlySet<string> {
    return new Set([...this.#values, ...valuesIn(beside, this.#keys)]);
  }
}

/** Makes the function that copies values for display, by names of fields alone. */
export function redactor(keys: Iterable<string>): Show {
  return new Redaction(keys).show;
}

/** Makes the function that copies as `redactor` does, by what the config of the moment lists under `redact`. */
export function configRedactor(system: { readonly config: unknown }): Show {
  let config = system.config;
  const redaction = redactionOf(config);
  return (value, ...beside) => {
    if (config !== system.config) {
      config = system.config;
      redaction.adopt(listed(config), config);
    }
    return redaction.show(value, ...beside);
  };
}

/** What a config as given hides. */
export function redactionOf(config: unknown): Redaction {
  return new Redaction(listed(config), config);
}

function listed(config: unknown): readonly string[] {
  if (!isRecord(config) || !Array.isArray(config["redact"])) return USUAL_REDACT;
  return config["redact"].filter((name) => typeof name === "string");
}

interface Copying {
  readonly keys: ReadonlySet<string>;
  readonly hide: (text: string) => string;
  /** It is of a job: names of fields may quote its payload, and `{ "env": "NAME" }` is no reference. */
  readonly isOfJob: boolean;
  readonly above: Set<object>;
  left: number;
}

function copy(value: unknown, state: Copying): unknown {
  if (typeof value === "string") return state.hide(value);
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object" || value === null) return value;
  if (state.above.has(value)) return "[circular]";
  if (state.above.size >= MAX_LEVELS) return "[too deep]";
  if (state.left-- <= 0) return "[cut]";
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Error) return state.hide(value.message);
  state.above.add(value);
  const copied = Array.isArray(value) ? value.map((item) => copy(item, state)) : Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      state.isOfJob ? state.hide(key) : key,
      state.keys.has(plainName(key)) && (state.isOfJob || !isEnvRef(item))
        ? HIDDEN
        : copy(item, state),
    ]),
  );
  state.above.delete(value);
  return copied;
}

/** Texts and numbers that stand below listed keys. */
function valuesIn(values: readonly unknown[], keys: ReadonlySet<string>): ReadonlySet<string> {
  const found = new Set<string>();
  if (keys.size === 0) return found;
  const above = new Set<object>();
  let left = MAX_VALUES;
  const look = (value: unknown, isHidden: boolean): void => {
    if (isHidden && (typeof value === "string" || typeof value === "number")) {
      if (String(value).trim().length >= SHORTEST_SECRET) found.add(String(value));
    }
    const isOpen = typeof value === "object" && value !== null && !above.has(value) &&
      above.size < MAX_LEVELS && found.size <= MAX_HIDDEN && left-- > 0;
    if (!isOpen || (isHidden && isEnvRef(value))) return; // the name of a variable is no secret
    above.add(value);
    for (const [key, item] of Object.entries(value)) {
      look(item, isHidden || (!Array.isArray(value) && keys.has(plainName(key))));
    }
    above.delete(value);
  };
  for (const value of values) look(value, false);
  return found;
}

/** Makes the function that takes values out of a text: as they are, as JSON and as addresses have them. */
function hider(values: ReadonlySet<string>): (text: string) => string {
  if (values.size === 0) return withoutPassword;
  const forms = [...values].flatMap((value) => [
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(value.toWellFormed()),
  ]);
  const parts = [...new Set(forms)].sort((a, b) => b.length - a.length).map((form) => {
    const literal = RegExp.escape(form);
    const isPart = form.length >= SHORTEST_PART && !/^[\d.]+$/.test(form);
    return isPart ? literal : `(?<![\\p{L}\\p{N}])${literal}(?![\\p{L}\\p{N}])`;
  });
  const pattern = new RegExp(parts.join("|"), "gu");
  return (text) => withoutPassword(text).replace(pattern, HIDDEN);
}

/** Names are the same in any case, and with any separators: `accessToken`, `access_token`, `Access-Token`. */
function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[-_. ]/g, "");
}

/** `"name": value` and `name=value`, as JSON, addresses and forms have them. */
const NAMED =
  /"([^"\\]{1,60})"\s*:\s*("(?:[^"\\]|\\.)*"?|[^\s,}\]]+)|([\w.-]{1,60})=([^\s&;,"'<>]+)/g;

/** Takes out of a text what it says of listed names, as the answer of a receiver may. */
function withoutNamed(text: string, keys: ReadonlySet<string>): string {
  if (!/[=:]/.test(text)) return text;
  return text.replaceAll(NAMED, (whole, quoted?: string, _?: string, bare?: string) => {
    if (quoted !== undefined) {
      return keys.has(plainName(quoted)) ? `"${quoted}":"${HIDDEN}"` : whole;
    }
    return bare !== undefined && keys.has(plainName(bare)) ? `${bare}=${HIDDEN}` : whole;
  });
}
