import assert from "node:assert/strict";
import type { Queue } from "../../../../src/contract/store.ts";
import { audit } from "../../../../stores/deno_kv/doctor/audit.ts";
import { addParts, withMembers } from "../_members.ts";
import { until } from "../_remote.ts";
import { end, entry, NOW, openQueue } from "../_store.ts";

/** What it takes to lease a long lane by several members at once: reads a job, and claims that failed. */
async function costOf(count: number): Promise<{ reads: number; lost: number }> {
  let cost = { reads: 0, lost: 0 };
  await withMembers(count, async ({ server, queues }) => {
    await addParts(queues[0]!, 160, 10);
    for (const queue of queues) await queue.count(NOW);
    const before = { ...server.requests };
    const ids: string[] = [];
    let claims = 0;
    for (let round = 0; ids.length < 1000; round++) {
      const leases = await Promise.all(
        queues.map((queue) => queue.lease([40], NOW + round, [32])),
      );
      for (const jobs of leases) ids.push(...jobs.map(({ id }) => id));
      claims += leases.length;
    }
    assert.equal(new Set(ids).size, ids.length);
    const { snapshot_read: reads, atomic_write: writes } = server.requests;
    cost = {
      reads: (reads - before.snapshot_read) / ids.length,
      lost: writes - before.atomic_write - claims,
    };
  });
  return cost;
}

Deno.test("members that claim beside each other over a network lose no claim, and read no more for it", async () => {
  const [one, two, four] = [await costOf(1), await costOf(2), await costOf(4)];

  for (const { lost } of [one, two, four]) assert.equal(lost, 0);
  for (const { reads } of [two, four]) {
    assert.ok(reads <= 1.3 * one.reads, `${reads} reads a job, one alone ${one.reads}`);
  }
});

Deno.test("what a member that hangs leaves of a lane, and what nobody owns, is leased by the others", async () => {
  await withMembers(3, async ({ queues: [one, other] }) => {
    await addParts(one!, 30, 2);
    let nowMs = NOW;
    const leased: string[] = [];
    const lease = async (queue: Queue, ahead: number): Promise<number> => {
      const jobs = await queue.lease([4], nowMs, [ahead]);
      leased.push(...jobs.map(({ id }) => id));
      return jobs.length;
    };
    // Ahead of their start, each takes its own only.
    while (await lease(one!, 4) + await lease(other!, 4) > 0) nowMs += 100;
    const own = leased.length;
    assert.ok(own >= 20 && own < 60, `${own} of 60`);
    nowMs += 3_000;
    await lease(one!, 4); // the third one's first part has not moved
    while (await lease(one!, 4) + await lease(other!, 4) > 0) nowMs += 100;

    assert.equal(leased.length, 60);
    assert.equal(new Set(leased).size, 60);
  });
});

Deno.test("a member whose pool asks for no jobs owns none", async () => {
  await withMembers(2, async ({ stores, queues }) => {
    const producer = await openQueue(stores[0]!);
    for (const queue of [producer, ...queues]) await queue.renew(NOW);
    await addParts(producer, 30, 2);
    let leased = 0;
    for (let round = 1; round <= 10; round++) {
      const nowMs = NOW + 100 * round;
      const jobs = await Promise.all(queues.map((queue) => queue.lease([8], nowMs, [8])));
      leased += jobs.flat().length;
    }

    assert.equal(leased, 60);
  });
});

Deno.test("a member that asks for its first jobs while it renews owns some from then on", async () => {
  await withMembers(2, async ({ server, stores, queues }) => {
    const late = await openQueue(stores[0]!);
    server.knobs.latencyMs = 20;
    await Promise.all([late.renew(NOW), late.lease([1], NOW)]);
    await late.lease([1], NOW);
    server.knobs.latencyMs = 0;
    for (const queue of [late, ...queues]) await queue.renew(NOW);
    await addParts(queues[0]!, 30, 2);
    await until(() => late.counts![0]!.ready === 60);
    const leased: number[] = [];
    for (const queue of [late, ...queues]) {
      leased.push((await queue.lease([60], NOW + 600, [60])).length);
    }

    assert.ok(leased[0]! >= 6, `${leased}`);
    assert.equal(leased[0]! + leased[1]! + leased[2]!, 60);
  });
});

Deno.test("a member that leaves while it leases leaves nothing leased", async () => {
  await withMembers(2, async ({ server, queues: [one, other] }) => {
    await addParts(one!, 20, 2);
    server.knobs.latencyMs = 20;
    const leasing = Promise.all([one!.lease([10], NOW), one!.lease([20], NOW, [20])]);
    await one!.leave(NOW);
    await leasing;

    const [lane] = await other!.count(NOW, true);
    assert.deepEqual([lane!.ready, lane!.running], [40, 0]);
  });
});

