/**
 * The order in which jobs start, on each store and in the simulator, beside a model of a few lines.
 *
 * @module
 */

import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import { start } from "../../mod.ts";
import { MemoryStore } from "../../stores/memory/mod.ts";
import type { Job } from "../../src/contract/job.ts";
import { defineLanePolicy, defineStore, type Plugin } from "../../src/contract/plugin.ts";
import { randomStream } from "../../src/base/random.ts";
import { MeteredStore } from "../../src/simulate/metered_store.ts";
import { PoolMeter } from "../../src/simulate/meter.ts";
import type { Queue, QueueOptions, Store } from "../../src/contract/store.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { openStore } from "../stores/deno_kv/_store.ts";

/** One job: when it comes, to which lane, and how long it runs. */
interface Arrival {
  readonly atMs: number;
  readonly lane: number;
  readonly runMs: number;
}

const LANES = ["a", "b", "c", "d"];

/** Which jobs start when, first in, first out: the higher lane of two that came in one ms. */
function model(arrivals: readonly Arrival[], workers: number): readonly string[] {
  const order = arrivals.map((_, id) => id).sort((one, other) =>
    arrivals[one]!.atMs - arrivals[other]!.atMs || arrivals[one]!.lane - arrivals[other]!.lane ||
    one - other
  );
  const freeAtMs = new Array<number>(workers).fill(0);
  return order.map((id) => {
    const { atMs, runMs } = arrivals[id]!;
    const next = freeAtMs.indexOf(Math.min(...freeAtMs));
    const startMs = Math.max(atMs, freeAtMs[next]!);
    freeAtMs[next] = startMs + runMs;
    return `${startMs}: ${id}`;
  });
}

/** A store, and whether its calls are answered. */
interface Watched {
  readonly store: Plugin<"store">;
  pending(): number;
}

/** A store behind a door that counts what is not answered yet. */
function watched(open: () => Store | Promise<Store>): Watched {
  let pending = 0;
  const counted = (answer: unknown): unknown => {
    if (!(answer instanceof Promise)) return answer;
    pending++;
    return answer.finally(() => pending--);
  };
  const door = <T extends object>(inner: T, more: Record<string, unknown> = {}): T =>
    new Proxy(inner, {
      get: (_, name) => {
        if (name in more) return more[String(name)];
        const real: unknown = Reflect.get(inner, name, inner);
        if (typeof real !== "function" || name === "outcome") {
          return typeof real === "function" ? real.bind(inner) : real;
        }
        return (...given: unknown[]) => counted(real.apply(inner, given));
      },
    });
  const store = defineStore({
    name: "watched",
    create: async () => {
      const inner = await open();
      return door(inner, {
        open: async (options: QueueOptions): Promise<Queue> => door(await inner.open(options)),
      });
    },
  });
  return { store, pending: () => pending };
}

const STORES: readonly [string, () => Store | Promise<Store>][] = [
  ["in memory", () => new MemoryStore()],
  ["on deno-kv", () => openStore({ path: ":memory:" })],
  ["in the simulator", () => {
    const lanes = LANES.map((name) => ({ name }));
    // A meter reads no more of a pool.
    const pool = { settings: { lanes } } as unknown as ConstructorParameters<typeof PoolMeter>[0];
    const times = { now: () => 0, startMs: 0, spanMs: 1000 };
    const meters = new Map([["p", new PoolMeter(pool, times)]]);
    const options = {
      meters,
      nowMs: () => 0,
      fails: () => false,
      dead: () => false,
      process: "1",
      isGone: () => false,
    };
    return new MeteredStore(new MemoryStore(), options);
  }],
];

