import assert from "node:assert/strict";
import fc from "fast-check";
import { Holds } from "../../src/base/holds.ts";

const added = fc.array(
  fc.record({ afterMs: fc.nat(20), workers: fc.nat(9), forMs: fc.nat(60) }),
  { maxLength: 300 },
);

Deno.test("Holds is what a list of all holds says, for any of them", () => {
  fc.assert(fc.property(added, fc.nat(9), (list, above) => {
    const holds = new Holds();
    const all: { readonly workers: number; readonly untilMs: number }[] = [];
    let nowMs = 0;
    for (const { afterMs, workers, forMs } of list) {
      nowMs += afterMs;
      const hold = { workers, untilMs: nowMs + forMs };
      holds.add(workers, hold.untilMs);
      all.push(hold);

      const current = all.filter(({ untilMs }) => untilMs >= nowMs);
      assert.equal(holds.max(nowMs), Math.max(0, ...current.map((hold) => hold.workers)));
      const higher = current.filter((hold) => hold.workers > above);
      const lastMs = higher.length > 0
        ? Math.max(...higher.map((hold) => hold.untilMs))
        : undefined;
      assert.equal(holds.endAbove(above), lastMs);
    }
  }));
});
