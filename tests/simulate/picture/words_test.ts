import assert from "node:assert/strict";
import { listed, short, tick } from "../../../src/simulate/picture/words.ts";

Deno.test("tick() takes the one unit that suits", () => {
  assert.deepEqual([0, 7.26, 950, 1500, 60_000, 90 * 60_000, 86_400_000].map(tick), [
    ...["0 ms", "7.3 ms", "950 ms", "1.5 s", "60 s", "90 min", "24 h"],
  ]);
});

Deno.test("short() rounds, and groups digits by three", () => {
  const figures = [0, 0.04, 9.96, 12.4, 999.7, 1000, 49_688, 1_234_567];
  assert.deepEqual(figures.map(short), [
    ...["0", "0", "10", "12", "1,000", "1,000", "49,688", "1,234,567"],
  ]);
});

Deno.test("listed() joins words as a sentence does", () => {
  assert.deepEqual([[], ["a"], ["a", "b"], ["a", "b", "c"]].map(listed), [
    ...["", "a", "a and b", "a, b and c"],
  ]);
});
