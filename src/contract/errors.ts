/**
 * Errors that a caller or a handler deals with.
 *
 * @module
 */

import { delayTooLong, LONGEST_DELAY_MS } from "./job.ts";

/** One fault of a config or scenario. */
export interface Fault {
  /** JSON Pointer to the place, such as `/pools/mail/size/min`. Empty for the whole. */
  readonly pointer: string;
  /** What is wrong, what is wanted, what to do. */
  readonly message: string;
  /** File that it is in. `undefined` for a config given as an object. */
  readonly file?: string | undefined;
  /** Line, from 1. */
  readonly line?: number | undefined;
  /** Column, from 1. */
  readonly column?: number | undefined;
  /** What a plugin, module or file threw. */
  readonly cause?: unknown;
}

/** The config has faults. Nothing was started. */
export class ConfigError extends TypeError {
  /** The faults found, in file order: the first 40. */
  readonly faults: readonly Fault[];
  /** How many there are beyond those. */
  readonly more: number;

  /** Makes one error of all faults. */
  constructor(
    faults: readonly Fault[],
    { more = 0, ...options }: ErrorOptions & { readonly more?: number } = {},
  ) {
    const rest = more === 0 ? [] : [`and ${more} more`];
    super([...faults.map(formatFault), ...rest].join("\n"), options);
    this.name = "ConfigError";
    this.faults = faults;
    this.more = more;
  }
}

/** An option that only the factory of a plugin can judge is wrong. */
export class OptionError extends TypeError {
  /** Path below the plugin's options, such as `["reserve", "urgent"]`. */
  readonly path: readonly (string | number)[];

  /** Says which option is wrong and what is wanted. */
  constructor(path: readonly (string | number)[], message: string) {
    super(message);
    this.name = "OptionError";
    this.path = path;
  }
}

/** A job was rejected. Nothing was stored. */
export class RejectedError extends Error {
  /** Why, in words for the one who enqueues. */
  readonly reason: string;
  /** When to come back, ms. `Infinity`: not while this process runs. */
  readonly retryAfterMs: number;

