/**
 * What may be a payload or a result: any JSON value, so that every store keeps the same.
 *
 * @module
 */

import type { PayloadFault } from "../contract/payload_error.ts";

/** Deepest nesting. */
const DEEPEST = 100;

/** Largest result that is kept, bytes of its JSON. */
export const LARGEST_RESULT = 60_000;

/** Most bytes of a character in JSON, such as `\\u0001`. */
const CHARACTER_BYTES = 6;

/** Most bytes of a number, a name's quotes or a bracket, with what separates it. */
const SMALL_BYTES = 32;

/** Why a value cannot be used: takes the value's place. */
export class Misfit {
  /** What is wrong, where, and what to do. */
  readonly fault: string;
  /** Each fault with its place, a JSON Pointer into the value. */
  readonly faults: readonly PayloadFault[];

  /** Says why. */
  constructor(fault: string, faults: readonly PayloadFault[] = [{ pointer: "", detail: fault }]) {
    this.fault = fault;
    this.faults = faults;
  }
}

/** A value that cannot be stored. Thrown within this file only. */
class Unstorable {
  constructor(readonly pointer: string, readonly what: string, readonly advice: string) {}
}

/**
 * Copies a JSON value: later changes of the original, or of a copy, touch no other. As in JSON, members
 * that are `undefined` are left out, and items become `null`.
 *
 * @param value What is to be stored.
 * @param name What a fault calls it, such as "payload".
 * @returns The copy, or a `Misfit`.
 */
export function copyJson(value: unknown, name = "payload"): unknown {
  if (isPlain(value)) return value;
  try {
    return copy(value, "", 0);
  } catch (thrown) {
    if (!(thrown instanceof Unstorable)) {
      return new Misfit(`The ${name} cannot be stored: it cannot be read; use plain JSON`);
    }
    const place = thrown.pointer === "" ? `The ${name}` : `The ${name} at ${thrown.pointer}`;
    const { pointer, what, advice } = thrown;
    const fault = `${place} cannot be stored: it is ${what}; ${advice}`;
    return new Misfit(fault, [{ pointer, detail: fault }]);
  }
}

/**
 * Copies a result that is kept: a JSON value that is not too large.
 *
 * @returns The copy, or a `Misfit`.
 */
export function copyResult(value: unknown): unknown {
  const copied = copyJson(value, "result");
  if (copied instanceof Misfit || roomLeft(copied, LARGEST_RESULT) >= 0) return copied;
  const bytes = new TextEncoder().encode(JSON.stringify(copied)).length;
  return bytes <= LARGEST_RESULT ? copied : new Misfit(resultTooLarge(bytes));
}

/** The sentence for a result of this many bytes. */
export function resultTooLarge(bytes: number): string {
  return `The result cannot be stored: it has ${bytes} bytes as JSON, and at most ${LARGEST_RESULT} ` +
    "are kept; store it elsewhere and return its address";
}

/** What is left of some bytes beside a JSON value. Below 0: it may be more. */
function roomLeft(value: unknown, room: number): number {
  if (typeof value === "string") return room - CHARACTER_BYTES * value.length - SMALL_BYTES;
  if (typeof value !== "object" || value === null) return room - SMALL_BYTES;
  let left = room - SMALL_BYTES;
  for (const key in value) { // of a copy: nothing is inherited
    if (left < 0) return left;
    left = roomLeft((value as Record<string, unknown>)[key], roomLeft(key, left));
  }
  return left;
}

/** True for what needs no copy. */
function isPlain(value: unknown): boolean {
  switch (typeof value) {
    case "string":
    case "boolean":
    case "undefined":
      return true;
    case "number":
      return Number.isFinite(value);
    default:
      return value === null;
  }
}

function copy(value: unknown, pointer: string, depth: number): unknown {
  if (isPlain(value)) return value;
  if (typeof value === "number") {
    throw new Unstorable(pointer, `${value}`, "use a finite number or null");
  }
  if (typeof value !== "object" || value === null) {
    throw new Unstorable(pointer, `a ${typeof value}`, "use a JSON value");
  }
  if (depth === DEEPEST) {
    const what = `nested deeper than ${DEEPEST}`;
    throw new Unstorable(pointer.slice(0, 40), what, "is there a cycle?");
  }
  if (Array.isArray(value)) {
    return Array.from(value, (item, index) => copy(item ?? null, `${pointer}/${index}`, depth + 1));
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    const what = `an object of class ${prototype.constructor?.name ?? "unknown"}`;
    throw new Unstorable(pointer, what, "use plain JSON, such as a string for a date");
  }
  const copied: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key]; // its own key
    if (member === undefined) continue;
    const kept = isPlain(member) ? member : copy(member, `${pointer}/${key}`, depth + 1);
    if (key === "__proto__") Object.defineProperty(copied, key, { value: kept, enumerable: true });
    else copied[key] = kept;
  }
  return copied;
}
