/**
 * When a schedule comes, by a cron text: the only door to croner.
 *
 * @module
 */

import { Cron } from "croner";
import { readZone } from "./zone.ts";

/** The times of one schedule. */
export interface CronTimes {
  /** The first time after `afterMs`, ms since epoch. `undefined`: it never comes again. */
  next(afterMs: number): number | undefined;
  /** The latest times up to `atMs` and after `afterMs`, oldest first, `most` at most. */
  between(afterMs: number, atMs: number, most: number): readonly number[];
}

/** Looks for times that the latest ones before some time surely are among, ms: doubles until they are. */
const FIRST_LOOK_MS = 60_000;

/** Clocks that were set back show no time again after so long, ms. */
const TWICE_WITHIN_MS = 86_400_000;

/**
 * Reads a cron text of five parts, or of six with seconds first.
 *
 * A time that does not exist, since clocks go forward, comes at the moment they do, unless the text
 * names each hour there is with `*`. One that occurs twice, since they go back, comes once, the first
 * time; a text with `*` or a step in its seconds, minutes or hours goes on through both.
 *
 * @throws {SyntaxError} If it cannot be read.
 */
export function readCron(text: string, timezone: string): CronTimes {
  const { cron, isHourly, isRunning } = parse(text);
  const zone = readZone(timezone);
  return { next, between };

  // The text is matched against what the clocks show, as if that were UTC: croner knows no changes then.
  function shownAfter(shownMs: number): number | undefined {
    return cron.nextRun(new Date(shownMs))?.getTime();
  }

  function next(afterMs: number): number | undefined {
    let fromMs = afterMs;
    let shownMs = lastShown(afterMs);
    for (;;) {
      const offsetMs = zone.offsetMs(fromMs);
      const matchMs = shownAfter(shownMs);
      if (matchMs === undefined) return undefined;
      const changeMs = zone.changeIn(fromMs, matchMs - offsetMs);
      if (changeMs === undefined) return matchMs - offsetMs;
      const before = changeMs + offsetMs; // what clocks would show had they not been set
      const after = changeMs + zone.offsetMs(changeMs);
      if (!isHourly && before <= matchMs && matchMs < after) return changeMs;
      fromMs = changeMs;
      shownMs = (isRunning ? after : Math.max(before, after)) - 1;
    }
  }

  /** The latest time that clocks have shown: those that were set back show some again. */
  function lastShown(atMs: number): number {
    const shownMs = atMs + zone.offsetMs(atMs);
    if (isRunning) return shownMs;
    const fromMs = atMs - TWICE_WITHIN_MS;
    const changeMs = zone.changeIn(fromMs, atMs);
    return changeMs === undefined
      ? shownMs
      : Math.max(shownMs, changeMs + zone.offsetMs(fromMs) - 1);
  }

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

/** A cron text, read. */
interface Parsed {
  /** Its times, in UTC. */
  readonly cron: Cron;
  /** True if it names each hour: none is missed when clocks skip one. */
  readonly isHourly: boolean;
  /** True if it goes on with each round of the clock, rather than at times of its own. */
  readonly isRunning: boolean;
}

function parse(text: string): Parsed {
  const parts = text.trim().toLowerCase().split(/\s+/);
  const isName = text.startsWith("@");
  if (!isName && parts.length !== 5 && parts.length !== 6) {
    throw new SyntaxError(
      `Expected 5 parts, or 6 with seconds first, but received ${parts.length}`,
    );
  }
  try {
    const cron = new Cron(text, { timezone: "UTC", paused: true });
    const ofDay = isName ? [] : parts.slice(0, -3); // seconds, minutes, hours
    const isHourly = parts[0] === "@hourly" || ofDay.at(-1) === "*";
    return { cron, isHourly, isRunning: isHourly || ofDay.some((part) => /[*/]/.test(part)) };
  } catch (cause) {
    const message = cause instanceof Error ? cause.message.replace(/^CronPattern: /, "") : "";
    throw new SyntaxError(message, { cause });
  }
}
