import assert from "node:assert/strict";
import { verdictsOf, workersSentence } from "../../../src/simulate/picture/verdict.ts";
import { lane, pool, seen } from "./_report.ts";

Deno.test("verdictsOf() says of each lane whether it met its target, and how often it did not", () => {
  const { urgent, batch } = pool().series.lanes;
  const lanes = {
    urgent: urgent!,
    batch: batch!,
    slow: seen({ targetWaitMs: null }),
    idle: seen(),
  };
  const slow = lane({ done: 0, left: 1200, arrived: 1200, waitMs: null });

  const verdicts = verdictsOf(pool({
    lanes: { ...pool().lanes, slow, idle: lane({ arrived: 0 }) },
    series: { ...pool().series, lanes },
  }));

  assert.deepEqual(verdicts.map(({ word, sentence }) => [word, sentence]), [
    [
      "✓ met",
      "urgent: target 50 ms; waits p50 1 ms, p99 12 ms, longest 30 ms; 60 of 60 jobs done.",
    ],
    [
      "✗ late",
      "batch: over its target 50 ms in 1 of 3 stretches of 1 s; waits p50 1 ms, p99 12 ms, longest 30 ms; " +
      "50 of 60 jobs done, 7 shed, 3 left at the end.",
    ],
    ["–", "slow: no target; none started; 0 of 1,200 jobs done, 1,200 left at the end."],
    ["–", "idle: no job arrived."],
  ]);
});

Deno.test("workersSentence() names the limit if it is the same all the time", () => {
  const { series } = pool();
  const rest = "3.4 on average, 2 at the end; 10 worker-seconds; 2 scale events, 1 reversal.";

  assert.equal(workersSentence(pool()), `2 to 6 workers, at most 8 allowed, ${rest}`);
  assert.equal(
    workersSentence(pool({ series: { ...series, limit: [8, 4, 8] } })),
    `2 to 6 workers, ${rest}`,
  );
});
