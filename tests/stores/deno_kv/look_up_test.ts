import assert from "node:assert/strict";
import { audit } from "../../../stores/deno_kv/doctor/audit.ts";
import type { Change, Changed, Queue } from "../../../src/contract/store.ts";
import { type Cost, openCounted } from "./_counted.ts";
import { end, entry, NOW, openQueue } from "./_store.ts";

const KEEP = { done: 100_000, dead: 100_000, forMs: Infinity };
const LANES = [
  { name: "a", maxRunningPerKey: Infinity },
  { name: "k", maxRunningPerKey: 1 },
];

/** Ids of jobs in each place that a job can have. */
interface Places {
  readonly done: string;
  readonly large: string;
  readonly cancelled: string;
  readonly dead: string;
  readonly ready: string;
  readonly delayed: string;
  readonly blocked: string;
}

/** Fills a queue: `count` jobs of each kind that end, and as many that wait. */
async function fill(queue: Queue, count: number): Promise<Places> {
  const large = await queue.add([entry({ payload: "x".repeat(60_000) })], NOW);
  const first = await queue.add(Array.from({ length: 3 }, () => entry()), NOW);
  await queue.settle((await queue.lease([3], NOW)).map((job) => end(job)), NOW);
  for (let ended = 0; ended < count; ended += 50) {
    const nowMs = NOW + ended;
    await queue.add(Array.from({ length: 50 }, () => entry()), nowMs);
    const jobs = await queue.lease([50], nowMs);
    // One by one, as workers end them.
    for (const [n, job] of jobs.entries()) {
      await queue.settle([end(job, n % 2 === 0 ? "done" : "dead")], nowMs + n);
    }
  }
  const laterMs = NOW + count;
  const ended = await queue.add(Array.from({ length: 2 }, () => entry()), laterMs);
  const [dead] = await queue.lease([1], laterMs);
  await queue.settle([end(dead!, "dead")], laterMs);
  await queue.change(ended[1]!.id, "cancel", laterMs);
  const waiting: Record<"ready" | "delayed" | "blocked", string> = {
    ready: "",
    delayed: "",
    blocked: "",
  };
  for (let added = 0; added < count; added += 50) {
    const some = Array.from({ length: 50 }, () => entry());
    waiting.ready = (await queue.add(some, laterMs + added))[7]!.id;
    const delayed = some.map((one, n) => ({ ...one, dueAtMs: laterMs + 1e6 + n }));
    waiting.delayed = (await queue.add(delayed, laterMs + added))[7]!.id;
    const keyed = some.map((one) => ({ ...one, lane: 1, key: `k${added}` }));
    waiting.blocked = (await queue.add(keyed, laterMs + added))[7]!.id;
  }
  return {
    ...waiting,
    done: first[0]!.id,
    large: large[0]!.id,
    cancelled: ended[1]!.id,
    dead: dead!.id,
  };
}

/** What each look-up and each change costs with so much kept and waiting. */
async function costs(count: number): Promise<Readonly<Record<string, Cost>>> {
  const { kv, store, cost } = await openCounted();
  const queue = await openQueue(store, { lanes: LANES, keep: KEEP });
  const places = await fill(queue, count);
  const found: Record<string, Cost> = {};
  const measure = async (name: string, act: () => Promise<unknown>): Promise<void> => {
    cost();
    await act();
    found[name] = cost();
  };
  for (const [name, id] of Object.entries(places)) {
    const wanted = name === "large" ? "done" : name;
    await measure(`find ${name}`, async () => {
      assert.equal((await queue.find(id))?.state, wanted);
    });
  }
  for (const name of ["done", "cancelled", "dead"] as const) {
    await measure(`outcome ${name}`, () => queue.outcome({ id: places[name] }));
  }
  await measure("find unknown", async () => {
    const id = places.done.replace(/\.0$/, ".zzz");
    assert.equal(await queue.find(id), undefined);
  });
  const change = (name: keyof Places, what: Change, answer: Changed): Promise<void> =>
    measure(`${what} ${name}`, async () => {
      assert.deepEqual(await queue.change(places[name], what, NOW + count), answer);
    });
  for (const name of ["ready", "delayed", "blocked"] as const) {
    await change(name, "cancel", { ok: true, state: "cancelled" });
  }
  await change("dead", "revive", { ok: true, state: "ready" });
  for (const name of ["done", "large", "cancelled"] as const) {
    await change(name, "remove", { ok: true, state: "removed" });
  }
  assert.deepEqual(await audit(kv, "p"), []);
  await store.close();
  return found;
}

