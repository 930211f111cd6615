import assert from "node:assert/strict";
import { readCron } from "../../src/base/cron.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A text, with the minutes, hours and days that it names: read here by hand, not by what is tested. */
interface Pattern {
  readonly text: string;
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly isOn?: (shown: Date) => boolean;
  /** Goes on through an hour that occurs twice. */
  readonly runs?: boolean;
  /** Names each hour there is. */
  readonly hourly?: boolean;
}

const ALL_HOURS = Array.from({ length: 24 }, (_, hour) => hour);
const EACH_15 = [0, 15, 30, 45];

const PATTERNS: readonly Pattern[] = [
  { text: "0,30 2 * * *", minutes: [0, 30], hours: [2] },
  { text: "30 2,14 * * *", minutes: [30], hours: [2, 14] },
  { text: "0 0,12 * * *", minutes: [0], hours: [0, 12] },
  { text: "0,30 0 * * *", minutes: [0, 30], hours: [0] },
  { text: "30 23 * * *", minutes: [30], hours: [23] },
  { text: "15 0-4 * * *", minutes: [15], hours: [0, 1, 2, 3, 4] },
  { text: "10-12 1-2,23 * * *", minutes: [10, 11, 12], hours: [1, 2, 23] },
  { text: "@daily", minutes: [0], hours: [0] },
  { text: "5 1,2,3 * * 0", minutes: [5], hours: [1, 2, 3], isOn: (day) => day.getUTCDay() === 0 },
  { text: "0 0 1 * *", minutes: [0], hours: [0], isOn: (day) => day.getUTCDate() === 1 },
  { text: "*/15 2 * * *", minutes: EACH_15, hours: [2], runs: true },
  { text: "0-30/15 0-2 * * *", minutes: [0, 15, 30], hours: [0, 1, 2], runs: true },
  { text: "30 */2 * * *", minutes: [30], hours: ALL_HOURS.filter((h) => h % 2 === 0), runs: true },
  { text: "*/15 * * * *", minutes: EACH_15, hours: ALL_HOURS, runs: true, hourly: true },
  { text: "30 * * * *", minutes: [30], hours: ALL_HOURS, runs: true, hourly: true },
  { text: "@hourly", minutes: [0], hours: ALL_HOURS, runs: true, hourly: true },
];

/** A moment at which clocks are set. */
interface Change {
  readonly timezone: string;
  readonly atMs: number;
  readonly beforeMs: number;
  readonly afterMs: number;
}

/** What the clocks of a zone show, as if it were UTC. */
function shower(timezone: string): (atMs: number) => number {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: timezone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
  });
  return (atMs) => {
    const [month, day, year, hour, minute] = format.format(atMs).match(/\d+/g)!.map(Number);
    return Date.UTC(year!, month! - 1, day, hour, minute);
  };
}

function* changesOf(timezone: string): Generator<Change> {
  const shown = shower(timezone);
  const to = Date.UTC(2027, 11, 31);
  let atMs = Date.UTC(2025, 0, 1);
  for (let offset = shown(atMs) - atMs; atMs < to; atMs += DAY) {
    if (shown(atMs + DAY) - (atMs + DAY) === offset) continue;
    let first = atMs;
    while (shown(first) - first === offset) first += MINUTE;
    const afterMs = shown(first) - first;
    yield { timezone, atMs: first, beforeMs: offset, afterMs };
    offset = afterMs;
  }
}

/** What docs/schedules.md says, minute by minute, from half a day before a change to half a day after it. */
function promised(pattern: Pattern, change: Change): readonly number[] {
  const shown = (atMs: number): number =>
    atMs + (atMs < change.atMs ? change.beforeMs : change.afterMs);
  const names = (shownMs: number): boolean => {
    const time = new Date(shownMs);
    return pattern.minutes.includes(time.getUTCMinutes()) &&
      pattern.hours.includes(time.getUTCHours()) && (pattern.isOn?.(time) ?? true);
  };
  const times: number[] = [];
  const seen = new Set<number>();
  for (let atMs = change.atMs - 13 * HOUR; atMs <= change.atMs + 14 * HOUR; atMs += MINUTE) {
    const shownMs = shown(atMs);
    const isAgain = seen.has(shownMs);
    seen.add(shownMs);
    let comes = names(shownMs) && (pattern.runs === true || !isAgain);
    if (atMs === change.atMs && pattern.hourly !== true) {
      for (let skipped = atMs + change.beforeMs; skipped < shownMs; skipped += MINUTE) {
        comes ||= names(skipped);
      }
    }
    if (comes) times.push(atMs);
  }
  return times;
}

/** The changes of all zones. Those at one time of one day of the week that are alike come once. */
function changes(): readonly Change[] {
  const known = new Map<string, Change>();
  for (const timezone of Intl.supportedValuesOf("timeZone")) {
    for (const change of changesOf(timezone)) {
      const shown = new Date(change.atMs + change.beforeMs);
      const text = [shown.getUTCDay(), shown.getUTCDate() === 1, kindOf(change)].join();
      if (!known.has(text)) known.set(text, change);
    }
  }
  return [...known.values()];
}

/** Same for changes at the same time of the day, from the same offset to the same. */
function kindOf({ atMs, beforeMs, afterMs }: Change): string {
  return [(atMs + beforeMs) % DAY, beforeMs, afterMs].join();
}

const CHANGES = changes();

Deno.test("readCron() gives what the page says around each change of each time zone, missed or not", () => {
  assert.ok(CHANGES.length > 20, String(CHANGES.length));
  const seen = new Set<string>();
  for (const change of CHANGES) {
    const isNew = !seen.has(kindOf(change));
    seen.add(kindOf(change));
    const toMs = change.atMs + 14 * HOUR;
    // One of a kind is enough, but for what goes by the day.
    for (const pattern of PATTERNS.filter(({ isOn }) => isNew || isOn !== undefined)) {
      const { next, between } = readCron(pattern.text, change.timezone);
      const all = promised(pattern, change);
      const times: number[] = [];
      for (let at = next(change.atMs - 12 * HOUR); at !== undefined && at <= toMs; at = next(at)) {
        times.push(at);
      }

      const where = `${pattern.text} in ${change.timezone} around ${iso(change.atMs)}`;
      assert.deepEqual(times, all.filter((at) => at > change.atMs - 12 * HOUR), where);
      for (const minutes of pattern.runs ? [0] : [-1, 29]) {
        const fromMs = change.atMs + minutes * MINUTE;
        const missed = all.filter((at) => at > fromMs);
        assert.deepEqual(between(fromMs, toMs, 60), missed, `${where} from ${minutes} min`);
      }
    }
  }
});

function iso(atMs: number): string {
  return new Date(atMs).toISOString();
}
