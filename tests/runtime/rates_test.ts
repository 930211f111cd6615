import assert from "node:assert/strict";
import type { VirtualClock } from "../../src/time/virtual_clock.ts";
import { assertRate } from "../_rate.ts";
import { type PoolParts, withPool } from "../_virtual.ts";
import { withBench } from "../cases/_bench.ts";
import type { PoolEvent } from "../../src/contract/event.ts";

function paced(callsPerSec: number, more: object = {}): PoolParts {
  return {
    caps: [{ use: "api-rate-cap", with: { callsPerSec, ...more } }],
    admission: "admit-all",
    size: { min: 4, max: 4 },
    tickMs: 1000,
  };
}

/** Moves time with work waiting. */
async function keepBusy(
  clock: VirtualClock,
  ms: number,
  add: () => void,
): Promise<void> {
  for (let left = ms; left > 0; left -= 1000) {
    add();
    await clock.advance(Math.min(1000, left));
  }
}

function startsIn(events: readonly PoolEvent[]): readonly number[] {
  return events.flatMap((event) => event.kind === "job-started" ? [event.atMs] : []);
}

// B6
for (const perSec of [0.01, 0.5, 1, 1.5, 2.05, 2.5, 3, 7.3, 30, 123.4, 1000]) {
  Deno.test(`A pool with ${perSec} calls a second makes 0.99 of what the headroom leaves, and never more`, async () => {
    await withPool(paced(perSec), async ({ pool, clock, events }) => {
      const ms = Math.max(20_000, 100_000 / perSec);
      const each = Math.ceil(perSec) + 1;
      await keepBusy(clock, ms, () => {
        for (let more = each; more > 0; more--) pool.post({ lane: "low", payload: 0 });
      });
      const starts = startsIn(events);

      const share = starts.length * 1000 / ms / (perSec * 0.96);
      assert.ok(share >= 0.99, `${share}`);

      assertRate(starts, perSec);
      assertRate(starts, pool.snapshot().startsPerSec);
    });
  });
}

// B6
for (const perSec of [1.5, 2.05, 2.5, 4.4, 7, 7.3, 7.6, 8, 8.5, 10.2, 17.7, 28.8]) {
  Deno.test(`Three processes together hold ${perSec} starts a second, and use them`, async () => {
    await withBench(async (bench) => {
      const processes = [];
      for (let count = 0; count < 3; count++) {
        processes.push(await bench.start({ ...paced(perSec, { headroom: 0 }), leaseMs: 3000 }));
        await bench.advance(500, { stepMs: 50 });
      }
      const [first] = processes;
      const fromMs = bench.clock.nowMs();
      for (let count = 0; count < perSec * 70; count++) {
        first!.pool.post({ lane: "low", payload: 0 });
      }
      await bench.advance(60_000, { stepMs: 100 });
      const starts = startsIn(bench.referee.events);
      assertRate(starts, perSec);

      const late = starts.filter((atMs) => atMs >= fromMs + 10_000).length;
      assert.ok(late >= 0.97 * perSec * 50, `${late} of ${perSec * 50}`);
      await bench.advance(20_000, { stepMs: 1000 });
    });
  });
}
