import assert from "node:assert/strict";
import { intervalTimes, timesOf } from "../../src/base/interval.ts";

Deno.test("intervalTimes() comes at multiples of the interval, whoever asks and when", () => {
  const { next, between } = intervalTimes(1500);

  assert.deepEqual([0, 1, 1499, 1500, 1501].map(next), [1500, 1500, 1500, 3000, 3000]);
  assert.deepEqual(between(0, 6000, 100), [1500, 3000, 4500, 6000]);
  assert.deepEqual(between(1500, 5999, 100), [3000, 4500]);
  assert.deepEqual(between(0, 1_500_000_000, 2), [1_499_998_500, 1_500_000_000]);
  assert.deepEqual(between(6000, 6000, 5), []);
  assert.deepEqual(between(9000, 6000, 5), []);
});

Deno.test("timesOf() takes a cron text, else an interval", () => {
  const HOUR = 3_600_000;
  assert.equal(
    timesOf({ cron: "30 * * * *", timezone: "UTC", everyMs: undefined }).next(0),
    HOUR / 2,
  );
  assert.equal(timesOf({ cron: undefined, timezone: "UTC", everyMs: HOUR }).next(0), HOUR);
});
