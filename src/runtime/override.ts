/**
 * Checks of the bounds that a user holds for a while.
 *
 * @module
 */

import { display } from "../config/faults.ts";
import type { Override } from "./handles.ts";

/** Longest override, ms: what holds for longer belongs into the config. */
const LONGEST_MS = 7 * 86_400_000;

/** A field that an override takes. */
type Field = keyof Override | "expiresInMs";

/** An override does not fit. */
export class OverrideError extends RangeError {
  /** The field at fault. `undefined`: none is, one is missing. */
  readonly field: Field | undefined;

  /** Says what does not fit. */
  constructor(message: string, field?: Field) {
    super(message);
    this.field = field;
  }
}

/**
 * Checks an override against the config's bounds.
 *
 * @throws {OverrideError} If a number is not whole, out of order or out of `size`.
 */
export function checkOverride(
  bounds: Override,
  expiresInMs: number,
  size: { readonly min: number; readonly max: number },
): void {
  if (typeof bounds !== "object" || bounds === null) {
    throw new OverrideError(
      `Expected an override with min, max or target but received ${display(bounds)}`,
    );
  }
  const { min, max, target } = bounds;
  if (min === undefined && max === undefined && target === undefined) {
    throw new OverrideError("Expected an override with min, max or target but received none");
  }
  if (!(typeof expiresInMs === "number" && expiresInMs > 0 && expiresInMs <= LONGEST_MS)) {
    throw new OverrideError(
      `Expected expiresInMs > 0 and at most ${LONGEST_MS} (7 days) but received ${
        display(expiresInMs)
      }: change the config for longer`,
      "expiresInMs",
    );
  }
  const most = max ?? size.max;
  const least = min ?? Math.min(size.min, most);
  check("max", max, 0, size.max, "size.max");
  check("min", min, 0, most, "max");
  check("target", target, least, most, "max");
}

function check(
  name: keyof Override,
  value: number | undefined,
  least: number,
  most: number,
  mostName: string,
): void {
  if (value === undefined) return;
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw new OverrideError(
    `Expected override ${name} to be a whole number from ${least} to ${mostName} (${most}) but received ${
      display(value)
    }`,
    name,
  );
}
