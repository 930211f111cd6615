/**
 * When a schedule comes: by a cron text, or by an interval.
 *
 * @module
 */

import { type CronTimes, readCron } from "./cron.ts";

/** When a schedule comes. */
export interface Timing {
  /** A cron text. `undefined`: it has an interval. */
  readonly cron: string | undefined;
  /** Time zone of the cron text. */
  readonly timezone: string;
  /** The interval, ms. `undefined`: it has a cron text. */
  readonly everyMs: number | undefined;
}

/** The times of a schedule, which has one of the two. */
export function timesOf({ cron, timezone, everyMs = NaN }: Timing): CronTimes {
  return cron === undefined ? intervalTimes(everyMs) : readCron(cron, timezone);
}

/**
 * Every `everyMs`, counted from the beginning of 1970 in UTC: the same times in all processes, and after
 * a restart.
 */
export function intervalTimes(everyMs: number): CronTimes {
  return {
    next: (afterMs) => (Math.floor(afterMs / everyMs) + 1) * everyMs,
    between: (afterMs, atMs, most) => {
      const last = Math.floor(atMs / everyMs);
      const count = Math.min(most, Math.max(0, last - Math.floor(afterMs / everyMs)));
      return Array.from({ length: count }, (_, place) => (last - count + 1 + place) * everyMs);
    },
  };
}
