import assert from "node:assert/strict";
import { strictPriority } from "../../../plugins/lane_policy/strict_priority.ts";
import { makeView } from "../../../src/testing/views.ts";
import { faultsOf, make } from "../_make.ts";
import { meanOfRuns, near } from "./_published.ts";

Deno.test("strictPriority serves the highest lane that may be served, however old the others are", () => {
  const view = makeView({
    lanes: [{ ready: 0 }, { ready: 1 }, { ready: 9, oldestWaitMs: 90_000 }],
  });

  assert.equal(make(strictPriority)(view, view.lanes.slice(1)), view.lanes[1]);
});

Deno.test("strictPriority serves all urgent jobs of the lanes experiment but waits for batch jobs to end", () => {
  const slow = meanOfRuns(() => make(strictPriority), 30);
  const fast = meanOfRuns(() => make(strictPriority), 150);

  // Published: 32.4 / 104 ms at 48.1 batch jobs/s, and 24.4 / 129.5 ms at 37.4.
  assert.equal(slow.done, 240);
  assert.ok(near(slow.p50, 32.4, 0.05), `p50 ${slow.p50}`);
  assert.ok(near(slow.p99, 104, 0.1), `p99 ${slow.p99}`);
  assert.ok(near(slow.batchPerSec, 49.3, 0.02), `${slow.batchPerSec} batch jobs/s`);
  assert.equal(fast.done, 1200);
  assert.ok(near(fast.p50, 24.4, 0.06), `p50 ${fast.p50}`);
  assert.ok(near(fast.p99, 129.5, 0.1), `p99 ${fast.p99}`);
  assert.ok(near(fast.batchPerSec, 37.4, 0.02), `${fast.batchPerSec} batch jobs/s`);
});

Deno.test("strictPriority takes no options", () => {
  assert.deepEqual(faultsOf(strictPriority, { strict: true }), [
    ': "strict-priority" takes no options',
  ]);
});
