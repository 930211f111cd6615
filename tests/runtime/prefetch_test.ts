import assert from "node:assert/strict";
import { start } from "../../mod.ts";
import type { PoolEvent } from "../../src/contract/event.ts";
import type { Sluice } from "../../src/runtime/handles.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { type PoolParts, sleeper } from "../_virtual.ts";
import { config } from "./_reload.ts";
import { slowStore } from "./_slow_store.ts";

const RATE = 20;
const LATENCY_MS = 40;

interface Scene {
  readonly clock: VirtualClock;
  readonly sluice: Sluice;
  readonly events: readonly PoolEvent[];
  /** When jobs started, ms. */
  readonly starts: () => readonly number[];
  /** Moves time until a job has been leased and waits for its start. */
  readonly untilHeld: () => Promise<void>;
}

/** A pool that a start rate holds back, on a store whose answers take their time. */
async function withScene(
  test: (scene: Scene) => Promise<void>,
  parts: PoolParts = {},
): Promise<void> {
  const clock = new VirtualClock();
  const events: PoolEvent[] = [];
  const sluice = await start({
    ...config({
      handler: sleeper(() => clock, 10),
      size: { min: 8, max: 8 },
      caps: [{ use: "api-rate-cap", with: { callsPerSec: RATE, headroom: 0 } }],
      lanes: [{ name: "high", attempts: 1 }, { name: "low" }],
      admission: "admit-all",
      ...parts,
    }),
    store: slowStore(clock, LATENCY_MS),
  }, { clock, seed: 1, observer: (event) => void events.push(event) });
  const pool = sluice.pool("p");
  const starts = (): readonly number[] =>
    events.flatMap((event) => event.kind === "job-started" ? [event.atMs] : []);
  const untilHeld = async (): Promise<void> => {
    for (let left = 5000; left > 0; left--) {
      const { busy, workers, rateBound } = pool.snapshot();
      const run = workers.filter(({ state }) => state === "busy").length;
      if (rateBound && busy > run && starts().length > RATE) return;
      await clock.advance(1);
    }
    assert.fail("No job was leased ahead");
  };
  for (let count = 0; count < 300; count++) pool.post({ lane: "high", payload: 10 });
  await clock.advance(500);
  await test({ clock, sluice, events, starts, untilHeld });
  const stopping = sluice.stop();
  await clock.advance(5_000);
  await stopping;
}

Deno.test("a start rate is used in full though each lease takes 40 ms, and never exceeded", async () => {
  await withScene(async ({ clock, starts }) => {
    await clock.advance(10_000);

    const stamps = starts();
    // Each start in the place of another comes at most a timer's ms later than it may.
    stamps.slice(RATE).forEach((atMs, index) => {
      assert.ok(atMs - stamps[index]! >= 1000, "the rate");
    });
    const fromMs = stamps[3 * RATE]!; // the first places are spread over the second
    const within = stamps.filter((atMs) => atMs >= fromMs && atMs < fromMs + 6_000);
    assert.ok(within.length >= 6 * RATE - 1, `${within.length} in 6 s`);
  });
});

Deno.test("a job that is leased ahead and cancelled before its start does not run", async () => {
  await withScene(async ({ clock, sluice, events, untilHeld }) => {
    const pool = sluice.pool("p");
    await untilHeld();
    const listing = pool.list({ state: "running", limit: 100 });
    await clock.advance(LATENCY_MS);
    const leased = (await listing).jobs.map(({ id }) => id);
    const started = new Set(
      events.flatMap((event) => event.kind === "job-started" ? [event.id] : []),
    );
    const held = leased.filter((id) => !started.has(id)).at(-1); // it starts last: the cancel is there first
    assert.ok(held !== undefined);
    const changing = pool.change(held, "cancel");
    await clock.advance(2_000);
    await changing;

    const told = events.filter((event) => "id" in event && event.id === held);
    assert.deepEqual([...new Set(told.map(({ kind }) => kind))], ["job-added", "job-cancelled"]);
  });
});

Deno.test("a pool that stops hands back what is leased ahead, no attempt charged", async () => {
  await withScene(async ({ clock, sluice, events, untilHeld }) => {
    await untilHeld();
    const stopping = sluice.stop();
    await clock.advance(5_000);
    const { handedBack, waiting } = await stopping;

    const told = (kind: PoolEvent["kind"]): readonly string[] =>
      events.flatMap((event) => event.kind === kind && "id" in event ? [event.id!] : []);
    const back = told("job-handed-back");
    assert.ok(back.length > 0);
    assert.ok(new Set(told("job-started")).isDisjointFrom(new Set(back)));
    assert.deepEqual(handedBack, []); // no attempt was interrupted
    assert.equal(waiting, 300 - told("job-started").length);
  });
});

Deno.test("a job that is leased ahead goes back once its lane is paused", async () => {
  await withScene(async ({ clock, sluice, starts, untilHeld }) => {
    const pool = sluice.pool("p");
    await untilHeld();
    const before = starts().length;
    await pool.pause("high");
    await clock.advance(3_000);
    assert.equal(starts().length, before);

    await pool.resume("high");
    await clock.advance(3_000);
    assert.ok(starts().length >= before + 2 * RATE);
    assert.deepEqual(pool.snapshot().totals.failures, 0);
  });
});
