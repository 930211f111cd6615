import assert from "node:assert/strict";
import { MemoryStore } from "../../../stores/memory/mod.ts";
import type { MemoryQueue } from "../../../stores/memory/queue.ts";
import type { JobEntry, Leased, QueueOptions, Settlement } from "../../../src/contract/store.ts";

const NOW = Date.UTC(2026, 0, 1);

function open(store: MemoryStore, options: Partial<QueueOptions> = {}): MemoryQueue {
  return store.open({
    pool: "p",
    lanes: [{ name: "a", maxRunningPerKey: Infinity }],
    leaseMs: 30_000,
    attempts: [3],
    keep: { done: 10, dead: 10, forMs: Infinity },
    random: () => 0.5,
    nowMs: NOW,
    listener: { wake() {}, cancelled() {}, ended() {} },
    ...options,
  });
}

function entry(given: Partial<JobEntry> = {}): JobEntry {
  return {
    lane: 0,
    type: "",
    payload: null,
    key: undefined,
    dueAtMs: 0,
    expiresAtMs: Infinity,
    dedupeKey: undefined,
    traceparent: undefined,
    ...given,
  };
}

function end(job: Leased, to: Settlement["to"] = "done"): Settlement {
  const rest = { dueAtMs: 0, result: undefined, reason: undefined, error: undefined };
  return { job, fence: job.fence, to, charged: true, ...rest };
}

Deno.test("MemoryQueue keeps the very payload and answers with the job itself", () => {
  const queue = open(new MemoryStore());
  const payload = { big: "value" };

  const [added] = queue.add([entry({ payload })], NOW);
  const [leased] = queue.lease([1], NOW);

  assert.equal(leased, added);
  assert.equal(leased!.payload, payload);
});

Deno.test("MemoryQueue shows a job to JSON and console as a plain record", () => {
  const queue = open(new MemoryStore());
  const [added] = queue.add([entry({ payload: 1, key: "k" })], NOW);

  assert.deepEqual(JSON.parse(JSON.stringify(added)), {
    id: added!.id,
    pool: "p",
    lane: "a",
    type: "",
    payload: 1,
    key: "k",
    createdAtMs: NOW,
    attempt: 0,
    state: "ready",
    dueAtMs: NOW,
    readyAtMs: NOW,
  });
  assert.match(Deno.inspect(added), /state: "ready"/);
  assert.doesNotMatch(Deno.inspect(added), /home|holder/);
});

Deno.test("MemoryQueue tells apart the ids of two pools and of two stores", () => {
  const store = new MemoryStore();
  const queues = [
    open(store),
    open(store, { pool: "other" }),
    open(new MemoryStore(), { random: () => 0.25 }),
    open(new MemoryStore(), { nowMs: NOW + 1 }),
  ];

  const ids = queues.map((queue) => queue.add([entry()], NOW)[0]!.id);

  assert.equal(new Set(ids).size, 4);
  assert.equal(queues[1]!.find(ids[0]!), undefined);
});

Deno.test("MemoryQueue gives the same jobs the same ids with the same chance and time", () => {
  const ids = [1, 2].map(() =>
    open(new MemoryStore()).add([entry(), entry()], NOW).map(({ id }) => id)
  );

  assert.deepEqual(ids[0], ids[1]);
});

Deno.test("MemoryQueue keeps a zombie's object as it was when its job went to another", () => {
  const store = new MemoryStore();
  const [zombie, other] = [open(store), open(store)];
  const [added] = zombie.add([entry()], NOW);
  const [lost] = zombie.lease([1], NOW);
  for (let beat = 1; beat <= 3; beat++) other.renew(NOW + beat * 10_000);

  const [again] = other.lease([1], NOW + 30_000);

  assert.notEqual(again, lost);
  assert.deepEqual([lost!.attempt, lost!.fence, again!.attempt, again!.fence], [1, 1, 2, 2]);
  assert.equal(again!.id, added!.id);
  assert.deepEqual(zombie.settle([end(lost!)], NOW), [false]);
});

Deno.test("MemoryQueue resolves an outcome asked of a zombie's object, before and after", async () => {
  const store = new MemoryStore();
  const [zombie, other] = [open(store), open(store)];
  const [added] = zombie.add([entry()], NOW);
  const before = zombie.outcome(added!);
  zombie.lease([1], NOW);
  for (let beat = 1; beat <= 3; beat++) other.renew(NOW + beat * 10_000);
  const after = zombie.outcome(added!);

  const [again] = other.lease([1], NOW + 30_000);
  other.settle([{ ...end(again!), result: 7 }], NOW + 30_000);

  assert.equal((await before).result, 7);
  assert.equal((await after).result, 7);
});

