/**
 * Handlers that ignore their abort: what bounds runs counts them for as long as they run.
 *
 * @module
 */

import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import { type ConfigInput, start } from "../../mod.ts";
import { MemoryStore } from "../../stores/memory/mod.ts";
import type { PoolEvent } from "../../src/contract/event.ts";
import type { Job } from "../../src/contract/job.ts";
import { defineStore, type Plugin } from "../../src/contract/plugin.ts";
import type { Queue, QueueOptions, Store } from "../../src/contract/store.ts";
import type { JobHandle, Sluice } from "../../src/runtime/handles.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { openStore } from "../stores/deno_kv/_store.ts";
import type { PoolParts } from "../_virtual.ts";

/** Most handlers at once, by key and in all. */
interface Most {
  readonly ofKey: Map<string, number>;
  all: number;
}

/** Pools on one store that outlives them, on virtual time that waits for it. */
class Bench {
  readonly clock = new VirtualClock();
  readonly most: Most = { ofKey: new Map(), all: 0 };
  readonly events: PoolEvent[] = [];
  started = 0;
  readonly #running = new Map<string, number>();
  #all = 0;
  #pending = 0;
  readonly #store: Store;
  readonly #plugin: Plugin<"store">;
  readonly #sluices: Sluice[] = [];

