import assert from "node:assert/strict";
import type { Queue } from "../../../../src/contract/store.ts";
import { openForDoctor } from "../../../../stores/deno_kv/doctor/doctor.ts";
import { end, entry, NOW, openQueue, openStore, withFolder, withStore } from "../_store.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** When, after NOW, each job that waits is due, by its payload. */
async function dues(queue: Queue): Promise<Record<string, number>> {
  const { jobs } = await queue.list({ limit: 50 });
  return Object.fromEntries(jobs.map(({ payload, dueAtMs }) => [String(payload), dueAtMs - NOW]));
}

for (const aheadMs of [2 * MINUTE, DAY, 3650 * DAY]) {
  Deno.test(`renew() stamps anew what was stamped by its own clock, set back by ${aheadMs / MINUTE} min`, async () => {
    await withStore(async (store) => {
      const queue = await openQueue(store, { nowMs: NOW + aheadMs });
      await queue.renew(NOW + aheadMs, NOW);
      const thenMs = NOW + aheadMs;
      await queue.add([entry({ payload: "fails" })], thenMs);
      const [job] = await queue.lease([1], thenMs);
      await queue.settle([end(job!, "retry", { dueAtMs: thenMs + 30_000 })], thenMs + 10);
      await queue.add([
        entry({ payload: "ready" }),
        entry({ payload: "delayed", dueAtMs: thenMs + 40_000, expiresAtMs: thenMs + 50_000 }),
      ], thenMs);

      await queue.renew(NOW, NOW);

      assert.deepEqual(await dues(queue), { ready: 0, fails: 30_000, delayed: 40_000 });
      const first = await queue.lease([5], NOW);
      const later = [
        ...await queue.lease([5], NOW + 30_000),
        ...await queue.lease([5], NOW + 40_000),
      ];
      assert.deepEqual(first.map(({ payload }) => payload), ["ready"]);
      assert.deepEqual(later.map(({ payload, attempt }) => [payload, attempt]), [
        ["fails", 2],
        ["delayed", 1],
      ]);
      assert.equal(later[1]!.expiresAtMs, NOW + 50_000);
      const ended = await queue.settle([...first, ...later].map((each) => end(each)), NOW + 41_000);
      assert.deepEqual(ended, [true, true, true]);
    });
  });
}

Deno.test("renew() stamps anew a retry that was judged by a clock that went ahead meanwhile and back", async () => {
  await withStore(async (store) => {
    const queue = await openQueue(store, { nowMs: NOW });
    await queue.renew(NOW, NOW);
    await queue.add([entry({ payload: "retry" })], NOW);
    const [job] = await queue.lease([1], NOW);
    await queue.settle([end(job!, "retry", { dueAtMs: NOW + DAY + 500 })], NOW + DAY);
    await queue.renew(NOW + DAY + 10, NOW + 10);

    await queue.renew(NOW + 20, NOW + 20);

    await queue.count(NOW + 600);
    const [again] = await queue.lease([1], NOW + 600);
    assert.equal(again?.payload, "retry");
    await queue.leave(NOW + 600);
  });
});

Deno.test("renew() stamps anew what was added by a clock that went ahead and back since the last one", async () => {
  await withStore(async (store) => {
    const queue = await openQueue(store);
    await queue.renew(NOW, NOW);
    await queue.add([entry({ payload: "delayed", dueAtMs: NOW + DAY + 40_000 })], NOW + DAY);

    await queue.renew(NOW + 10, NOW + 10);

    assert.deepEqual(await dues(queue), { delayed: 40_010 });
    await queue.leave(NOW + 10);
  });
});