/** What starts when, of a pool that runs `arrivals`. */
async function run(
  arrivals: readonly Arrival[],
  workers: number,
  { store, pending }: Watched,
  lanePolicy: Plugin<"lane-policy"> | "fifo" = "fifo",
): Promise<readonly string[]> {
  const clock = new VirtualClock();
  const beganMs = clock.nowMs();
  const started: string[] = [];
  const handler = async ({ payload }: Job): Promise<void> => {
    const id = Number(payload);
    started.push(`${clock.nowMs() - beganMs}: ${id}`);
    await new Promise<void>((resolve) => clock.at(clock.nowMs() + arrivals[id]!.runMs, resolve));
  };
  const pools = {
    p: {
      handler,
      size: { min: workers, max: workers },
      lanes: LANES.map((name) => ({ name })),
      lanePolicy: lanePolicy === "fifo" ? { use: "fifo" as const } : lanePolicy,
    },
  };
  const sluice = await start({ store, pools }, { clock, seed: 1 });
  const quiet = async (): Promise<void> => {
    for (let calm = 0; calm < 3; calm = pending() === 0 ? calm + 1 : 0) {
      await setImmediate();
      await clock.settle();
    }
  };
  await quiet();
  const byTime = Map.groupBy(arrivals.keys(), (id) => arrivals[id]!.atMs);
  for (let ms = 0; started.length < arrivals.length && ms < 60_000; ms++) {
    const jobs = (byTime.get(ms) ?? []).map((id) => ({
      lane: LANES[arrivals[id]!.lane]!,
      payload: id,
    }));
    if (jobs.length > 0) void sluice.pool("p").enqueueAll(jobs);
    if (jobs.length > 0 || ms % 10 === 0) await quiet();
    await clock.advance(1);
  }
  const stopping = sluice.stop();
  let isOver = false;
  stopping.finally(() => isOver = true);
  while (!isOver) {
    await clock.advance(100);
    await quiet();
  }
  await stopping;
  return started;
}

/** Sorted within each instant: what starts at once starts in no order that anybody sees. */
function byInstant(started: readonly string[]): readonly string[] {
  return started.toSorted((one, other) =>
    parseFloat(one) - parseFloat(other) ||
    Number(one.split(": ")[1]) - Number(other.split(": ")[1])
  );
}

for (const [where, open] of STORES) {
  Deno.test(`fifo serves who came first where four workers become free at once, ${where}`, async () => {
    const d = (atMs: number): Arrival => ({ atMs, lane: 3, runMs: 100 });
    const b = (atMs: number): Arrival => ({ atMs, lane: 1, runMs: 100 });
    const arrivals = [
      ...[d(0), d(0), d(0), d(0), d(0), d(0), d(31), d(42)],
      ...[b(1), b(3), b(5), b(7), b(9)],
    ];

    const started = await run(arrivals, 4, watched(open));

    assert.deepEqual(started.slice(4, 8), ["100: 4", "100: 5", "100: 8", "100: 9"]);
    assert.deepEqual(byInstant(started), byInstant(model(arrivals, 4)));
  });

  Deno.test(`fifo starts random arrivals in the order of a simple model, ${where}`, async () => {
    for (let seed = 1; seed <= 3; seed++) {
      const random = randomStream(seed, "fifo");
      const below = (most: number): number => Math.floor(random() * most);
      const workers = 1 + below(8);
      // Never idle before the end, and no arrival at the instant of an end: what starts then is certain.
      const arrivals = Array.from({ length: 120 }, (_, id) => ({
        atMs: id < 30 ? 0 : 1 + 20 * below(8) + below(19),
        lane: below(LANES.length),
        runMs: 20 * (1 + below(4)),
      }));

      const started = await run(arrivals, workers, watched(open));

      const expected = model(arrivals, workers);
      assert.deepEqual(byInstant(started), byInstant(expected), `seed ${seed}`);
    }
  });

  Deno.test(`jobs that start at once start in the order in which the policy chose their lanes, ${where}`, async () => {
    let turn = 0;
    const lanePolicy = defineLanePolicy({
      name: "in-turn",
      create: () => (_view, eligible) => eligible[turn++ % eligible.length],
    });
    const arrivals = Array.from({ length: 8 }, (_, id) => ({
      atMs: 5,
      lane: id < 4 ? 0 : 1,
      runMs: 50,
    }));

    const started = await run(arrivals, 8, watched(open), lanePolicy);

    const lanes = started.map((text) => arrivals[Number(text.split(": ")[1])]!.lane);
    assert.deepEqual(lanes.slice(0, 6), [0, 1, 0, 1, 0, 1]);
  });
}