  /** Says why the job was rejected and when to come back. */
  constructor(reason: string, retryAfterMs: number) {
    super(
      Number.isFinite(retryAfterMs)
        ? `The job was rejected: ${reason}; retry in ${Math.ceil(retryAfterMs)} ms`
        : `The job was rejected: ${reason}`,
    );
    this.name = "RejectedError";
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The key of an enqueue that may be sent again was used for another one. Nothing was stored. */
export class IdempotencyError extends TypeError {
  /** Names the key. */
  constructor(key: string) {
    super(
      `The idempotency key "${key}" was used for another request: repeat that request unchanged, or use a new key`,
    );
    this.name = "IdempotencyError";
  }
}

/** The store failed, or did not answer in time. What was asked of it may fit well: ask again. */
export class StoreError extends Error {
  /** True: what was asked for may be done all the same, now or later. Look before you ask again. */
  readonly mayBeDone: boolean;
  /** True: it has not failed, but not answered in time either. */
  readonly isLate: boolean;

  /** Keeps what the store threw as `cause`. One that has `mayBeDone: true` itself is believed. */
  constructor(
    thrown: unknown,
    message = `The job could not be stored: ${messageOf(thrown)}`,
    { mayBeDone = saysMayBeDone(thrown), isLate = false }: {
      readonly mayBeDone?: boolean;
      readonly isLate?: boolean;
    } = {},
  ) {
    super(message, { cause: thrown });
    this.name = "StoreError";
    this.mayBeDone = mayBeDone;
    this.isLate = isLate;
  }
}

function saysMayBeDone(thrown: unknown): boolean {
  return thrown instanceof Error && "mayBeDone" in thrown && thrown.mayBeDone === true;
}

/** A handler throws this to have its job run again later. A deferral: not a failure, not counted as an attempt. */
export class RetryLater extends Error {
  /** How long to wait, ms. The job becomes claimable never before, and after it by a fifth of that at most. */
  readonly ms: number;

  /**
   * Defers a job.
   *
   * @throws {RangeError} If `ms` is not a number >= 0, or is more than 100 years.
   */
  constructor(ms: number, reason = "the handler deferred the job") {
    super(reason);
    if (ms > LONGEST_DELAY_MS) throw new RangeError(delayTooLong("RetryLater ms", String(ms)));
    if (!(ms >= 0)) {
      throw new RangeError(`Expected RetryLater ms >= 0 but received ${ms}`);
    }
    this.name = "RetryLater";
    this.ms = ms;
  }
}

/** A deferral whose time chance has spread already, as a recorded one's: the job is due after exactly `ms`. */
export class RetryExactly extends RetryLater {}

/** A handler throws this when no retry can help: the job is dead at once. */
export class Fatal extends Error {
  /** True: the receiver is gone for all jobs, as HTTP 410 says. With `cooldown.gone` they wait, this one too. */
  readonly gone: boolean;

  /** Ends a job for good. */
  constructor(
    reason: string,
    { gone = false, ...options }: ErrorOptions & { readonly gone?: boolean } = {},
  ) {
    super(reason, options);
    this.name = "Fatal";
    this.gone = gone;
  }
}

/** Why a handler's signal aborted. */
export type AbortCause = "timeout" | "cancelled" | "drain" | "lease-lost";

/** `signal.reason` of a handler that is asked to end. */
export class AbortedError extends Error {
  /** Which of the reasons it is. */
  readonly why: AbortCause;

  /** Names the reason. */
  constructor(why: AbortCause, message: string) {
    super(message);
    this.name = "AbortedError";
    this.why = why;
  }
}

/** Renders a fault as `file:line:column pointer: message`. */
export function formatFault(fault: Fault): string {
  const place = [fault.file, fault.line, fault.column].filter((part) => part !== undefined).join(
    ":",
  );
  const pointer = fault.pointer === "" ? "" : `${fault.pointer}: `;
  return `${place === "" ? "" : `${place} `}${pointer}${fault.message}`;
}

/** Longest message that is kept, in characters. */
const LONGEST_MESSAGE = 2000;

/** Longest message that is looked through for what may not be shown, in characters. */
const LONGEST_SEARCHED = 20_000;

/**
 * The message of anything thrown, cut to a length that can be stored and read. Never throws.
 *
 * @param hide Takes out what may not be shown, before the cut: half of it would be left else.
 */
export function messageOf(thrown: unknown, hide?: (text: string) => string): string {
  let message: string;
  try {
    message = String(textOf(thrown));
    if (hide !== undefined) message = hide(message.slice(0, LONGEST_SEARCHED));
  } catch {
    return "Thrown: a value that cannot be read";
  }
  if (message.length <= LONGEST_MESSAGE) return message;
  const left = message.length - LONGEST_MESSAGE;
  return `${message.slice(0, LONGEST_MESSAGE)}… (${left} more characters)`;
}

/** Longest stack that is kept, in characters, and most causes that it names. */
const LONGEST_STACK = 2000;
const MOST_CAUSES = 3;

/**
 * Where something was thrown, without its message, and the messages and places of its causes. Cut to a
 * length that can be stored and read. Never throws.
 *
 * @param hide Takes out what may not be shown, before the cut.
 * @returns `undefined` for what has no stack.
 */
export function stackOf(thrown: unknown, hide: (text: string) => string): string | undefined {
  try {
    const parts: string[] = [];
    for (let at = thrown; at instanceof Error && parts.length <= MOST_CAUSES; at = at.cause) {
      const frames = framesOf(at.stack ?? "").join("\n");
      const name = parts.length === 0 ? at.name : `Caused by ${at.name}: ${messageOf(at)}`;
      parts.push(frames === "" ? name : `${name}\n${frames}`);
    }
    if (parts.length === 0) return undefined;
    const text = hide(parts.join("\n").slice(0, LONGEST_SEARCHED));
    return text.length <= LONGEST_STACK ? text : `${text.slice(0, LONGEST_STACK)}…`;
  } catch {
    return undefined;
  }
}

/** The lines of a stack that say where, as far as the handler: how it came to be called is always the same. */
function framesOf(stack: string): readonly string[] {
  const frames = stack.split("\n").filter((line) => /^\s+at /.test(line));
  const own = frames.findIndex((line) => /\bruntime[/\\]runner\.[jt]s:/.test(line));
  return own === -1 ? frames : frames.slice(0, own);
}

function textOf(thrown: unknown): unknown {
  if (typeof thrown === "string") return thrown;
  if (typeof thrown !== "object" || thrown === null) return `Thrown: ${String(thrown)}`;
  if ("message" in thrown && typeof thrown.message === "string") return thrown.message;
  return `Thrown: ${JSON.stringify(thrown)}`;
}