Deno.test("renew() stamps a job anew once, however many processes find the clock set back", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/queue.db`;
    const stores = await Promise.all([1, 2, 3].map(() => openStore({ path })));
    const thenMs = NOW + 3 * DAY;
    const queues = await Promise.all(
      stores.map((store) => openQueue(store, { nowMs: thenMs, leaseMs: 30 * DAY })),
    );
    for (const queue of queues) await queue.renew(thenMs, NOW);
    const [one] = queues as [Queue, Queue, Queue];
    await one.add([entry({ payload: "fails" })], thenMs);
    const [job] = await one.lease([1], thenMs);
    await one.settle([end(job!, "retry", { dueAtMs: thenMs + 2 * DAY })], thenMs + 10);
    await one.add([
      entry({ payload: "delayed", dueAtMs: thenMs + 2 * DAY, expiresAtMs: thenMs + 4 * DAY }),
    ], thenMs);

    for (let beat = 0; beat < 4; beat++) {
      for (const queue of queues) await queue.renew(NOW + beat, NOW + 10_000 * (beat + 1));
    }
    const late = await openStore({ path });
    const newcomer = await openQueue(late, { nowMs: NOW + 10, leaseMs: 30 * DAY });
    await newcomer.renew(NOW + 10, NOW);

    for (const due of Object.values(await dues(newcomer))) {
      assert.ok(Math.abs(due - 2 * DAY) < 100, `${due} ms`);
    }
    const jobs = await newcomer.lease([5], NOW + 2 * DAY + 100);
    assert.deepEqual(jobs.map(({ payload }) => payload).sort(), ["delayed", "fails"]);
    const expiring = jobs.find(({ payload }) => payload === "delayed")!;
    assert.ok(Math.abs(expiring.expiresAtMs! - NOW - 4 * DAY) < 100);
    for (const queue of [...queues, newcomer]) await queue.leave(NOW + 2 * DAY + 200);
    for (const store of [...stores, late]) await store.close();
  });
});

Deno.test("renew() leaves alone what someone meant to be later", async () => {
  await withStore(async (store) => {
    const queue = await openQueue(store);
    await queue.renew(NOW, NOW);
    await queue.add([entry({ payload: "tomorrow", dueAtMs: NOW + DAY })], NOW);
    await queue.renew(NOW + 10 * MINUTE, NOW);

    await queue.renew(NOW, NOW);

    assert.deepEqual(await dues(queue), { tomorrow: DAY });
  });
});

Deno.test("renew() stamps anew what a process whose clock was ahead has left, killed or not", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/queue.db`;
    const ahead = await openStore({ path });
    const other = await openQueue(ahead, { nowMs: NOW + DAY });
    await other.renew(NOW + DAY);
    await other.add(
      Array.from(
        { length: 130 },
        (_, job) => entry({ payload: job, dueAtMs: NOW + DAY + 1000 * job }),
      ),
      NOW + DAY,
    );
    await other.leave(NOW + DAY);
    await ahead.close();

    const store = await openStore({ path });
    const queue = await openQueue(store);
    await queue.renew(NOW);

    assert.equal((await queue.count(NOW))[0]!.delayed, 129);
    assert.equal((await queue.count(NOW + 129_000))[0]!.ready, 130);
    await queue.leave(NOW);
    await store.close();
    const { doctor, close } = await openForDoctor(path);
    assert.deepEqual(await doctor.faults(), []);
    close();
  });
});

Deno.test("renew() stamps anew what ended by a clock that was ahead: it is not kept instead of all that ends", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/queue.db`;
    const store = await openStore({ path });
    const queue = await openQueue(store, { keep: { done: 3, dead: 2, forMs: DAY } });
    const run = async (nowMs: number, to: "done" | "dead"): Promise<string> => {
      const [added] = await queue.add([entry({ payload: to })], nowMs);
      const [job] = await queue.lease([1], nowMs);
      await queue.settle([end(job!, to, to === "dead" ? { reason: "fatal" } : {})], nowMs);
      return added!.id;
    };
    await queue.renew(NOW + DAY, NOW);
    const early: string[] = [];
    for (const to of ["done", "done", "done", "dead", "dead"] as const) {
      early.push(await run(NOW + DAY, to));
    }

    await queue.renew(NOW, NOW);
    const found = await Promise.all(early.map((id) => queue.find(id)));
    const late = [await run(NOW + 10, "done"), await run(NOW + 10, "dead")];
    await queue.count(NOW + 2000);

    assert.deepEqual(found.map((job) => job?.state), ["done", "done", "done", "dead", "dead"]);
    assert.deepEqual(new Set(found.map((job) => job?.endedAtMs)), new Set([NOW]));
    const kept = await Promise.all(late.map((id) => queue.find(id)));
    assert.deepEqual(kept.map((job) => job?.state), ["done", "dead"]);
    assert.equal((await queue.list({ limit: 50 })).jobs.length, 5);
    await queue.leave(NOW);
    await store.close();
    const { doctor, close } = await openForDoctor(path);
    assert.deepEqual(await doctor.faults(), []);
    close();
  });
});

Deno.test("renew() waits until the process whose clock is ahead has gone", async () => {
  await withStore(async (store) => {
    const ahead = await openQueue(store, { nowMs: NOW + DAY, leaseMs: 3000 });
    const queue = await openQueue(store, { leaseMs: 3000 });
    await ahead.renew(NOW + DAY);
    await ahead.add([entry({ payload: "delayed", dueAtMs: NOW + DAY + 1000 })], NOW + DAY);
    await queue.renew(NOW);
    assert.deepEqual(await dues(queue), { delayed: DAY + 1000 });

    for (let atMs = NOW; atMs <= NOW + 6000; atMs += 1000) await queue.renew(atMs);

    assert.deepEqual(Object.keys(await dues(queue)), ["delayed"]);
    assert.ok((await dues(queue))["delayed"]! <= 7000);
  });
});

Deno.test("a lease outlives a step of the wall clock in either direction", async () => {
  for (const byMs of [-3650 * DAY, -DAY, -2 * MINUTE, 2 * MINUTE, DAY, 3650 * DAY]) {
    await withStore(async (store) => {
      const one = await openQueue(store, { leaseMs: 3000 });
      const two = await openQueue(store, { leaseMs: 3000 });
      for (const queue of [one, two]) await queue.renew(NOW, NOW);
      await one.add([entry({ payload: 1 })], NOW);
      const [job] = await one.lease([1], NOW);

      for (let atMs = NOW + 1000; atMs <= NOW + 9000; atMs += 1000) {
        for (const queue of [two, one]) {
          const renewal = await queue.renew(atMs + byMs, atMs);
          assert.deepEqual([renewal.alive, renewal.reaped, renewal.nextAtMs], [
            true,
            0,
            atMs + 1000,
          ]);
        }
      }

      assert.deepEqual(await one.settle([end(job!)], NOW + 9000 + byMs), [true]);
    });
  }
});
