import assert from "node:assert/strict";
import { randomStream } from "../../src/base/random.ts";
import { NO_RUNS, plus, type RunTimes, slowness } from "../../src/base/run_times.ts";

/** Attempts that ended after these run times, ms. */
function ended(...times: readonly number[]): RunTimes {
  return times.reduce(
    (sum, ms) => plus(sum, { count: 1, ms, log: Math.log(ms) }),
    NO_RUNS,
  );
}

Deno.test("slowness() says twice as long of all lanes, both ways, whatever their mix", () => {
  const usual = [ended(10, 10), ended(80)];
  const slices = [1, 2, 3, 4, 5].map((count) => [
    ended(...Array.from({ length: count }, () => 20)),
    ended(...Array.from({ length: 6 - count }, () => 160)),
  ]);

  for (const { value, error } of slowness(slices, usual)) {
    assert.ok(Math.abs(value - Math.LN2) < 1e-9, `${value}`);
    assert.ok(error < 1e-6, `${error}`);
  }
});

Deno.test("slowness() leaves out lanes of which nothing is usual, and is NaN without any", () => {
  const slices = Array.from({ length: 5 }, () => [ended(20), ended(5000)]);

  const [work] = slowness(slices, [ended(20), NO_RUNS]);

  assert.ok(Math.abs(work.value) < 1e-9);
  assert.ok(slowness(slices, [NO_RUNS, NO_RUNS]).every(({ value }) => Number.isNaN(value)));
});

Deno.test("slowness() by logarithms is within its error more often than not where tails are long", () => {
  const random = randomStream(1, "run times");
  const normal = (): number =>
    Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const lognormal = (): number => Math.exp(1.52 * normal()); // cv 3
  const usual = [{ count: 1, ms: Math.exp(1.52 ** 2 / 2), log: 0 }];
  let [within, surer] = [0, 0];
  for (let sample = 0; sample < 300; sample++) {
    const slices = Array.from(
      { length: 10 },
      () => [ended(...Array.from({ length: 5 }, lognormal))],
    );
    const [work, typical] = slowness(slices, usual);
    if (Math.abs(typical.value) <= 2 * typical.error) within++;
    if (typical.error < work.error) surer++;
  }

  assert.ok(within >= 0.92 * 300, `${within}`);
  assert.ok(surer >= 0.7 * 300, `${surer}`);
});
