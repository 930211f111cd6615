import assert from "node:assert/strict";
import fc from "fast-check";
import { adaptiveCap } from "../../../plugins/cap/adaptive_cap.ts";
import type { Cap } from "../../../src/contract/strategy.ts";
import { make } from "../_make.ts";
import { DrivenPool, knee, type Weather } from "./_driven_pool.ts";

const open: Cap = () => ({ workers: Infinity, reason: "no cap" });

const runMs = fc.oneof(
  fc.integer({ min: 1, max: 500 }).map((ms) => () => ms),
  fc.record({ slots: fc.integer({ min: 1, max: 40 }), collapse: fc.double({ min: 0, max: 0.2 }) })
    .map(({ slots, collapse }) => knee(slots, collapse)),
);

const weather: fc.Arbitrary<Weather> = fc.record({
  perSec: fc.integer({ min: 1, max: 3000 }),
  runMs,
  idle: fc.constantFrom(0, 0, 0.5),
  overloads: fc.constantFrom(0, 0, 0, 1),
  deferrals: fc.constantFrom(0, 2),
  view: fc.constantFrom({}, {}, { stale: true }, { rateBound: true }, { peers: 4 }),
});

const size = fc.record({
  min: fc.integer({ min: 0, max: 4 }),
  max: fc.integer({ min: 4, max: 64 }),
});

Deno.test("adaptiveCap always leaves a whole number of workers, size.min and one at least, or sets no bound", () => {
  fc.assert(
    fc.property(size, fc.array(weather, { minLength: 1, maxLength: 6 }), (size, all) => {
      const pool = new DrivenPool(make(adaptiveCap, {}), size);

      for (const weather of all) {
        pool.pass(3000, weather);
        const { workers, reason } = pool.limit;
        assert.ok(workers === Infinity || Number.isInteger(workers), `${workers}`);
        assert.ok(workers >= Math.max(1, size.min) && reason !== "", `${workers}`);
      }
    }),
    { numRuns: 40 },
  );
});

Deno.test("adaptiveCap takes at most a fiftieth of its jobs from a pool without a limit behind it", () => {
  const ms = fc.integer({ min: 2, max: 200 });
  const load = fc.double({ min: 0.3, max: 2, noNaN: true });
  fc.assert(
    fc.property(size, ms, load, (size, ms, load) => {
      const weather = { perSec: load * size.max * 1000 / ms, runMs: () => ms };

      const done = (cap: Cap): number => new DrivenPool(cap, size).pass(60_000, weather).done;

      assert.ok(done(make(adaptiveCap, {})) >= 0.98 * done(open) - 1);
    }),
    { numRuns: 10 },
  );
});
