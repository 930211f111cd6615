import assert from "node:assert/strict";
import { assertRate } from "../_rate.ts";
import { type PoolParts, withPool } from "../_virtual.ts";
import { withBench } from "../cases/_bench.ts";
import { withHeld } from "./_held.ts";
import { randomStream } from "../../src/base/random.ts";
import type { PoolEvent } from "../../src/contract/event.ts";
import type { PoolHandle } from "../../src/runtime/handles.ts";

const HEADROOM = 0.04;

function rated(callsPerSec: number): PoolParts {
  return {
    handler: () => "ok",
    caps: [{ use: "api-rate-cap", with: { callsPerSec, headroom: HEADROOM } }],
    lanePolicy: "strict-priority",
    admission: "admit-all",
    size: { min: 4, max: 4 },
  };
}

/** From one start to the next, ms. */
function intervalOf(callsPerSec: number): number {
  return 1000 / (callsPerSec * (1 - HEADROOM));
}

/** Batch jobs wait all the time; urgent ones come by chance, a tenth of the rate. */
async function play(
  pools: readonly PoolHandle[],
  clock: { advance(ms: number): Promise<unknown> },
  { perSec, ms, seed = 1 }: {
    readonly perSec: number;
    readonly ms: number;
    readonly seed?: number;
  },
): Promise<void> {
  const random = randomStream(seed, "urgent");
  let urgent = 0;
  const post = (lane: string): void => pools[urgent++ % pools.length]!.post({ lane, payload: 0 });
  for (let count = Math.ceil(perSec * ms / 1000) + 10; count > 0; count--) post("low");
  for (let leftMs = ms; leftMs > 0;) {
    const gapMs = Math.min(leftMs, -Math.log(1 - random()) * 10_000 / perSec);
    await clock.advance(gapMs);
    leftMs -= gapMs;
    if (leftMs > 0) post("high");
  }
}

interface Seen {
  /** Share of the rate that was used, of what the headroom leaves. */
  readonly used: number;
  /** By the highest lane's jobs, less one interval for each of their own that waited before, ms: the 95th percentile. */
  readonly waitMs: number;
}

function seen(events: readonly PoolEvent[], perSec: number, fromMs: number, toMs: number): Seen {
  const starts = events.flatMap((event) => event.kind === "job-started" ? [event] : []);
  const times = starts.map(({ atMs }) => atMs);
  assertRate(times, perSec);
  const waits: number[] = [];
  const urgent = starts.filter(({ lane }) => lane === "high");
  for (const { atMs, waitMs } of urgent) {
    const cameMs = atMs - waitMs;
    const before = urgent.filter((other) => other.atMs > cameMs && other.atMs < atMs).length;
    waits.push(waitMs - before * intervalOf(perSec));
  }
  waits.sort((a, b) => a - b);
  const counted = times.filter((atMs) => atMs >= fromMs && atMs < toMs).length;
  return {
    used: counted * intervalOf(perSec) / (toMs - fromMs),
    waitMs: waits[Math.ceil(0.95 * waits.length) - 1]!,
  };
}

// C6
for (const perSec of [0.01, 0.3, 1, 2.5, 7.3, 10, 30, 100, 333.3, 1000]) {
  Deno.test(`an urgent job behind a backlog waits 1.5 intervals of ${perSec} starts a second at most, and the rate is used`, async () => {
    await withPool(rated(perSec), async ({ pool, clock, events }) => {
      const ms = Math.max(5_000, (perSec < 0.1 ? 150_000 : 300_000) / perSec);
      const fromMs = clock.nowMs();
      await play([pool], clock, { perSec, ms });
      const { used, waitMs } = seen(events, perSec, fromMs, clock.nowMs());
      const intervalMs = intervalOf(perSec);
      assert.ok(used >= 0.99, `used ${used}`);
      assert.ok(waitMs <= Math.max(1.5 * intervalMs, intervalMs + 20), `${waitMs} ms`);
    });
  });
}

// C6
for (
  const [latencyMs, leaseCalls, least] of [[5, 1, 0.99], [40, 1, 0.98], [40, 6, 0.99]] as const
) {
  Deno.test(`an urgent job passes what is leased ahead of a backlog, a lease taking ${latencyMs} ms, ${leaseCalls} at once`, async () => {
    const perSec = 30;
    await withHeld({ latencyMs, leaseCalls, parts: rated(perSec) }, async (scene) => {
      const { pool, clock, events } = scene;
      const fromMs = clock.nowMs() + 5_000; // until then the lateness of leases adds up
      await play([pool], clock, { perSec, ms: 40_000 });
      const { used, waitMs } = seen(events, perSec, fromMs, clock.nowMs());
      const intervalMs = intervalOf(perSec);

      assert.ok(used >= least, `used ${used}`);
      // It is stored and leased before it can start.
      assert.ok(waitMs <= 2 * latencyMs + intervalMs, `${waitMs} ms`);
    });
  });
}

for (
  const [latencyMs, leaseCalls, least] of [[5, 1, 0.99], [40, 1, 0.96], [40, 6, 0.99]] as const
) {
  Deno.test(`a rate is used by jobs with one attempt, a lease taking ${latencyMs} ms, ${leaseCalls} at once`, async () => {
    const perSec = 30;
    const lanes = [{ name: "high", attempts: 1 }, { name: "low", attempts: 1 }];
    await withHeld({ latencyMs, leaseCalls, parts: { ...rated(perSec), lanes } }, async (scene) => {
      const { pool, clock, events, told } = scene;
      const fromMs = clock.nowMs() + 5_000;
      await play([pool], clock, { perSec, ms: 40_000 });
      const { used } = seen(events, perSec, fromMs, clock.nowMs());

      assert.ok(used >= least, `used ${used}`);
      assert.ok(
        told("job-handed-back").length <= 12,
        `${told("job-handed-back").length} went back`,
      );
    });
  });
}

// C6
for (const [processes, perSec] of [[2, 30], [4, 30], [8, 30], [8, 100], [4, 7.3]] as const) {
  Deno.test(`an urgent job waits 1.5 intervals of a process's part at most, ${perSec} a second over ${processes} processes`, async () => {
    await withBench(async (bench) => {
      for (let count = 0; count < processes; count++) {
        await bench.start({ ...rated(perSec), leaseMs: 3000 });
        await bench.advance(300, { stepMs: 50 });
      }
      await bench.advance(3_000);
      const fromMs = bench.clock.nowMs() + 5_000;
      await play(bench.processes.map(({ pool }) => pool), bench.clock, { perSec, ms: 30_000 });
      const { used, waitMs } = seen(bench.referee.events, perSec, fromMs, bench.clock.nowMs());
      const intervalMs = processes * intervalOf(perSec);
      assert.ok(used >= 0.99, `used ${used}`);
      assert.ok(waitMs <= Math.max(1.5 * intervalMs, intervalMs + 20), `${waitMs} ms`);
    });
  });
}
