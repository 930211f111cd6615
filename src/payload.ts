/**
 * What may be a payload or a result: any JSON value, so that every store keeps the same.
 *
 * @module
 */

/** Deepest nesting. */
const DEEPEST = 100;

/** Why a value cannot be used: stands in the value's place. */
export class Misfit {
  /** What is wrong, where, and what to do. */
  readonly fault: string;

  /** Says why. */
  constructor(fault: string) {
    this.fault = fault;
  }
}

/** A value that cannot be stored. Thrown within this file only. */
class Unstorable {
  constructor(readonly pointer: string, readonly what: string, readonly advice: string) {}
}

/**
 * Copies a JSON value: later changes of the original, or of a copy, touch no other.
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
      return new Misfit(`The ${name} cannot be stored: it cannot be read; give plain JSON`);
    }
    const place = thrown.pointer === "" ? `The ${name}` : `The ${name} at ${thrown.pointer}`;
    return new Misfit(`${place} cannot be stored: it is ${thrown.what}; ${thrown.advice}`);
  }
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
    throw new Unstorable(pointer, `${value}`, "give a finite number or null");
  }
  if (typeof value !== "object" || value === null) {
    throw new Unstorable(pointer, `a ${typeof value}`, "give a JSON value");
  }
  if (depth === DEEPEST) {
    const what = `nested deeper than ${DEEPEST}`;
    throw new Unstorable(pointer.slice(0, 40), what, "is there a cycle?");
  }
  if (Array.isArray(value)) {
    return Array.from(value, (item, index) => copy(item, `${pointer}/${index}`, depth + 1));
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    const what = `an object of class ${prototype.constructor?.name ?? "unknown"}`;
    throw new Unstorable(pointer, what, "give plain JSON, such as a string for a date");
  }
  const copied: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key]; // its own key
    const kept = isPlain(member) ? member : copy(member, `${pointer}/${key}`, depth + 1);
    if (key === "__proto__") Object.defineProperty(copied, key, { value: kept, enumerable: true });
    else copied[key] = kept;
  }
  return copied;
}
