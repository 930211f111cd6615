/**
 * When a schedule comes, by a cron text: the only door to croner.
 *
 * @module
 */

import { Cron } from "croner";

/** The times of one schedule. */
export interface CronTimes {
  /** The first time after `afterMs`, ms since epoch. `undefined`: it never comes again. */
  next(afterMs: number): number | undefined;
  /** The latest times up to `atMs` and after `afterMs`, oldest first, `most` at most. */
  between(afterMs: number, atMs: number, most: number): readonly number[];
}

/** Looks for times that the latest ones before some time surely are among, ms: doubles until they are. */
const FIRST_LOOK_MS = 60_000;

/**
 * Reads a cron text of five parts, or of six with seconds first.
 *
 * A time that does not exist, since clocks go forward, comes at the moment they do. One that occurs
 * twice, since they go back, comes once, the first time; a part with `*` or a step goes on through both.
 *
 * @throws {SyntaxError} If it cannot be read.
 */
export function readCron(text: string, timezone: string): CronTimes {
  const cron = parse(text, timezone);
  const next = (afterMs: number): number | undefined => cron.nextRun(new Date(afterMs))?.getTime();
  return { next, between };

  function between(afterMs: number, atMs: number, most: number): readonly number[] {
    // From near to far: what lies long ago is not gone through time by time.
    for (let lookMs = FIRST_LOOK_MS;; lookMs *= 2) {
      const fromMs = Math.max(afterMs, atMs - lookMs);
      const times: number[] = [];
      for (let time = next(fromMs); time !== undefined && time <= atMs; time = next(time)) {
        times.push(time);
        if (times.length > 2 * most) times.shift();
      }
      if (times.length >= most || fromMs === afterMs) return times.slice(-most);
    }
  }
}

/** True if there is such a time zone. */
export function isTimezone(timezone: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: timezone });
    return true;
  } catch {
    return false;
  }
}

function parse(text: string, timezone: string): Cron {
  const parts = text.trim().split(/\s+/).length;
  if (!text.startsWith("@") && parts !== 5 && parts !== 6) {
    throw new SyntaxError(`Expected 5 parts, or 6 with seconds first, but received ${parts}`);
  }
  try {
    return new Cron(text, { timezone, paused: true });
  } catch (cause) {
    const message = cause instanceof Error ? cause.message.replace(/^CronPattern: /, "") : "";
    throw new SyntaxError(message, { cause });
  }
}
