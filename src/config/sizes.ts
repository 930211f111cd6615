/**
 * The bounds of a pool by time: what is there, checked.
 *
 * @module
 */

import { type Checked, checkShape } from "./check.ts";
import { isRecord } from "./faults.ts";
import { checkCron } from "./schedules.ts";
import type { SizeSettings } from "./settings.ts";
import { sizeShape } from "./shape.ts";

/** Checks bounds by time, which lie within `size`. Those with faults are left out. */
export function checkSizes(raw: unknown, size: unknown, place: Checked): readonly SizeSettings[] {
  const { path, faults } = place;
  const most = isRecord(size) && typeof size.max === "number" ? size.max : Infinity;
  return (Array.isArray(raw) ? raw : []).flatMap((given: unknown, index) => {
    const here = { faults, path: [...path, index] };
    const shape = checkShape(sizeShape, given, here);
    if (isRecord(given)) checkCron(given, here);
    if (shape === undefined) return [];
    const { min, max } = shape;
    if (min > max) {
      faults.add([...here.path, "min"], `Expected at most max (${max}) but received ${min}`);
    }
    if (max > most) {
      faults.add([...here.path, "max"], `Expected at most size.max (${most}) but received ${max}`);
    }
    return [shape];
  });
}
