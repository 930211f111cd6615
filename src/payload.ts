/**
 * What may be a payload: any JSON value, so that every store keeps the same.
 *
 * @module
 */

/** Deepest nesting of a payload. */
const DEEPEST = 100;

/**
 * Checks that a value is JSON and would come back from any store as it is.
 *
 * @returns What is wrong and where. `undefined`: it can be stored.
 */
export function faultOfPayload(value: unknown): string | undefined {
  const type = typeof value;
  if (type === "string" || type === "boolean" || value === null || value === undefined) {
    return undefined;
  }
  if (type === "number" && Number.isFinite(value)) return undefined;
  return walk(value, "", 0);
}

function walk(value: unknown, pointer: string, depth: number): string | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
    case "undefined":
      return undefined;
    case "number":
      return Number.isFinite(value)
        ? undefined
        : fault(pointer, `${value}`, "give a finite number or null");
    case "object":
      return value === null ? undefined : walkObject(value, pointer, depth);
    default:
      return fault(pointer, `a ${typeof value}`, "give a JSON value");
  }
}

function walkObject(value: object, pointer: string, depth: number): string | undefined {
  if (depth === DEEPEST) {
    return fault(pointer.slice(0, 40), `nested deeper than ${DEEPEST}`, "is there a cycle?");
  }
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const found = walk(value[index], `${pointer}/${index}`, depth + 1);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    const name = prototype.constructor?.name ?? "an unknown class";
    return fault(
      pointer,
      `an object of class ${name}`,
      "give plain JSON, such as a string for a date",
    );
  }
  for (const [key, member] of Object.entries(value)) {
    if (isPlain(member)) continue;
    const found = walk(member, `${pointer}/${key}`, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isPlain(value: unknown): boolean {
  return typeof value === "string" || typeof value === "boolean" || value === null ||
    value === undefined || (typeof value === "number" && Number.isFinite(value));
}

function fault(pointer: string, what: string, advice: string): string {
  const place = pointer === "" ? "The payload" : `The payload at ${pointer}`;
  return `${place} cannot be stored: it is ${what}; ${advice}`;
}