Deno.test("leave() forsakes only those who asked through the queue that leaves", async () => {
  const store = new MemoryStore();
  const [first, second, third] = [open(store), open(store), open(store)];
  const [added] = first.add([entry()], NOW);
  const asked = [first, second, third, first, second].map((queue) => queue.outcome(added!));

  first.leave(NOW);
  second.leave(NOW);
  third.settle(third.lease([1], NOW).map((job) => end(job)), NOW);

  const states = (await Promise.all(asked)).map(({ state }) => state);
  assert.deepEqual(states, ["unfinished", "unfinished", "done", "unfinished", "unfinished"]);
  assert.equal((await first.outcome(added!)).state, "done");
});

Deno.test("leave() ends the queue: it leases nothing, settles nothing and is not alive", async () => {
  const queue = open(new MemoryStore());
  const [added] = queue.add([entry()], NOW);
  const [held] = queue.lease([1], NOW);
  queue.leave(NOW);
  queue.leave(NOW);

  assert.deepEqual(queue.settle([end(held!)], NOW), [false]);
  assert.deepEqual(queue.lease([1], NOW), []);
  assert.deepEqual(queue.renew(NOW), {
    alive: false,
    peers: 0,
    reaped: 0,
    nextAtMs: Infinity,
  });
  assert.deepEqual(await queue.outcome(added!), { state: "unfinished" });
});

Deno.test("MemoryStore keeps a pool's jobs for the next who opens it", () => {
  const store = new MemoryStore();
  const first = open(store);
  first.add([entry({ payload: "waits" })], NOW);
  first.leave(NOW);

  const second = open(store, {
    lanes: [{ name: "new", maxRunningPerKey: 1 }, { name: "a", maxRunningPerKey: 1 }],
    attempts: [1, 1],
  });

  const [job] = second.lease([1, 1], NOW);
  assert.deepEqual([job!.payload, job!.lane, job!.laneIndex], ["waits", "a", 1]);
});

Deno.test("laneIndex is as the holder counts lanes, also while another counts differently", () => {
  const store = new MemoryStore();
  const old = open(store, {
    lanes: [{ name: "a", maxRunningPerKey: 1 }, { name: "b", maxRunningPerKey: 1 }],
  });
  old.add([entry({ lane: 1 })], NOW);
  const [job] = old.lease([1, 1], NOW);

  open(store, { lanes: [{ name: "b", maxRunningPerKey: 1 }] });

  assert.equal(job!.laneIndex, 1);
});

Deno.test("a lane that is opened with another key limit holds it for jobs that are there", () => {
  const store = new MemoryStore();
  const loose = open(store);
  for (let index = 0; index < 5; index++) loose.add([entry({ key: "k" })], NOW + index);
  const [running] = loose.lease([1], NOW + 5);

  const strict = open(store, { lanes: [{ name: "a", maxRunningPerKey: 2 }] });
  const count = (): number[] => {
    const [{ ready, blocked, running }] = strict.count(NOW + 9) as [
      ReturnType<typeof strict.count>[0],
    ];
    return [ready, blocked, running];
  };
  assert.deepEqual(count(), [1, 3, 1]);
  loose.settle([end(running!)], NOW + 9);
  assert.deepEqual(count(), [2, 2, 0]);
  open(store);
  assert.deepEqual(count(), [4, 0, 0]);
});

Deno.test("a lane whose key limit was lowered starts no job until enough have ended", () => {
  const store = new MemoryStore();
  const loose = open(store, { lanes: [{ name: "a", maxRunningPerKey: 2 }] });
  for (let index = 0; index < 3; index++) loose.add([entry({ key: "k" })], NOW);
  const [first, second] = loose.lease([2], NOW);

  const strict = open(store, { lanes: [{ name: "a", maxRunningPerKey: 1 }] });

  loose.settle([end(first!)], NOW);
  assert.deepEqual(strict.lease([1], NOW), []);
  loose.settle([end(second!)], NOW);
  assert.equal(strict.lease([1], NOW).length, 1);
});

