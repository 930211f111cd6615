import assert from "node:assert/strict";
import { duration, rate, thousandths } from "../src/figures.ts";

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
