import assert from "node:assert/strict";
import fc from "fast-check";
import { Peaks } from "../../../plugins/controller/_peaks.ts";

const slots = fc.array(fc.record({ afterMs: fc.nat(20), value: fc.nat(9) }), { maxLength: 300 });

Deno.test("Peaks.max() is the highest value of the window, for any values", () => {
  fc.assert(fc.property(slots, fc.integer({ min: 1, max: 100 }), (added, windowMs) => {
    const peaks = new Peaks();
    const all: { atMs: number; value: number }[] = [];
    let atMs = 0;
    for (const { afterMs, value } of added) {
      atMs += afterMs;
      peaks.add(atMs, value);
      all.push({ atMs, value });

      const inWindow = all.filter((slot) => slot.atMs >= atMs - windowMs);
      assert.equal(peaks.max(atMs - windowMs), Math.max(...inWindow.map((slot) => slot.value)));
    }
  }));
});

Deno.test("Peaks.lastAbove() is when the last value above a level was added, for any values", () => {
  fc.assert(fc.property(slots, fc.nat(9), (added, level) => {
    const peaks = new Peaks();
    let atMs = 0;
    let lastMs: number | undefined;
    for (const { afterMs, value } of added) {
      atMs += afterMs;
      peaks.add(atMs, value);
      if (value > level) lastMs = atMs;
    }

    assert.equal(peaks.lastAbove(level), lastMs);
  }));
});

Deno.test("Peaks.max() is 0, when nothing is in the window", () => {
  const peaks = new Peaks();
  peaks.add(10, 5);

  assert.equal(peaks.max(11), 0);
  assert.equal(new Peaks().max(0), 0);
});
