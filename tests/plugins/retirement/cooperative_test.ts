import assert from "node:assert/strict";
import fc from "fast-check";
import { cooperative } from "../../../plugins/retirement/cooperative.ts";
import { makeView, VIEW_NOW_MS } from "../../../src/testing/views.ts";
import type { PoolView, WorkerState } from "../../../src/contract/view.ts";
import { faultsOf, make } from "../_make.ts";

/** Workers `w1`, `w2` and so on, each in its state for this many ms. */
function crew(workers: readonly (readonly [WorkerState, number])[], nowMs = VIEW_NOW_MS): PoolView {
  return makeView({
    nowMs,
    workers: workers.map(([state, forMs]) => ({ state, sinceMs: nowMs - forMs })),
  });
}

Deno.test("cooperative lets idle workers go first, those idle longest before the others", () => {
  const view = crew([["busy", 90], ["idle", 10], ["idle", 500], ["busy", 5], ["idle", 40]]);

  assert.deepEqual(make(cooperative)(view, 2), ["w3", "w5"]);
});

Deno.test("cooperative lets busy workers go after the idle ones, the longest running first", () => {
  const view = crew([["busy", 5], ["idle", 10], ["busy", 90]]);

  assert.deepEqual(make(cooperative)(view, 2), ["w2", "w3"]);
  assert.deepEqual(make(cooperative)(view, 9), ["w2", "w3", "w1"]);
});

// A lane policy may keep that worker for a lane above: D1 beside a size that is halved.
Deno.test("cooperative keeps the last idle worker of several lanes while a busy one can go", () => {
  const lanes = [{ name: "urgent" }, { name: "batch" }];
  const several = (view: PoolView): PoolView => ({ ...view, lanes: makeView({ lanes }).lanes });
  const view = several(crew([["busy", 5], ["idle", 10], ["busy", 90], ["idle", 20]]));
  const retirement = make(cooperative);

  assert.deepEqual(retirement(view, 1), ["w4"]);
  assert.deepEqual(retirement(view, 2), ["w4", "w3"]);
  assert.deepEqual(retirement(view, 3), ["w4", "w3", "w1"]);
  assert.deepEqual(retirement(view, 4), ["w4", "w3", "w1", "w2"]);
  assert.deepEqual(retirement(several(crew([["idle", 3]])), 1), ["w1"]);
});

Deno.test("cooperative passes over workers that start, leave already or are stuck", () => {
  const view = crew([["starting", 9], ["retiring", 9], ["stuck", 9], ["busy", 1]]);

  assert.deepEqual(make(cooperative)(view, 4), ["w4"]);
});

Deno.test("cooperative lets nobody go when nobody is too many", () => {
  const view = crew([["idle", 10], ["idle", 500]]);

  assert.deepEqual(make(cooperative)(view, 0), []);
  assert.deepEqual(make(cooperative)(view, -3), []);
});

Deno.test("cooperative answers the same view alike: a plan repeated adds nobody", () => {
  const view = crew([["idle", 10], ["idle", 500], ["busy", 7]]);
  const retirement = make(cooperative);

  assert.deepEqual(retirement(view, 2), retirement(view, 2));
});

Deno.test("cooperative never lets go more than are too many, however often it is asked", () => { // case G1
  fc.assert(fc.property(
    fc.array(fc.constantFrom<WorkerState>("starting", "idle", "busy", "retiring", "stuck")),
    fc.nat(20),
    fc.array(fc.nat(100), { minLength: 1, maxLength: 20 }),
    (states, target, steps) => {
      const retirement = make(cooperative, { step: 3, everyMs: 50 });
      const now: WorkerState[] = [...states];
      let nowMs = VIEW_NOW_MS;
      const live = () => now.filter((state) => state === "idle" || state === "busy").length;
      const least = Math.min(target, live());
      for (const step of steps) {
        nowMs += step;
        const ids = retirement(crew(now.map((state) => [state, 0]), nowMs), live() - target);
        for (const id of ids) now[Number(id.slice(1)) - 1] = "retiring";
        assert.ok(live() >= least);
      }
    },
  ));
});

Deno.test("cooperative lets at most step workers go every everyMs", () => {
  const retirement = make(cooperative, { step: 2, everyMs: 1000 });
  const ask = (afterMs: number): number =>
    retirement(crew([["idle", 3], ["idle", 2], ["idle", 1], ["busy", 1]], VIEW_NOW_MS + afterMs), 4)
      .length;

  assert.equal(ask(0), 2);
  assert.equal(ask(50), 0);
  assert.equal(ask(999), 0);
  assert.equal(ask(1000), 2);
  assert.equal(ask(1050), 0);
});

Deno.test("cooperative does not spend its pace on asking in vain", () => {
  const retirement = make(cooperative, { step: 1, everyMs: 1000 });

  assert.deepEqual(retirement(crew([["idle", 1]]), 0), []);
  assert.deepEqual(retirement(crew([["starting", 1]]), 1), []);
  assert.deepEqual(retirement(crew([["idle", 1]]), 1), ["w1"]);
});

Deno.test("cooperative refuses a step that is no count and an everyMs that is no duration", () => {
  assert.deepEqual(faultsOf(cooperative, { step: 0, everyMs: -1 }), [
    "step: Invalid value: Expected >=1 but received 0",
    "everyMs: Invalid value: Expected >=0 but received -1",
  ]);
});
