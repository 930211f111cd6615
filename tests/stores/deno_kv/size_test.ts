import assert from "node:assert/strict";
import { audit } from "../../../stores/deno_kv/doctor/audit.ts";
import { Db } from "../../../stores/deno_kv/io/db.ts";
import { KvStore } from "../../../stores/deno_kv/store.ts";
import type {
  JobEntry,
  Leased,
  Queue,
  QueueOptions,
  Settlement,
} from "../../../src/contract/store.ts";
import { randomStream } from "../../../src/base/random.ts";
import { openRemote, withServer } from "./_remote.ts";
import { end, entry, NOW, openQueue } from "./_store.ts";

/** Runs a test on a database in memory that can be looked into. */
async function withKv(
  options: Partial<QueueOptions>,
  test: (queue: Queue, kv: Deno.Kv, db: Db) => Promise<void>,
): Promise<void> {
  const kv = await Deno.openKv(":memory:");
  const db = new Db(kv, { remote: false, maxChecks: 100, random: () => 0.1 });
  const store = new KvStore(db, { file: undefined, remote: false, pollMs: Infinity, seen: 0 });
  try {
    const keep = { done: Infinity, dead: Infinity, forMs: Infinity };
    await test(await openQueue(store, { keep, ...options }), kv, db);
  } finally {
    await store.close();
  }
}

/** Random sizes: mostly small, some near or above each limit. */
function sizeOf(random: () => number): number {
  const edges = [0, 1, 100, 8192, 19_990, 32_000, 49_900, 50_000, 59_990, 60_100, 65_600, 200_000];
  const edge = edges[Math.floor(random() * edges.length)]!;
  return random() < 0.5 ? Math.floor(random() * 1000) : edge + Math.floor(random() * 20);
}

