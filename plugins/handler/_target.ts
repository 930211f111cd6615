/**
 * Where and how a job is sent: by the options, and by its payload where they allow that.
 *
 * @module
 */

import { Fatal } from "../../src/contract/errors.ts";
import type { StandardSchema } from "../../src/contract/standard_schema.ts";
import { type Endpoint, endpointOf } from "./_endpoint.ts";
import { fieldOf } from "./_fields.ts";
import { HEADER_VALUE, type HttpSettings } from "./_http_options.ts";
import { secretsFor } from "./_sign.ts";

/** Longest URL of a payload, characters. */
const LONGEST_URL = 8_192;

/** Where and how. */
export interface CallTarget {
  /** Where to. */
  readonly url: string;
  /** How. */
  readonly method: string;
  /** With which headers of the options. */
  readonly headers: Headers;
  /** What it is signed with. `undefined`: it is not. */
  readonly secret: string | undefined;
}

/** Knows the target of a job. */
export interface CallTargets {
  /** @throws {Unfit} If the payload does not fit. */
  of(payload: unknown): CallTarget;
  /** Checks payloads. `undefined`: any fits. */
  readonly payload: StandardSchema | undefined;
}

/** A field of the payload that names no target, or none that is allowed. */
class Unfit extends Fatal {
  constructor(readonly field: string, wanted: string) {
    super(`Expected ${field} to be ${wanted}`);
  }
}

/** Reads the options once. */
export function targetsOf({ url, method, headers, sign }: HttpSettings): CallTargets {
  const urlOf = typeof url === "string" ? () => url : urlFrom(url);
  const secretOf = sign === undefined ? undefined : secretsFor(sign);
  const given = Object.entries(headers);
  const fixed = new Headers(
    given.filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
  const varied = given.filter((entry): entry is [string, { readonly from: string }] =>
    typeof entry[1] !== "string"
  );
  const of = (payload: unknown): CallTarget => {
    const to = urlOf(payload);
    const secret = secretOf?.(to);
    if (secretOf !== undefined && secret === undefined && typeof url !== "string") {
      throw new Unfit(url.from, 'a URL that "sign" has a secret for');
    }
    return {
      url: to,
      secret,
      method: typeof method === "string" ? method : methodFrom(method, payload),
      headers: varied.length === 0 ? fixed : withVaried(fixed, varied, payload),
    };
  };
  const isFixed = typeof url === "string" && typeof method === "string" && varied.length === 0;
  return { of, payload: isFixed ? undefined : schemaOf(of) };
}

type FromPayload<Option> = Exclude<Option, string>;

function urlFrom({ from, allow }: FromPayload<HttpSettings["url"]>): (payload: unknown) => string {
  const endpoints = allow.map(endpointOf).filter((endpoint): endpoint is Endpoint =>
    endpoint !== undefined
  );
  return (payload) => {
    const given = fieldOf({ payload }, from);
    const url = typeof given === "string" && given.length <= LONGEST_URL ? URL.parse(given) : null;
    if (url === null) {
      throw new Unfit(from, `a URL of at most ${LONGEST_URL} characters`);
    }
    if (url.username !== "" || url.password !== "") {
      throw new Unfit(from, "a URL without a user name and a password");
    }
    if (!endpoints.some((allows) => allows(url))) {
      throw new Unfit(from, `a URL of ${allow.join(", ")}`);
    }
    return url.href; // as it was judged
  };
}

/** Without one, the first that is allowed. */
function methodFrom(
  { from, allow }: FromPayload<HttpSettings["method"]>,
  payload: unknown,
): string {
  const given = fieldOf({ payload }, from) ?? allow[0];
  const method = allow.find((each) => each === given);
  if (method === undefined) throw new Unfit(from, `one of ${allow.join(", ")}`);
  return method;
}

/** A header that the payload has no value for is left out. */
function withVaried(
  fixed: Headers,
  varied: readonly (readonly [name: string, value: { readonly from: string }])[],
  payload: unknown,
): Headers {
  const headers = new Headers(fixed);
  for (const [name, { from }] of varied) {
    const value = fieldOf({ payload }, from) ?? undefined;
    if (value === undefined) continue;
    const text = typeof value === "number" ? String(value) : value;
    if (typeof text !== "string" || !HEADER_VALUE.test(text)) {
      throw new Unfit(from, "a header value: a number or one line of Latin-1");
    }
    headers.set(name, text);
  }
  return headers;
}

/** So that a job whose target is not allowed is refused when it is enqueued. */
function schemaOf(of: (payload: unknown) => CallTarget): StandardSchema {
  return {
    "~standard": {
      version: 1,
      vendor: "sluice",
      validate: (value) => {
        try {
          of(value);
          return { value };
        } catch (thrown) {
          if (!(thrown instanceof Unfit)) throw thrown;
          return { issues: [{ message: thrown.message, path: thrown.field.split(".").slice(1) }] };
        }
      },
    },
  };
}
