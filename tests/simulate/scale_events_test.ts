import assert from "node:assert/strict";
import { ScaleEvents } from "../../src/simulate/scale_events.ts";

function eventsOf(looks: readonly (readonly [atMs: number, target: number])[]): ScaleEvents {
  const events = new ScaleEvents();
  for (const [atMs, target] of looks) events.look(atMs, target);
  return events;
}

Deno.test("ScaleEvents counts changes in one direction within 50 ms once", () => {
  const events = eventsOf([[0, 2], [100, 3], [120, 5], [170, 6], [221, 7], [300, 7]]);

  assert.deepEqual([events.count, events.reversals], [2, 0]);
});

Deno.test("ScaleEvents counts a turn as an event and a reversal, however close", () => {
  const events = eventsOf([[0, 2], [100, 5], [110, 4], [120, 6], [900, 2]]);

  assert.deepEqual([events.count, events.reversals], [4, 3]);
});
