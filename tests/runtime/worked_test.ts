import assert from "node:assert/strict";
import { start } from "../../mod.ts";
import type { ConfigInput, PoolInput } from "../../src/config/input.ts";
import { whyOf } from "../../src/explain/reason.ts";
import { defineStore } from "../../src/contract/plugin.ts";
import type { Queue, Store } from "../../src/contract/store.ts";
import { MemoryStore } from "../../stores/memory/mod.ts";
import { stopPool } from "../_virtual.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { Site } from "./_site.ts";

const POOL: PoolInput = {
  handler: "sleep",
  size: { min: 1, max: 8 },
  lanes: [{ name: "jobs" }, { name: "small", maxDepth: 2 }],
  controller: "littles-law",
  caps: [{ use: "fixed-cap", with: { workers: 4 }, scope: "cluster" }],
};

const CONFIG: ConfigInput = { pools: { a: POOL, b: POOL } };

/** A queue whose calls are counted. */
function counted(queue: Queue, tell: () => void): Queue {
  return new Proxy(queue, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== "function") return value;
      return (...given: readonly unknown[]) => {
        tell();
        return Reflect.apply(value, target, given);
      };
    },
  });
}

Deno.test("a pool that is not worked here takes jobs, shows and cancels them; another process runs them", async () => {
  const site = new Site();
  const web = await site.start(CONFIG, site.clock, { pools: [] });
  const pool = web.pool("a");
  const first = await pool.enqueue({ lane: "jobs", payload: { ms: 10 } });
  const second = await pool.enqueue({ lane: "jobs", payload: { ms: 10 } });
  await site.clock.advance(60_000);

  assert.equal((await pool.find(first.id))?.state, "ready");
  const { worked, workers, size, target, decision } = pool.snapshot();
  assert.deepEqual([worked, workers.length, size, target], [false, 0, { min: 0, max: 0 }, 0]);
  assert.equal(decision, undefined);
  assert.deepEqual(pool.diagnosis(), []);
  assert.equal(pool.snapshot().lanes[0]?.ready, 2);
  assert.deepEqual(await pool.change(second.id, "cancel"), { ok: true, state: "cancelled" });

  const worker = await site.start(CONFIG, site.clock, { pools: ["a"] });
  await site.clock.advance(1000);

  assert.equal((await first.done).state, "done");
  assert.equal(worker.pool("a").snapshot().worked, true);
  assert.match(whyOf(pool.snapshot()), /^It takes jobs here and runs none/);
  await site.stop();
});

Deno.test("processes that work a pool share it among themselves: one that only takes jobs is none of them", async () => {
  const site = new Site();
  await site.start(CONFIG, site.clock, { pools: ["b"] });
  const worker = await site.start(CONFIG, site.clock, { pools: ["a"] });
  await site.clock.advance(60_000);
  const pool = worker.pool("a");
  for (let job = 0; job < 60; job++) pool.post({ lane: "jobs", payload: { ms: 1000 } });
  await site.clock.advance(2000);

  assert.equal(pool.snapshot().peers, 1);
  assert.equal(pool.snapshot().live, 4); // the whole cap
  await site.stop();
});

Deno.test("admission goes by workers, and is not asked where there are none; maxDepth holds", async () => {
  const site = new Site();
  const web = await site.start(CONFIG, site.clock, { pools: [] });
  const pool = web.pool("a");
  const jobs = Array.from({ length: 1000 }, () => ({ lane: "jobs", payload: { ms: 1 } }));
  const taken = await pool.enqueueAll(jobs);
  await site.clock.advance(30_000);
  const late = await pool.enqueue(jobs[0]!);
  const small = await pool.enqueueAll(jobs.slice(0, 3).map((job) => ({ ...job, lane: "small" })));

  assert.equal(taken.filter((one) => one instanceof Error).length, 0);
  assert.equal(late.duplicate, false);
  assert.deepEqual(small.map((one) => one instanceof Error), [false, false, true]);
  await site.stop();
});

Deno.test("a pool that is not worked here costs nothing while nothing comes, and has no override", async () => {
  const clock = new VirtualClock();
  let calls = 0;
  const own = new MemoryStore();
  const store: Store = {
    open: (options) => counted(own.open(options), () => calls++),
    get: (key) => own.get(key),
    commit: (checks, sets) => own.commit(checks, sets),
    close: () => own.close(),
  };
  const plugins = { counted: defineStore({ name: "counted", create: () => store }) };
  const web = await start({ ...CONFIG, store: "counted" }, { clock, plugins, pools: [] });
  const pool = web.pool("a");
  await clock.advance(10_000);
  const before = calls;
  await clock.advance(3_600_000);

  assert.equal(calls, before);
  assert.throws(() => pool.override({ max: 1 }, 1000), {
    message: 'Pool "a" is not worked here: override it in a process that works it',
  });
  await pool.enqueue({ lane: "jobs", payload: { ms: 1 } });
  assert.deepEqual(await web.slice(1000), { left: 0 }); // nothing that this process has to do
  await stopPool({ clock, sluice: web });
});

Deno.test("a reload works no pool that is new, as the start says, and goes on taking jobs", async () => {
  const site = new Site();
  const web = await site.start({ pools: { a: POOL, b: POOL } }, site.clock, { pools: ["b"] });
  await web.reload({
    store: "shared",
    pools: { a: { ...POOL, size: { min: 2, max: 4 } }, c: POOL },
  });
  await site.clock.advance(1000);

  assert.deepEqual(web.pools.map((pool) => [pool.name, pool.snapshot().worked]), [
    ["a", false],
    ["c", false],
  ]);
  assert.deepEqual(web.pool("a").snapshot().size, { min: 0, max: 0 });
  const { id } = await web.pool("c").enqueue({ lane: "jobs", payload: { ms: 1 } });
  assert.equal((await web.pool("c").find(id))?.state, "ready");
  await site.stop();
});

Deno.test("start() refuses a pool that is not there, and what is no list", async () => {
  const clock = new VirtualClock();
  const pools = { mail: POOL };

  await assert.rejects(start({ pools }, { clock, pools: ["mial"] }), {
    name: "TypeError",
    message: 'No pool is named "mial": did you mean "mail"?',
  });
  const odd = "mail" as unknown as string[]; // wrong on purpose
  await assert.rejects(start({ pools }, { clock, pools: odd }), {
    message: 'Expected pools to be a list of names but received "mail"',
  });
});