Deno.test("of a lane that stays long members lease old jobs about as late as others", async () => {
  await withMembers(3, async ({ queues }) => {
    const waits: number[] = [];
    const addedAt = new Map<string, number>();
    for (let round = 0; round < 150; round++) {
      const nowMs = NOW + 100 * round;
      if (round === 0 || round % 2 === 1) { // a part each for all, every other round
        for (let part = 0; part < (round === 0 ? 60 : 6); part++) {
          const added = await queues[part % 3]!.add([entry(), entry()], nowMs);
          for (const { id } of added) addedAt.set(id, round);
        }
      }
      const leases = await Promise.all(queues.map((queue) => queue.lease([2], nowMs, [2])));
      if (round < 50) continue; // the jobs of the beginning are of one moment
      for (const { id } of leases.flat()) waits.push(round - addedAt.get(id)!);
    }

    waits.sort((a, b) => a - b);
    const [median, late] = [0.5, 0.99].map((share) => waits[Math.floor(share * waits.length)]!);
    assert.ok(late! <= median! + 20, `${late} rounds of 0.1 s, half of them ${median} at most`);
  });
});

Deno.test("a worker that waits gets a job of another member's part at once", async () => {
  await withMembers(2, async ({ queues }) => {
    for (let round = 0; round < 10; round++) {
      await addParts(queues[0]!, 1, 1);
      await until(() => queues[1]!.counts![0]!.ready > 0);
      assert.equal((await queues[1]!.lease([1], NOW + round)).length, 1);
    }
  });
});

Deno.test("a last attempt that is claimed for a worker that waits is among the first, though others are older", async () => {
  await withMembers(2, async ({ queues: [queue] }) => {
    await queue!.add([entry()], NOW);
    const [job] = await queue!.lease([1], NOW);
    await queue!.settle([end(job!, "retry", { dueAtMs: NOW + 10 })], NOW);
    await addParts(queue!, 11, 1);

    // Its own first, then the youngest of another's: with that, most likely, the last attempt.
    const jobs = await queue!.lease([12], NOW + 600, [1]);

    assert.ok(jobs.length >= 11);
    const last = jobs.findIndex(({ attempt }) => attempt === 2);
    assert.ok(last < 11, `of 11 that start it is the ${last + 1}th`);
    const others = jobs.filter(({ attempt }) => attempt === 1).map(({ id }) => id);
    assert.deepEqual(others, others.toSorted());
  }, { attempts: [2] });
});

Deno.test("a job that has expired ends once, though its lane is read again while it is claimed", async () => {
  await withMembers(1, async ({ server, stores, queues: [queue] }) => {
    const producer = await openQueue(stores[0]!); // which owns none, as it asks for none
    for (const member of [producer, queue!]) await member.renew(NOW);
    await producer.add([entry()], NOW);
    await producer.add([entry({ expiresAtMs: NOW + 50 })], NOW + 1);
    await queue!.lease([1], NOW + 2); // it has seen both
    await producer.add([entry({ dueAtMs: NOW + 60_000 })], NOW + 3);
    await until(() => queue!.counts![0]!.delayed === 1); // something has changed since

    assert.deepEqual(await queue!.lease([1], NOW + 100), []);

    const kv = await Deno.openKv(server.url);
    assert.deepEqual(await audit(kv, "p"), []);
    kv.close();
    const [lane] = await queue!.count(NOW + 100, true);
    assert.equal(lane!.ready, 0);
  });
});

Deno.test("whatever members believe of each other, each job is leased once and none is lost", async () => {
  await withMembers(3, async ({ stores, queues, server }) => {
    await addParts(queues[0]!, 60, 5);
    const late = await openQueue(stores[0]!); // the others do not know of it
    const all = [...queues, late];
    const ended = new Set<string>();
    for (let round = 0; ended.size < 300 && round < 200; round++) {
      const nowMs = NOW + round * 100;
      const leases = await Promise.all(
        all.map((queue, index) => queue.lease([7], nowMs, [index % 2 === 0 ? 3 : 0])),
      );
      for (const { id } of leases.flat()) {
        assert.ok(!ended.has(id), `${id} twice`);
        ended.add(id);
      }
      await Promise.all(
        leases.map((jobs, index) => all[index]!.settle(jobs.map((job) => end(job)), nowMs)),
      );
      if (round === 5) await queues[2]!.leave(nowMs); // its parts are the others'
      if (round === 5) all.splice(2, 1);
    }

    assert.equal(ended.size, 300);
    const kv = await Deno.openKv(server.url);
    assert.deepEqual(await audit(kv, "p"), []);
    kv.close();
  });
});