/** Jobs of any size, added, leased and ended many at a moment, in every way; all of it is stored, each once. */
async function playSizes(queue: Queue, seed: number, most: number): Promise<void> {
  const random = randomStream(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  const counts = { added: 0, done: 0, dead: 0, cancelled: 0 };
  const ids: string[] = [];
  let nowMs = NOW;
  for (let round = 0; round < 4; round++) {
    nowMs += 1000;
    const count = pick([1, 60, most]);
    const small = random() < 0.5;
    const entries = Array.from({ length: count }, () =>
      entry({
        lane: random() < 0.3 ? 1 : 0,
        payload: pick(["x", "é", "漢"]).repeat(small ? random() * 200 : sizeOf(random) / 3),
        key: random() < 0.3
          ? `key ${Math.floor(random() * 20)} ${"k".repeat(random() * 900)}`
          : undefined,
        dedupeKey: random() < 0.2
          ? `${ids.length} ${round} ${random()} ${"d".repeat(random() * 900)}`
          : undefined,
        expiresAtMs: random() < 0.2 ? nowMs + random() * 3000 : Infinity,
        dueAtMs: random() < 0.2 ? nowMs + 500 : 0,
      }));
    const added = await queue.add(entries, nowMs);
    assert.deepEqual(added.filter(({ error }) => error !== undefined), []);
    counts.added += count;
    ids.push(...added.map(({ id }) => id));
    nowMs += 1000;
    for (;;) {
      await queue.count(nowMs);
      const held = await queue.lease([most, most], nowMs);
      if (held.length === 0) break;
      const ends = held.map((job): Settlement => {
        const chance = random();
        const error = pick(["e", "漢"]).repeat(random() * 1500);
        if (chance < 0.5) {
          return end(job, "done", { result: small ? "ok" : "r".repeat(sizeOf(random)) });
        }
        if (chance < 0.6) return end(job);
        if (chance < 0.7) return end(job, "dead", { reason: "fatal", error });
        if (chance < 0.8) return end(job, "cancelled");
        if (chance < 0.9) return end(job, "retry", { dueAtMs: nowMs + 100 * random(), error });
        return end(job, "back", { error });
      });
      assert.deepEqual(await queue.settle(ends, nowMs), ends.map(() => true));
      nowMs += 100;
    }
  }
  const states = new Map<string, string>();
  for (let cursor: string | undefined, isLast = false; !isLast;) {
    const page = await queue.list({ limit: 500, cursor });
    for (const { id, state } of page.jobs) states.set(id, state);
    cursor = page.cursor;
    isLast = cursor === undefined;
  }
  for (const id of ids) {
    const state = states.get(id);
    assert.ok(state === "done" || state === "dead" || state === "cancelled", `${id} is ${state}`);
    counts[state]++;
  }
  assert.equal(counts.added, counts.done + counts.dead + counts.cancelled);
  for (const lane of await queue.count(nowMs)) {
    assert.deepEqual([lane.ready, lane.blocked, lane.delayed, lane.running], [0, 0, 0, 0]);
  }
}

const LANES = [{ name: "a", maxRunningPerKey: 1 }, { name: "b", maxRunningPerKey: Infinity }];

Deno.test("KvQueue stores jobs of any size, however many begin and end at one moment", async () => {
  for (let seed = 1; seed <= 8; seed++) {
    await withKv({ lanes: LANES, attempts: [9, 9] }, async (queue, kv, { allowance }) => {
      allowance.refused = () => assert.fail("A commit was larger than its transaction knew");
      await playSizes(queue, seed, 400);
      assert.deepEqual(await audit(kv, "p"), [], `seed ${seed}`);
    });
  }
});

Deno.test("KvQueue divides what a KV Connect server with limits of its own refuses", async () => {
  for (const [seed, writeBytes] of [[1, 819_200], [2, 300_000], [3, 140_000]] as const) {
    await withServer({ maxChecks: 10, writeBytes }, async (server) => {
      const store = await openRemote(server);
      try {
        const keep = { done: Infinity, dead: Infinity, forMs: Infinity };
        const queue = await openQueue(store, { lanes: LANES, attempts: [9, 9], keep });
        await playSizes(queue, seed, 60);
        await queue.leave(NOW);
      } finally {
        await store.close();
      }
    });
  }
});

/** Leases all that is ready. */
async function leaseAll(queue: Queue, want = 10_000, nowMs = NOW): Promise<Leased[]> {
  const held: Leased[] = [];
  for (;;) {
    const leased = await queue.lease([want], nowMs);
    if (leased.length === 0) return held;
    held.push(...leased);
  }
}

const ENDS: Readonly<Record<string, (job: Leased) => Settlement>> = {
  done: (job) => end(job),
  failed: (job) => end(job, "retry", { dueAtMs: NOW + 1000, error: "It failed" }),
  dead: (job) => end(job, "dead", { reason: "fatal", error: "It died" }),
  cancelled: (job) => end(job, "cancelled"),
  back: (job) => end(job, "back"),
};

for (const [name, endOf] of Object.entries(ENDS)) {
  Deno.test(`KvQueue.settle() stores jobs of any size that end at one moment: ${name}`, async () => {
    for (
      const [count, bytes] of [[56, 15_000], [105, 8192], [210, 4096], [850, 1024], [40, 49_990]]
    ) {
      await withKv({}, async (queue, kv) => {
        const payload = "x".repeat(bytes! - 2);
        await queue.add(Array.from({ length: count! }, () => entry({ payload })), NOW);
        const held = await leaseAll(queue);
        assert.equal(held.length, count);

        assert.deepEqual(await queue.settle(held.map(endOf), NOW), held.map(() => true));

        assert.equal((await queue.count(NOW))[0]?.running, 0);
        assert.deepEqual(await audit(kv, "p"), []);
      });
    }
  });
}

Deno.test("KvQueue stores payloads, keys, errors and results of any size together", async () => {
  const texts = ["x", "é", "漢", "\u0001", '"', "😀"];
  for (const text of texts) {
    for (const bytes of [0, 1, 8192, 32_000, 49_000, 49_990, 50_001, 60_001, 1_000_000]) {
      await withKv({ lanes: [{ name: "a", maxRunningPerKey: 1 }] }, async (queue, kv) => {
        const long = text.repeat(1024 / text.length);
        const size = new TextEncoder().encode(JSON.stringify(text)).length - 2;
        const payload = text.repeat(bytes / size);
        const job: JobEntry = entry({
          payload,
          key: text.repeat(text < "é" ? 1000 : 480 / text.length),
          dedupeKey: text.repeat(text < "é" ? 1000 : 480 / text.length),
          traceparent: long,
          expiresAtMs: NOW + 1e9,
        });
        const [added] = await queue.add([job, { ...job, dedupeKey: undefined }], NOW);
        assert.equal(added?.error, undefined);
        const error = text.repeat(1000);
        for (let tries = 0; tries < 3; tries++) {
          const [held] = await queue.lease([1], NOW);
          await queue.settle([end(held!, "back", { charged: true, error })], NOW);
        }
        const [held] = await queue.lease([1], NOW);
        const result = text.repeat(bytes / size);
        assert.deepEqual(await queue.settle([end(held!, "done", { result })], NOW), [true]);
        const record = await queue.find(added!.id);
        assert.equal(record?.state, "done");
        assert.ok(record?.payload === payload);
        assert.ok(record.result === result || record.resultError !== undefined);
        const [other] = await queue.lease([1], NOW);
        await queue.settle([end(other!, "dead", { reason: "fatal", error })], NOW);
        assert.equal((await queue.find(other!.id))?.state, "dead");
        assert.deepEqual(await audit(kv, "p"), []);
      });
    }
  }
});
