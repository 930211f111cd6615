import assert from "node:assert/strict";
import { nice } from "../../src/simulate/nice.ts";

Deno.test("nice() is the next of 1, 2 and 5 times a power of ten", () => {
  const cases = [[1, 1], [1.2, 2], [3, 5], [5, 5], [7, 10], [33.3, 50], [1000, 1000], [1001, 2000]];
  for (const [value = 0, expected] of cases) assert.equal(nice(value), expected);
});

Deno.test("nice() of small values has no stray digits", () => {
  assert.deepEqual([0.03, 0.15, 0.3, 0.7, 0.001].map(nice), [0.05, 0.2, 0.5, 1, 0.001]);
});
