import assert from "node:assert/strict";
import fc from "fast-check";
import { fifo } from "../../../plugins/lane_policy/fifo.ts";
import { makeView } from "../../../src/testing/views.ts";
import { faultsOf, make } from "../_make.ts";
import { meanOfRuns, near } from "./_published.ts";

Deno.test("fifo serves the lane whose oldest job became claimable first", () => {
  const view = makeView({
    lanes: [{ ready: 1, oldestWaitMs: 20 }, { ready: 1, oldestWaitMs: 500 }, { ready: 1 }],
  });

  assert.equal(make(fifo)(view, view.lanes), view.lanes[1]);
});

Deno.test("fifo serves the higher lane when two jobs became claimable together", () => {
  const view = makeView({
    lanes: [{ ready: 1 }, { ready: 1, oldestWaitMs: 7 }, { ready: 1, oldestWaitMs: 7 }],
  });

  assert.equal(make(fifo)(view, view.lanes), view.lanes[1]);
  assert.equal(make(fifo)(view, []), undefined);
});

Deno.test("fifo never leaves a worker idle and serves no lane but those it may, for any lanes", () => {
  fc.assert(fc.property(
    fc.array(fc.record({ oldestWaitMs: fc.nat(100), mayServe: fc.boolean() }), { minLength: 1 }),
    (given) => {
      const view = makeView({
        lanes: given.map(({ oldestWaitMs }) => ({ oldestWaitMs, ready: 1 })),
      });
      const eligible = view.lanes.filter((lane) => given[lane.index]!.mayServe);
      const chosen = make(fifo)(view, eligible);
      if (eligible.length === 0) return chosen === undefined;
      return chosen !== undefined && eligible.includes(chosen) &&
        eligible.every((lane) => lane.oldestWaitMs <= chosen.oldestWaitMs);
    },
  ));
});

Deno.test("fifo finishes no urgent job behind the backlog of the lanes experiment", () => {
  for (const perSec of [30, 150]) {
    const { done, batchPerSec } = meanOfRuns(() => make(fifo), perSec);

    assert.equal(done, 0);
    assert.ok(near(batchPerSec, 52.3, 0.02), `${batchPerSec} batch jobs/s`); // published 52.6 and 53.6
  }
});

Deno.test("fifo takes no options", () => {
  assert.deepEqual(faultsOf(fifo, { order: "age" }), [': "fifo" takes no options']);
});