  constructor(store: Store) {
    this.#store = store;
    const door = this.#door(store, {
      open: async (options: QueueOptions): Promise<Queue> =>
        this.#door(await store.open(options), {}),
      close: () => {},
    });
    this.#plugin = defineStore({ name: "kept", create: () => door });
  }

  /** Runs for as many ms as its payload says, whatever its signal says. */
  readonly handler = async ({ payload, key = "" }: Job): Promise<void> => {
    this.started++;
    const running = (this.#running.get(key) ?? 0) + 1;
    this.#running.set(key, running);
    this.most.ofKey.set(key, Math.max(running, this.most.ofKey.get(key) ?? 0));
    this.most.all = Math.max(this.most.all, ++this.#all);
    await new Promise<void>((resolve) =>
      this.clock.at(this.clock.nowMs() + Number(payload), resolve)
    );
    this.#running.set(key, this.#running.get(key)! - 1);
    this.#all--;
  };

  config(parts: PoolParts): ConfigInput {
    const lane = { name: "a", maxRunningPerKey: 1, backoff: { baseMs: 10, jitter: 0 } };
    const p = { handler: this.handler, size: { min: 6, max: 6 }, timeoutMs: 1000, lanes: [lane] };
    return { store: this.#plugin, pools: { p: { ...p, drainMs: 500, ...parts } } as never };
  }

  async start(parts: PoolParts): Promise<Sluice> {
    const observer = (event: PoolEvent): void => void this.events.push(event);
    const sluice = await start(this.config(parts), { clock: this.clock, seed: 1, observer });
    this.#sluices.push(sluice);
    await this.advance(100);
    return sluice;
  }

  async advance(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 50) {
      await this.clock.advance(Math.min(50, left));
      for (let calm = 0; calm < 2; calm = this.#pending === 0 ? calm + 1 : 0) {
        await setImmediate();
        await this.clock.settle();
      }
    }
  }

  /** What a promise comes to, while time moves. */
  async wait<T>(promise: Promise<T>): Promise<T> {
    let isOver = false;
    promise.finally(() => isOver = true).catch(() => {}); // awaited below
    for (let ms = 0; !isOver && ms < 60_000; ms += 50) await this.advance(50);
    return await promise;
  }

  async close(): Promise<void> {
    for (const sluice of this.#sluices) await this.wait(sluice.stop());
    await this.advance(10_000); // what runs on ends
    await this.#store.close();
  }

  #door<T extends object>(inner: T, more: Record<string, unknown>): T {
    return new Proxy(inner, {
      get: (_, name) => {
        if (name in more) return more[String(name)];
        const real: unknown = Reflect.get(inner, name, inner);
        if (typeof real !== "function") return real;
        if (name === "outcome") return real.bind(inner);
        return (...given: unknown[]) => {
          const answer: unknown = real.apply(inner, given);
          if (!(answer instanceof Promise)) return answer;
          this.#pending++;
          return answer.finally(() => this.#pending--);
        };
      },
    });
  }
}

const STORES: readonly [string, () => Store | Promise<Store>][] = [
  ["in memory", () => new MemoryStore()],
  ["on deno-kv", () => openStore({ path: ":memory:" })],
];

async function withBench(
  open: () => Store | Promise<Store>,
  test: (bench: Bench) => Promise<void>,
): Promise<void> {
  const bench = new Bench(await open());
  try {
    await test(bench);
  } finally {
    await bench.close();
  }
}

function lane(more: object = {}): PoolParts {
  const backoff = { baseMs: 10, jitter: 0 };
  return { lanes: [{ name: "a", maxRunningPerKey: 1, backoff, ...more }] };
}

async function taken(
  bench: Bench,
  sluice: Sluice,
  count: number,
  job: { readonly key?: string; readonly payload?: number } = { key: "k" },
): Promise<readonly JobHandle[]> {
  const jobs = Array.from({ length: count }, () => ({ lane: "a", payload: 8000, ...job }));
  return await Promise.all(jobs.map((one) => bench.wait(sluice.enqueue("p", one))));
}

for (const [where, open] of STORES) {
  Deno.test(`A key has one handler at a time though attempts time out, ${where}`, async () => {
    await withBench(open, async (bench) => {
      const sluice = await bench.start(lane());
      await taken(bench, sluice, 4);
      await taken(bench, sluice, 2, { key: "other" });
      await bench.advance(40_000);

      assert.deepEqual([...bench.most.ofKey], [["k", 1], ["other", 1]]);
      assert.ok(bench.started >= 8, `${bench.started}`); // it goes on once a handler has ended
      const failed = bench.events.filter(({ kind }) => kind === "job-failed");
      assert.ok(failed.length > 0);
    });
  });

  Deno.test(`A key keeps its place after a cancel, and after a death that is retried, ${where}`, async () => {
    await withBench(open, async (bench) => {
      const sluice = await bench.start({ ...lane({ attempts: 1 }), timeoutMs: 20_000 });
      const pool = sluice.pool("p");
      const [first] = await taken(bench, sluice, 2);
      await bench.advance(500);
      await bench.wait(pool.change(first!.id, "cancel"));
      await bench.advance(3000);
      assert.equal((await bench.wait(pool.find(first!.id)))?.state, "running");
      await bench.advance(6000);
      assert.equal((await bench.wait(pool.find(first!.id)))?.state, "cancelled");
      await bench.advance(10_000);

      await bench.wait(sluice.reload(bench.config({ ...lane({ attempts: 1 }), timeoutMs: 1000 })));
      const [late] = await taken(bench, sluice, 1);
      await bench.advance(9000);
      assert.equal((await bench.wait(pool.find(late!.id)))?.state, "dead");
      await bench.wait(pool.change(late!.id, "revive"));
      await taken(bench, sluice, 1);
      await bench.advance(20_000);

      assert.deepEqual([...bench.most.ofKey], [["k", 1]]);
    });
  });

  Deno.test(`A key and a lane keep their places over a reload of the pool, ${where}`, async () => {
    await withBench(open, async (bench) => {
      const sluice = await bench.start(lane({ maxRunning: 2 }));
      await taken(bench, sluice, 3);
      await taken(bench, sluice, 3, {});
      await bench.advance(2500); // what runs was given up
      const handler = (job: Job): Promise<void> => bench.handler(job);
      const other = { ...lane({ maxRunning: 2 }), handler, tickMs: 70 };
      await bench.wait(sluice.reload(bench.config(other)));
      await bench.advance(30_000);

      assert.equal(bench.most.ofKey.get("k"), 1);
      assert.equal(bench.most.all, 2);
    });
  });

  Deno.test(`maxRunning counts handlers that were given up, ${where}`, async () => {
    await withBench(open, async (bench) => {
      const sluice = await bench.start(lane({ maxRunning: 2 }));
      await taken(bench, sluice, 6, {});
      await bench.advance(2500);
      const [view] = sluice.pool("p").snapshot().lanes;
      assert.deepEqual([view?.running, view?.maxRunning], [0, 0]); // strategies see no room
      await bench.advance(27_500);

      assert.equal(bench.most.all, 2);
      assert.ok(bench.started > 4);
    });
  });

  for (const bound of ["key", "lane", "cap", "cluster cap"]) {
    Deno.test(`What runs on after a stop counts in the next start of the process, by ${bound}, ${where}`, async () => {
      await withBench(open, async (bench) => {
        const scope = bound === "cap" ? "process" : "cluster";
        const caps = [{ use: "fixed-cap" as const, with: { workers: 1 }, scope } as const];
        const parts = {
          ...lane(bound === "lane" ? { maxRunning: 1 } : {}),
          ...(bound.endsWith("cap") ? { caps } : {}),
        };
        const job = bound === "key" ? { key: "k" } : {};
        const one = await bench.start(parts);
        await taken(bench, one, 3, job);
        await bench.advance(500);
        const report = await bench.wait(one.stop());
        assert.equal(report.stuck.length, 1);
        assert.equal(report.waiting, 3);
        const two = await bench.start({ ...parts, timeoutMs: 60_000 });
        await bench.advance(4000);
        assert.equal(bench.started, 1);
        await bench.advance(60_000);

        assert.equal(bench.most.all, 1);
        assert.equal(bench.started, 4);
        assert.equal(two.pool("p").snapshot().totals.completions, 3);
      });
    });
  }

  Deno.test(`slice() waits for the end of a job whose handler runs on, ${where}`, async () => {
    await withBench(open, async (bench) => {
      const sluice = await bench.start(lane({ attempts: 1 }));
      await taken(bench, sluice, 1);
      await bench.advance(2500);

      assert.deepEqual(await bench.wait(sluice.slice(1000)), { left: 1 });
      assert.deepEqual(await bench.wait(sluice.slice(20_000)), { left: 0 });
    });
  });
}

Deno.test("A job waits whose key a handler has that lost its lease", async () => {
  const store = new MemoryStore();
  await withBench(() => store, async (bench) => {
    const sluice = await bench.start({ ...lane(), timeoutMs: 60_000, leaseMs: 3000 });
    await taken(bench, sluice, 1);
    await bench.advance(100);
    // Another process takes it for dead: its jobs go back, and nobody else runs them.
    const other = store.open({
      pool: "p",
      lanes: [{ name: "a", maxRunningPerKey: 1 }],
      leaseMs: 3000,
      attempts: [5],
      keep: { done: 10, dead: 10, forMs: Infinity },
      random: () => 0.5,
      nowMs: bench.clock.nowMs(),
      listener: { wake() {}, cancelled() {}, ended() {} },
    });
    for (let look = 1; look <= 5; look++) other.renew(bench.clock.nowMs() + look * 3000);
    await bench.advance(4000);
    assert.ok(bench.events.some(({ kind }) => kind === "job-deferred"));
    assert.equal(bench.started, 1);
    await bench.advance(30_000);

    assert.equal(bench.most.all, 1);
    assert.equal(bench.started, 2);
    other.leave(bench.clock.nowMs());
  });
});
