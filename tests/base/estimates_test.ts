import assert from "node:assert/strict";
import { combined, ratioOfSums } from "../../src/base/estimates.ts";
import { randomStream } from "../../src/base/random.ts";

Deno.test("ratioOfSums() is exact where all pairs agree, and NaN of nothing", () => {
  assert.deepEqual(ratioOfSums([[2, 1], [4, 2], [6, 3], [8, 4]]), { value: 2, error: 0 });
  assert.ok(Number.isNaN(ratioOfSums([[0, 0], [0, 0], [0, 0], [0, 0]]).value));
});

Deno.test("ratioOfSums() says its error: 19 of 20 samples of few are within two", () => {
  const random = randomStream(1, "estimates");
  const exponential = (): number => -Math.log(1 - random());
  let within = 0;
  for (let sample = 0; sample < 1000; sample++) {
    const pairs = Array.from({ length: 8 }, () => {
      const runs = Array.from({ length: 5 }, exponential);
      return [runs.reduce((sum, run) => sum + run, 0), runs.length] as const;
    });
    const { value, error } = ratioOfSums(pairs);
    if (Math.abs(value - 1) <= 2 * error) within++;
  }

  assert.ok(within >= 930 && within <= 990, `${within}`);
});

Deno.test("combined() leans to the surer one, and its error is between theirs", () => {
  const { value, error } = combined({ value: 1, error: 0.1 }, { value: 2, error: 0.3 });

  assert.ok(Math.abs(value - 1.1) < 1e-3, `${value}`);
  assert.ok(Math.abs(error - 0.12) < 1e-3, `${error}`);
  assert.equal(combined({ value: 1, error: 0 }, { value: 3, error: 0 }).value, 2);
});
