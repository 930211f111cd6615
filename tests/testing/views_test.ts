import assert from "node:assert/strict";
import { makeLane, makeSummary, makeView } from "../../src/testing/views.ts";

Deno.test("makeView() derives worker counts from workers, unless they are given", () => {
  const view = makeView({ workers: [{ state: "busy" }, { state: "starting" }, {}] });

  assert.deepEqual([view.live, view.busy, view.idle, view.target], [2, 1, 1, 3]);
  assert.deepEqual(view.workers.map((worker) => worker.id), ["w1", "w2", "w3"]);
});

Deno.test("makeView() makes the workers that live, busy and idle speak of", () => {
  assert.equal(makeView({ live: 3, busy: 2 }).idle, 1);
  assert.equal(makeView({ busy: 2 }).idle, 0);
  assert.equal(makeView({ busy: 2, idle: 2 }).live, 4);
  assert.equal(makeView({ live: 0 }).workers.length, 0);
  assert.equal(makeView().idle, 1);
});

Deno.test("makeView() numbers its lanes and takes size.max as the limit", () => {
  const view = makeView({ size: { min: 1, max: 8 }, lanes: [{ name: "urgent" }, {}] });

  assert.deepEqual(view.lanes.map((lane) => [lane.index, lane.name]), [[0, "urgent"], [
    1,
    "lane1",
  ]]);
  assert.equal(view.limit, 8);
});

Deno.test("makeView() counts ready jobs by age as if they had come evenly", () => {
  const view = makeView({
    lanes: [{ ready: 4, oldestWaitMs: 80 }, { ready: 1, oldestWaitMs: 10 }],
  });

  assert.deepEqual([0, 10, 20, 60, 80, 81].map((ageMs) => view.readyOlderThan(ageMs)), [
    5,
    5,
    4,
    2,
    1,
    0,
  ]);
});

Deno.test("makeView() and makeLane() freeze all they make", () => {
  const view = makeView({ signals: { cpu: { value: 1, stale: false } } });

  for (const part of [view, view.lanes, view.workers, view.totals, view.window, view.size]) {
    assert.ok(Object.isFrozen(part));
  }
  assert.ok(Object.isFrozen(view.signals.cpu));
  assert.ok(Object.isFrozen(makeLane().window));
  assert.equal(makeLane({ window: { serviceMs: makeSummary(20) } }).window.serviceMs?.p99, 20);
});
