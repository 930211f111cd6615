/**
 * What the store keeps of a schedule: one record, which all processes go by.
 *
 * @module
 */

import type { ScheduleSettings } from "../config/settings.ts";
import type { StateEntry } from "../contract/store.ts";

/** What the store knows of a schedule. */
export interface Mark {
  /** Its latest time that was dealt with, ms since epoch. */
  readonly atMs: number;
  /** Id of its latest job. Left out: it made none, or its process ended before it said which. */
  readonly job?: string | undefined;
  /** True: its times pass without a job. */
  readonly paused?: true | undefined;
  /** Its latest time that had no job since the one before had not ended, ms since epoch. */
  readonly skippedAtMs?: number | undefined;
}

/** What is known of a schedule. `undefined`: nothing, or it was damaged in the store. */
export function markIn(entry: StateEntry | undefined): Mark | undefined {
  const mark = entry?.value as Partial<Mark> | null | undefined; // only schedules write the key
  if (typeof mark?.atMs !== "number") return undefined;
  const { atMs, job, paused, skippedAtMs } = mark;
  return {
    atMs,
    ...(typeof job === "string" ? { job } : {}),
    ...(paused === true ? { paused } : {}),
    ...(typeof skippedAtMs === "number" ? { skippedAtMs } : {}),
  };
}

/** Tells schedules of one pool apart: the same in all processes, and after a restart. */
export function scheduleId(
  { lane, type, cron, everyMs, timezone, payload }: ScheduleSettings,
): string {
  return hash(JSON.stringify([lane, type, cron ?? everyMs, timezone, payload]));
}

/** A short key. FNV-1a, 64 bits; Fowler, Noll and Vo. */
function hash(text: string): string {
  let value = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) {
    value = BigInt.asUintN(64, (value ^ BigInt(byte)) * 0x100000001b3n);
  }
  return value.toString(36);
}
