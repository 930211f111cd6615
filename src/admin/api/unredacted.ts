/**
 * Puts a payload together that someone has edited as it was shown: what they left hidden is as it was.
 *
 * @module
 */

import { isRecord, toPointer } from "../../config/faults.ts";
import type { ProblemError } from "../http/wire.ts";

/** Takes the place of what may not be shown. */
const HIDDEN = "[redacted]";

/** Deepest level that is looked at: a payload has no more, and a deeper one is refused. */
const DEEPEST = 100;

/** A payload as it is, and as it was shown. */
export interface ShownPayload {
  /** As it is. */
  readonly original: unknown;
  /** As it was shown. */
  readonly shown: unknown;
}

/**
 * What was given, with all that is still as it was shown replaced by what it is. In a list that holds for
 * whole items at their old place: else one would get what was hidden in another.
 *
 * @param faults Gets one entry for each hidden value whose original is not known.
 */
export function unredacted(
  given: unknown,
  { original, shown }: ShownPayload,
  faults: ProblemError[],
  path: readonly (string | number)[] = [],
): unknown {
  if (typeof given === "string") {
    if (given === shown) return original;
    if (!given.includes(HIDDEN)) return given;
    const detail =
      `Expected a value in place of ${HIDDEN}: only a field of the job may be left as it is`;
    faults.push({ pointer: toPointer(["payload", ...path]), detail });
    return given;
  }
  if (typeof given !== "object" || given === null || path.length >= DEEPEST) return given;
  if (Array.isArray(given)) {
    return given.map((item, index) => {
      const before = { original: at(original, index), shown: at(shown, index) };
      const isSame = JSON.stringify(item) === JSON.stringify(before.shown);
      const known = isSame ? before : { original: undefined, shown: undefined };
      return unredacted(item, known, faults, [...path, index]);
    });
  }
  return Object.fromEntries(
    Object.entries(given).map(([key, item]) => {
      const before = { original: of(original, key), shown: of(shown, key) };
      return [key, unredacted(item, before, faults, [...path, key])];
    }),
  );
}

function at(value: unknown, index: number): unknown {
  return Array.isArray(value) ? value[index] : undefined;
}

function of(value: unknown, key: string): unknown {
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}
