import assert from "node:assert/strict";
import { isTimezone, readCron } from "../../src/base/cron.ts";

/** The times after one, as text. */
function timesOf(text: string, timezone: string, after: string, count: number): readonly string[] {
  const times: string[] = [];
  let atMs: number | undefined = Date.parse(after);
  while (times.length < count && atMs !== undefined) {
    atMs = readCron(text, timezone).next(atMs);
    if (atMs !== undefined) times.push(new Date(atMs).toISOString().slice(5, 16));
  }
  return times;
}

Deno.test("readCron() reads five parts, or six with seconds first", () => {
  assert.deepEqual(timesOf("0 4 * * 1", "UTC", "2026-01-01T00:00Z", 2), [
    "01-05T04:00",
    "01-12T04:00",
  ]);
  assert.equal(readCron("*/10 * * * * *", "UTC").next(1000), 10_000);
  assert.equal(readCron("0 0 30 2 *", "UTC").next(0), undefined);
});

Deno.test("readCron() gives a time that clocks skip at the moment they go forward", () => {
  const times = timesOf("30 2 * * *", "Europe/Berlin", "2026-03-28T00:00Z", 3);

  assert.deepEqual(times, ["03-28T01:30", "03-29T01:00", "03-30T00:30"]); // 2:30, 3:00, 2:30 there
});

Deno.test("readCron() gives a time that occurs twice once, and steps through both hours", () => {
  assert.deepEqual(timesOf("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00Z", 2), [
    "10-25T00:30",
    "10-26T01:30",
  ]);
  assert.deepEqual(timesOf("*/30 * * * *", "Europe/Berlin", "2026-10-24T23:45Z", 5), [
    "10-25T00:00",
    "10-25T00:30",
    "10-25T01:00",
    "10-25T01:30",
    "10-25T02:00",
  ]);
});

Deno.test("readCron() says what is wrong with a text", () => {
  const faults: readonly [string, RegExp][] = [
    ["* * *", /^Expected 5 parts, or 6 with seconds first, but received 3$/],
    ["* * * * * * *", /but received 7$/],
    ["61 * * * *", /^Invalid value for minute: 61$/],
    ["a b c d e", /contains illegal characters/],
    ["@never", /^Expected|@never|illegal|invalid/i],
  ];
  for (const [text, message] of faults) {
    assert.throws(() => readCron(text, "UTC"), (thrown: unknown) => {
      assert.ok(thrown instanceof SyntaxError);
      assert.match(thrown.message, message);
      return true;
    });
  }
});

Deno.test("between() gives the latest times of a span, however long that is", () => {
  const year = Date.UTC(2026, 0, 1);
  const seconds = readCron("* * * * * *", "UTC");

  assert.deepEqual(seconds.between(year, year + 3000, 100), [1, 2, 3].map((s) => year + 1000 * s));
  assert.deepEqual(seconds.between(0, year, 2), [year - 1000, year]);
  const yearly = readCron("0 0 1 1 *", "UTC");
  assert.deepEqual(yearly.between(Date.UTC(2024, 5, 1), Date.UTC(2026, 5, 1), 100), [
    Date.UTC(2025, 0, 1),
    year,
  ]);
  assert.deepEqual(yearly.between(year, year + 1, 1), []);
});

Deno.test("isTimezone() knows the names of the time zone database", () => {
  assert.deepEqual(["UTC", "Europe/Berlin", "Mars/Base", ""].map(isTimezone), [
    true,
    true,
    false,
    false,
  ]);
});
