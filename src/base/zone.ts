/**
 * How far the clocks of a time zone are ahead of UTC, and when they are set.
 *
 * @module
 */

/** Between two looks for a change, ms: no zone sets its clocks twice within it. */
const LOOK_MS = 86_400_000;

/** A time zone. */
export interface Zone {
  /** What its clocks show more than UTC at that time, ms. */
  offsetMs(atMs: number): number;
  /** The first time after `fromMs`, up to `toMs`, at which its clocks are set. `undefined`: they go on. */
  changeIn(fromMs: number, toMs: number): number | undefined;
}

/** The zone of that name. @throws {RangeError} If there is none. */
export function readZone(timezone: string): Zone {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: timezone,
    timeZoneName: "longOffset",
  });
  return { offsetMs, changeIn };

  function offsetMs(atMs: number): number {
    // "1/1/2026, GMT+05:30", or "GMT" alone
    const [, sign, hours = 0, minutes = 0, seconds = 0] =
      /GMT(?:([+-])(\d+):(\d+)(?::(\d+))?)?/.exec(format.format(atMs)) ?? [];
    const ms = 1000 * (Number(seconds) + 60 * (Number(minutes) + 60 * Number(hours)));
    return sign === "-" ? -ms : ms;
  }

  function changeIn(fromMs: number, toMs: number): number | undefined {
    const before = offsetMs(fromMs);
    for (let low = fromMs; low < toMs;) {
      let high = Math.min(toMs, low + LOOK_MS);
      if (offsetMs(high) === before) {
        low = high;
        continue;
      }
      while (high - low > 1) {
        const middle = Math.floor((low + high) / 2);
        if (offsetMs(middle) === before) low = middle;
        else high = middle;
      }
      return high;
    }
    return undefined;
  }
}
