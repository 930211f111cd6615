import assert from "node:assert/strict";
import { agreeing, counted, duration, grouped, rate, thousandths } from "../../src/base/format.ts";

Deno.test("duration() has the units that suit, two of them from a minute on", () => {
  const shown: readonly (readonly [number, string])[] = [
    [0, "0 ms"],
    [0.34, "0.3 ms"],
    [9.96, "10 ms"],
    [999, "999 ms"],
    [999.9, "1 s"], // not 1000 ms
    [1_540, "1.5 s"],
    [59_900, "59.9 s"],
    [59_960, "1 min"], // not 60.0 s
    [115_168.8, "1 min 55 s"],
    [3_599_700, "1 h"],
    [7_500_000, "2 h 5 min"],
    [86_399_999, "1 d"],
    [273_600_000, "3 d 4 h"],
    [1e12, "11,574 d 2 h"],
  ];
  for (const [ms, text] of shown) assert.equal(duration(ms), text);
});

Deno.test("grouped() puts digits in groups of three, whatever comes after the point", () => {
  assert.deepEqual([0, 999, 1_000, 12_345, 1_234_567, 0.5, 1_234.5, Infinity].map(grouped), [
    ...["0", "999", "1,000", "12,345", "1,234,567", "0.5", "1,234.5", "Infinity"],
  ]);
});

Deno.test("rate() has a digit after the point below ten, and groups above a thousand", () => {
  assert.deepEqual([0, 0.04, 9.94, 9.97, 10, 812.4, 12_345.6].map(rate), [
    ...["0.0", "0.0", "9.9", "10", "10", "812", "12,346"],
  ]);
});

Deno.test("thousandths() keeps three digits after the point", () => {
  assert.deepEqual([1.23456, 20.0004].map(thousandths), [1.235, 20]);
});

Deno.test("counted() and agreeing() have one of a thing, and several or none of it", () => {
  const say = (count: number | string): string =>
    `${counted(count, "job")}/s ${agreeing(count, "is", "are")}`;

  assert.deepEqual([0, 1, 2, 2_500, "1", "0.5", "1.0", "1,000"].map(say), [
    "0 jobs/s are",
    "1 job/s is",
    "2 jobs/s are",
    "2,500 jobs/s are",
    "1 job/s is",
    "0.5 jobs/s are",
    "1.0 jobs/s are",
    "1,000 jobs/s are",
  ]);
});
