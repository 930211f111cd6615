/**
 * The context that factories are tried in while a config is checked.
 *
 * @module
 */

import type { PluginContext } from "../contract/plugin.ts";
import { randomStream } from "../base/random.ts";
import { isRecord } from "./faults.ts";

/**
 * A context of the pool that `raw` describes, as far as it is right. `undefined`: its lanes or its
 * greatest size are not, and a factory would only repeat that.
 */
export function probeOf(
  pool: string,
  raw: Readonly<Record<string, unknown>>,
): PluginContext | undefined {
  const lanes = lanesOf(raw.lanes);
  const size = sizeOf(raw.size);
  if (lanes === undefined || size === undefined) return undefined;
  const ignore = (): void => {};
  const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
  return { pool, lanes, size, random: randomStream(0, pool), log };
}

function lanesOf(raw: unknown): readonly string[] | undefined {
  if (!Array.isArray(raw) || raw.length === 0) return undefined;
  const names = new Set<string>();
  for (const [index, lane] of raw.entries()) {
    const name: unknown = isRecord(lane) ? lane.name : undefined;
    if (typeof name !== "string") return undefined;
    names.add(name === "" ? `lane ${index}` : name); // an empty name is reported, and hides no other fault
  }
  return [...names];
}

/** A wrong `min` hides no fault of a strategy: it is corrected for the trial. */
function sizeOf(raw: unknown): { readonly min: number; readonly max: number } | undefined {
  if (!isRecord(raw) || !isCount(raw.max) || raw.max === 0) return undefined;
  return { min: isCount(raw.min) ? Math.min(raw.min, raw.max) : 0, max: raw.max };
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0;
}