Deno.test("a revived job outlives the record of its death", () => {
  const queue = open(new MemoryStore(), { keep: { done: 1, dead: 1, forMs: Infinity } });
  const [revived] = queue.add([entry()], NOW);
  queue.settle(queue.lease([1], NOW).map((job) => end(job, "dead")), NOW);
  queue.change(revived!.id, "revive", NOW);
  const [held] = queue.lease([1], NOW);

  queue.add([entry(), entry()], NOW);
  queue.settle(queue.lease([2], NOW).map((job) => end(job, "dead")), NOW);

  assert.equal(queue.find(revived!.id)?.state, "running");
  assert.deepEqual(queue.settle([end(held!)], NOW), [true]);
});

Deno.test("an expired owner of a dedupeKey gives way before it reaches the head", () => {
  const queue = open(new MemoryStore());
  queue.add([entry()], NOW);
  const [owner] = queue.add([entry({ dedupeKey: "d", expiresAtMs: NOW + 10 })], NOW);

  const [next] = queue.add([entry({ dedupeKey: "d" })], NOW + 10);

  assert.equal(next!.duplicate, false);
  assert.equal(queue.find(owner!.id)?.reason, "expired");
  assert.equal(queue.count(NOW + 10)[0]!.ready, 2);
});

Deno.test("revive gives an expired job the time to live that it had", () => {
  const queue = open(new MemoryStore());
  const [added] = queue.add([entry({ expiresAtMs: NOW + 10 })], NOW);
  queue.count(NOW + 10);

  assert.equal(queue.change(added!.id, "revive", NOW + 50).ok, true);

  assert.equal(queue.count(NOW + 59)[0]!.ready, 1);
  assert.equal(queue.count(NOW + 60)[0]!.ready, 0);
});

Deno.test("renew() spares a holder that was away together with the one who looks", () => {
  const store = new MemoryStore();
  const [one, other] = [open(store), open(store)];
  for (const queue of [one, other, one, other, one]) queue.renew(NOW);
  const anHour = NOW + 3_600_000;

  assert.deepEqual([one.renew(anHour).peers, other.renew(anHour).peers], [2, 2]);
  assert.deepEqual([one.renew(anHour + 10_000).alive, other.renew(anHour + 10_000).alive], [
    true,
    true,
  ]);
});

Deno.test("renew() asks to be called again only beside others", () => {
  const store = new MemoryStore();
  const one = open(store);
  assert.deepEqual(one.renew(NOW), {
    alive: true,
    peers: 1,
    reaped: 0,
    nextAtMs: Infinity,
  });

  const other = open(store);

  assert.equal(one.renew(NOW).nextAtMs, NOW + 10_000);
  assert.equal(other.renew(NOW).peers, 2);
});

Deno.test("close() leaves outcomes unfinished and forgets everything", async () => {
  const store = new MemoryStore();
  const queue = open(store);
  const outcome = queue.outcome(queue.add([entry()], NOW)[0]!);
  store.commit({}, { key: 1 });

  store.close();

  assert.deepEqual(await outcome, { state: "unfinished" });
  assert.equal(store.get("key"), undefined);
  assert.equal(open(store).count(NOW)[0]!.ready, 0);
});

Deno.test("commit() copies values in and freezes them", () => {
  const store = new MemoryStore();
  const value = { list: [1] };
  store.commit({}, { key: value });
  value.list.push(2);

  const kept = store.get("key")!.value as typeof value; // just set

  assert.deepEqual(kept, { list: [1] });
  assert.throws(() => kept.list.push(3), TypeError);
  assert.throws(() => store.commit({}, { first: 1, key: () => {} }));
  assert.equal(store.get("first"), undefined);
});

Deno.test("count() answers with the same live lanes each time", () => {
  const queue = open(new MemoryStore());
  const lanes = queue.count(NOW);

  queue.add([entry()], NOW);

  assert.equal(lanes[0]!.ready, 1);
  assert.equal(queue.count(NOW), lanes);
});

Deno.test("a retry that was judged by a clock that went ahead meanwhile and back is not late by as much", () => {
  const DAY = 86_400_000;
  const queue = open(new MemoryStore());
  queue.renew(NOW, NOW);
  queue.add([entry()], NOW);
  const [job] = queue.lease([1], NOW);
  queue.settle([{ ...end(job!, "retry"), dueAtMs: NOW + DAY + 500 }], NOW + DAY);
  queue.renew(NOW + DAY + 10, NOW + 10);

  queue.renew(NOW + 20, NOW + 20);

  assert.equal(queue.lease([1], NOW + 600).length, 1);
});
