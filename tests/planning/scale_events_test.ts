import assert from "node:assert/strict";
import { ScaleEvents } from "../../src/planning/scale_events.ts";

function counted(...looks: readonly (readonly [atMs: number, target: number])[]): ScaleEvents {
  const events = new ScaleEvents();
  for (const [atMs, target] of looks) events.look(atMs, target);
  return events;
}

Deno.test("ScaleEvents counts changes, not looks, and not the first target", () => {
  const { count, reversals } = counted([0, 2], [100, 2], [200, 6], [300, 6]);

  assert.deepEqual([count, reversals], [1, 0]);
});

Deno.test("ScaleEvents counts changes in one direction within 50 ms once", () => {
  assert.equal(counted([0, 2], [100, 3], [149, 4], [199, 5]).count, 1);
  assert.equal(counted([0, 2], [100, 3], [151, 4]).count, 2);
});

Deno.test("ScaleEvents counts each turn back as a reversal and an event of its own", () => {
  const { count, reversals } = counted([0, 2], [100, 6], [110, 5], [120, 6]);

  assert.deepEqual([count, reversals], [3, 2]);
});