Deno.test("KvQueue looks a job up, and changes it, at a cost that does not grow with what is kept and waits", async () => {
  const small = await costs(200);

  assert.deepEqual(await costs(800), small);
  for (const [name, { reads, bytes, commits }] of Object.entries(small)) {
    assert.ok(reads <= 30 && commits <= 2, `${name} takes ${reads} reads, ${commits} commits`);
    assert.ok(bytes <= 64_000, `${name} reads ${bytes} bytes`);
  }
});

Deno.test("KvQueue.change() of many jobs at once shares commits, whatever they are and wherever they stand", async () => {
  const { kv, store, cost } = await openCounted();
  const queue = await openQueue(store, { lanes: LANES, keep: { ...KEEP, done: 50 } });
  const entries = [
    ...Array.from({ length: 500 }, (_, payload) => entry({ payload })),
    ...Array.from({ length: 50 }, (_, n) => entry({ dueAtMs: NOW + 1000 + n })),
    ...Array.from({ length: 50 }, (_, n) => entry({ lane: 1, key: `k${n % 3}` })),
  ];
  const ids = (await queue.add(entries, NOW)).map(({ id }) => id);
  const all = (change: Change): Promise<readonly Changed[]> =>
    Promise.all(ids.map((id) => queue.change(id, change, NOW)));
  cost();

  const cancelled = await all("cancel");

  const { commits, reads } = cost();
  assert.ok(cancelled.every(({ ok, state }) => ok && state === "cancelled"));
  assert.ok(commits <= 24, `${commits} commits`); // few that give up places share one
  assert.ok(reads <= 1.2 * ids.length, `${reads} reads`);
  assert.deepEqual(await audit(kv, "p"), []);
  assert.ok((await all("cancel")).every(({ ok }) => !ok));
  await queue.count(NOW);
  assert.equal((await queue.list({ limit: 999 })).jobs.length, 50, "no more are kept than is said");
  assert.deepEqual(await audit(kv, "p"), []);
  await store.close();
});

Deno.test("KvQueue.change() of dead jobs at once revives and removes them with few commits", async () => {
  const { kv, store, cost } = await openCounted();
  const queue = await openQueue(store, { lanes: LANES, keep: KEEP });
  const entries = Array.from({ length: 300 }, (_, n) => entry({ dedupeKey: `d${n}` }));
  await queue.add(entries, NOW);
  const die = async (): Promise<readonly string[]> => {
    const ids: string[] = [];
    for (;;) {
      const jobs = await queue.lease([300], NOW);
      if (jobs.length === 0) return ids;
      await queue.settle(jobs.map((job) => end(job, "dead")), NOW);
      ids.push(...jobs.map(({ id }) => id));
    }
  };
  const ids = await die();
  assert.equal(new Set(ids).size, 300);
  cost();

  const revived = await Promise.all(ids.map((id) => queue.change(id, "revive", NOW)));
  assert.ok(revived.every(({ ok }) => ok));
  assert.ok(cost().commits <= 8);
  assert.equal((await die()).length, 300);
  cost();
  const removed = await Promise.all(ids.map((id) => queue.change(id, "remove", NOW)));

  assert.ok(removed.every(({ ok }) => ok));
  assert.ok(cost().commits <= 5);
  assert.deepEqual((await queue.list({ limit: 9 })).jobs, []);
  assert.deepEqual(await audit(kv, "p"), []);
  await store.close();
});

Deno.test("KvQueue.change() gives no place to a job that is cancelled with the one that has it", async () => {
  const { kv, store } = await openCounted();
  const queue = await openQueue(store, { lanes: LANES, keep: KEEP });
  const entries = Array.from({ length: 5 }, () => entry({ lane: 1, key: "same" }));
  const ids = (await queue.add(entries, NOW)).map(({ id }) => id);

  for (const id of [0, 2, 1]) void queue.change(ids[id]!, "cancel", NOW);
  const last = await queue.change(ids[4]!, "cancel", NOW);

  assert.ok(last.ok);
  const held = await queue.lease([0, 9], NOW);
  assert.deepEqual(held.map(({ id }) => id), [ids[3]]);
  await queue.settle(held.map((job) => end(job)), NOW);
  assert.deepEqual(await audit(kv, "p"), []);
  await store.close();
});

Deno.test("KvQueue finds a job that was leased behind one that had expired", async () => {
  const { store } = await openCounted();
  const queue = await openQueue(store, { keep: KEEP });
  const ids = (await queue.add([entry({ expiresAtMs: NOW + 5 }), entry({ payload: 2 })], NOW))
    .map(({ id }) => id);
  await queue.settle((await queue.lease([2], NOW + 9)).map((job) => end(job)), NOW + 9);

  assert.equal((await queue.find(ids[1]!))?.payload, 2);
  assert.equal((await queue.find(ids[0]!))?.reason, "expired");
  await store.close();
});
