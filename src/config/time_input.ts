/**
 * What of a config goes by the time of day.
 *
 * @module
 */

/** Jobs that come by themselves. */
export interface ScheduleInput {
  /** Lane that the job goes to. */
  readonly lane: string;
  /** Handler of the job. Needed where the pool has `handlers`. */
  readonly type?: string | undefined;
  /** When: five parts (minute, hour, day, month, weekday), or six with seconds first. Either this or `everyMs`. */
  readonly cron?: string | undefined;
  /**
   * Interval, ms, 1,000 to a year; from 1970 on in UTC, so 900000 is each quarter of an hour. Either this or
   * `cron`.
   */
  readonly everyMs?: number | undefined;
  /** Time zone of `cron`, such as Europe/Berlin. @default {"UTC"} */
  readonly timezone?: string | undefined;
  /** Longest wait from its time until the job is due, drawn by chance, ms, 0 to a day. @default {0} */
  readonly jitterMs?: number | undefined;
  /** False: no job at a time at which its latest job has not ended. @default {true} */
  readonly overlap?: boolean | undefined;
  /** What to work on, JSON. @default {null} */
  readonly payload?: unknown;
  /**
   * Which times that were missed while no process ran are caught up: none, the last one, or all.
   *
   * @default {"none"}
   */
  readonly catchUp?: "none" | "last" | "all" | undefined;
}

/**
 * Bounds of the worker count from some times on, until those of another begin.
 *
 * @internal
 */
export interface SizeInput {
  /** From when on: five parts (minute, hour, day, month, weekday), or six with seconds first. */
  readonly cron: string;
  /** Time zone of `cron`, such as Europe/Berlin. @default {"UTC"} */
  readonly timezone?: string | undefined;
  /** Fewest workers in each process. A whole number >= 0. */
  readonly min: number;
  /** Most workers in each process. A whole number >= 0, at most `size.max`. */
  readonly max: number;
}
