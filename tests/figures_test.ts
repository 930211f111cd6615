import assert from "node:assert/strict";
import { agreeing, counted, duration, rate, thousandths } from "../src/figures.ts";

Deno.test("duration() has the unit that suits", () => {
  assert.deepEqual([0, 999, 1_000, 59_900, 60_000, 3_600_000, 9_000_000].map(duration), [
    "0 ms",
    "999 ms",
    "1.0 s",
    "59.9 s",
    "1.0 min",
    "1.0 h",
    "2.5 h",
  ]);
});

Deno.test("rate() has a digit after the point below ten", () => {
  assert.deepEqual([0, 0.04, 9.94, 10, 812.4].map(rate), ["0.0", "0.0", "9.9", "10", "812"]);
});

Deno.test("thousandths() keeps three digits after the point", () => {
  assert.deepEqual([1.23456, 20.0004].map(thousandths), [1.235, 20]);
});

Deno.test("counted() and agreeing() have one of a thing, and several or none of it", () => {
  const say = (count: number | string): string =>
    `${counted(count, "job")}/s ${agreeing(count, "is", "are")}`;

  assert.deepEqual([0, 1, 2, "1", "0.5", "1.0", "1,000"].map(say), [
    "0 jobs/s are",
    "1 job/s is",
    "2 jobs/s are",
    "1 job/s is",
    "0.5 jobs/s are",
    "1.0 jobs/s are",
    "1,000 jobs/s are",
  ]);
});
