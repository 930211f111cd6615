import assert from "node:assert/strict";
import { Doctor } from "../../../../stores/deno_kv/doctor/doctor.ts";
import { Db } from "../../../../stores/deno_kv/io/db.ts";
import type { FaultKind } from "../../../../stores/deno_kv/doctor/inventory.ts";
import { KvStore } from "../../../../stores/deno_kv/store.ts";
import type { Queue } from "../../../../src/contract/store.ts";
import { end, entry, NOW, openQueue } from "../_store.ts";

const LANES = [{ name: "a", maxRunningPerKey: Infinity }, { name: "k", maxRunningPerKey: 1 }];
const LARGE = "x".repeat(70_000);

function storeOn(kv: Deno.Kv): KvStore {
  const db = new Db(kv, { remote: false, maxChecks: 100, random: () => 0.1 });
  return new KvStore(db, { file: undefined, remote: false, pollMs: Infinity, seen: 0 });
}

/** A database with jobs of all kinds that nobody works on. */
async function withDatabase(test: (kv: Deno.Kv, doctor: Doctor) => Promise<void>): Promise<void> {
  const kv = await Deno.openKv(":memory:");
  try {
    await kv.set(["sluice", "schema"], 1);
    const queue = await openQueue(storeOn(kv), { lanes: LANES, attempts: [9, 9] });
    await queue.add([1, 2, 3, 4].map((payload) => entry({ payload })), NOW);
    await queue.add([entry({ payload: "delayed", dueAtMs: NOW + 1000 })], NOW);
    await queue.add([1, 2].map((payload) => entry({ payload, lane: 1, key: "same" })), NOW);
    await queue.add([entry({ dedupeKey: "only" }), entry({ payload: LARGE })], NOW);
    const jobs = await queue.lease([3], NOW);
    await queue.settle([
      end(jobs[0]!, "retry", { dueAtMs: NOW + 500 }),
      end(jobs[1]!, "dead"),
      end(jobs[2]!),
    ], NOW);
    await queue.leave(NOW);
    await test(kv, new Doctor(kv));
  } finally {
    kv.close();
  }
}

/** Runs all that is left. How many jobs that were. */
async function drain(kv: Deno.Kv): Promise<number> {
  const queue = await openQueue(storeOn(kv), { lanes: LANES, attempts: [9, 9] });
  let ran = 0;
  for (let nowMs = NOW; nowMs < NOW + 5000; nowMs += 500) {
    await queue.count(nowMs);
    const jobs = await queue.lease([9, 9], nowMs);
    await queue.settle(jobs.map((job) => end(job)), nowMs);
    ran += jobs.length;
  }
  const left = await countLeft(queue);
  await queue.leave(NOW);
  assert.equal(left, 0, "nothing is stuck");
  return ran;
}

async function countLeft(queue: Queue): Promise<number> {
  const lanes = await queue.count(NOW + 5000);
  return lanes.reduce(
    (sum, lane) => sum + lane.ready + lane.blocked + lane.delayed + lane.running,
    0,
  );
}

/** The first key of a kind. */
async function keyOf(kv: Deno.Kv, ...parts: Deno.KvKeyPart[]): Promise<Deno.KvEntry<unknown>> {
  const prefix = ["sluice", "pool", "p", ...parts];
  const [first] = await Array.fromAsync(kv.list({ prefix }, { limit: 1 }));
  assert.ok(first !== undefined, `There is no key ${parts}`);
  return first;
}

async function copy(
  kv: Deno.Kv,
  from: Deno.KvEntry<unknown>,
  at: number,
  part: Deno.KvKeyPart,
): Promise<void> {
  await kv.set(from.key.with(at, part), from.value);
}

/** Ways to break a database: what is seen then, and how many of its jobs run after the repair. */
interface Breach {
  readonly kind: FaultKind;
  readonly saw: RegExp;
  readonly runs?: number;
  readonly repair?: false;
  break(kv: Deno.Kv): Promise<unknown>;
}

const JOBS = 7;
const P = ["sluice", "pool", "p"];

const BREACHES: Readonly<Record<string, Breach>> = {
  "a counter that is too high": {
    kind: "counter-wrong",
    saw: /^The counter of ready jobs of lane "a" is 3\d*, but there are 3$/,
    break: (kv) => kv.atomic().sum([...P, "c", 0, "r"], 30n).commit(),
  },
  "a counter below zero": {
    kind: "counter-wrong",
    saw: /^The counter of delayed jobs of lane "a" is -3, but there are 2$/,
    break: (kv) => kv.atomic().sum([...P, "c", 0, "z"], 2n ** 64n - 5n).commit(),
  },
  "a counter of kept jobs": {
    kind: "counter-wrong",
    saw: /^The counter of kept dead jobs is 8, but there are 1$/,
    break: (kv) => kv.atomic().sum([...P, "c", -1, "x"], 7n).commit(),
  },
  "places that nobody has": {
    kind: "places-wrong",
    saw: /^Slots of the key "other" in lane "k" are taken by no job$/,
    break: (kv) => kv.set([...P, "k", 1, "other"], [1, 0]),
  },
  "places miscounted": {
    kind: "places-wrong",
    saw: /^The key "same" of lane "k" has 5 slots taken and 0 jobs waiting, but there are 1 and 1$/,
    break: (kv) => kv.set([...P, "k", 1, "same"], [5, 0]),
  },
  "a dedupeKey whose owner is gone": {
    kind: "dedupe-stale",
    saw: /^The dedupeKey "gone" belongs to some-job, which is no job with that key$/,
    break: (kv) => kv.set([...P, "i", "gone"], ["some-job", 0]),
  },
  "a dedupeKey that was lost": {
    kind: "dedupe-lost",
    saw: /^The job \S+ has the dedupeKey "only", which is free for others$/,
    break: (kv) => kv.delete([...P, "i", "only"]),
  },
  "a pointer to no job": {
    kind: "pointer-stale",
    saw: /^A pointer names the job nowhere\/3, which does not exist$/,
    break: (kv) => kv.set([...P, "m", "nowhere", 3], ["z", 1, ""]),
  },
  "a pointer that was lost": {
    kind: "pointer-lost",
    saw: /^The job \S+ has moved, and no pointer says where it is$/,
    break: async (kv) => await kv.delete((await keyOf(kv, "m")).key),
  },
  "a part of a payload without a job": {
    kind: "left-over",
    saw: /^Payload chunk 1 belongs to no job \(nowhere\/0\)$/,
    break: (kv) => kv.set([...P, "b", "0009", "nowhere", 0, 0], new Uint8Array(9)),
  },
  "a payload that is not whole": {
    kind: "chunks-lost",
    saw: /^1 of 2 payload chunks of the job \S+ are missing$/,
    runs: JOBS - 1,
    break: async (kv) => await kv.delete((await keyOf(kv, "b")).key),
  },
  "progress of no lease": {
    kind: "left-over",
    saw: /^Member 7 has progress for a lease that it does not hold$/,
    break: (kv) => kv.set([...P, "p", 7, "nowhere", 1], new Uint8Array([1])),
  },
  "a member without a heartbeat": {
    kind: "member-broken",
    saw: /^Member 7 has no heartbeat, so others cannot detect its death$/,
    break: (kv) => kv.set([...P, "w", 7], 1),
  },
  "requests to cancel jobs of nobody": {
    kind: "left-over",
    saw: /^Left-over cancel request of dead member 7$/,
    break: (kv) => kv.set([...P, "y", 7], [["nowhere", 0]]),
  },
  "a heartbeat without a fence": {
    kind: "left-over",
    saw: /^Left-over heartbeat of dead member 7$/,
    break: (kv) => kv.set([...P, "h", 7], { leaseMs: 1000 }),
  },
  "a job that stands twice": {
    kind: "job-twice",
    saw: /^The job \S+ is stored twice: among ready jobs and among ready jobs$/,
    break: async (kv) => {
      const part = await keyOf(kv, "r", 0);
      await copy(kv, part, 8, Number(part.key[8]) + 1);
    },
  },
  "a schedule that is done up to a time to come": {
    kind: "schedule-ahead",
    saw: /^A schedule is marked done up to 2100-01-01T00:00:00.000Z, by a clock that was ahead$/,
    break: (kv) => kv.set(["sluice", "state", "schedule/p/1abc"], { atMs: Date.UTC(2100, 0, 1) }),
  },
  "an entry that is not ours": {
    kind: "unreadable",
    saw: /^The entry \["r",0,1,"broken",0,0\] cannot be read$/,
    break: (kv) => kv.set([...P, "r", 0, 1, "broken", 0, 0], "no bytes"),
  },
  "jobs that were overwritten": {
    kind: "unreadable",
    saw: /^The entry \["z",0,.*\] cannot be read$/,
    runs: JOBS - 1,
    break: async (kv) => await kv.set((await keyOf(kv, "z", 0)).key, new TextEncoder().encode("{")),
  },
};

Deno.test("Doctor finds nothing amiss in a database that is sound", async () => {
  await withDatabase(async (kv, doctor) => {
    assert.deepEqual(await doctor.contents(), { pools: ["p"], jobs: JOBS });
    assert.deepEqual(await doctor.worked(() => assert.fail("there is nobody to watch")), []);
    assert.deepEqual(await doctor.faults(), []);
    assert.deepEqual(await doctor.repair(NOW), []);
    assert.equal(await drain(kv), JOBS);
  });
});

for (const [name, breach] of Object.entries(BREACHES)) {
  Deno.test(`Doctor finds ${name}, and repairs it`, async () => {
    await withDatabase(async (kv, doctor) => {
      await breach.break(kv);

      const found = await doctor.faults();
      const left = await doctor.repair(NOW);

      const fault = found.find(({ kind }) => kind === breach.kind);
      assert.ok(fault !== undefined, `It found only ${Deno.inspect(found)}`);
      assert.match(fault.saw, breach.saw);
      assert.equal(fault.pool, "p");
      assert.equal(fault.repair === undefined, breach.repair === false);
      assert.deepEqual(left.map(({ kind }) => kind), breach.repair === false ? [breach.kind] : []);
      if (breach.repair !== false) assert.equal(await drain(kv), breach.runs ?? JOBS);
    });
  });
}

Deno.test("Doctor takes back what processes hold that are gone, and charges the attempt", async () => {
  await withDatabase(async (kv, doctor) => {
    const zombie = await openQueue(storeOn(kv), { lanes: LANES, attempts: [9, 9], leaseMs: 1000 });
    const held = await zombie.lease([2, 1], NOW);
    assert.equal(held.length, 3);
    assert.deepEqual(await doctor.faults(), [], "a process that was killed is nothing amiss");
    const watched: number[] = [];
    assert.deepEqual(await doctor.worked((ms) => watched.push(ms)), []);
    assert.deepEqual(watched, [600]);
    await kv.delete([...P, "w", held[0]!.key === undefined ? 2 : 2]);
    const orphaned = await doctor.faults();
    assert.ok(orphaned.some(({ kind }) => kind === "lease-orphaned"));
    assert.match(
      orphaned.map(({ saw }) => saw).join("\n"),
      /Member 2 holds a lease although it was declared dead/,
    );

    assert.deepEqual(await doctor.repair(NOW), []);

    assert.deepEqual(await zombie.settle(held.map((job) => end(job)), NOW), [false, false, false]);
    assert.equal(await drain(kv), JOBS);
  });
});

Deno.test("Doctor sees that a process works on the database, by its heartbeat or by what it commits", async () => {
  await withDatabase(async (kv, doctor) => {
    const queue = await openQueue(storeOn(kv), { lanes: LANES, leaseMs: 1000 });
    const beating = doctor.worked(() => void queue.renew(NOW));
    assert.deepEqual(await beating, ["p"]);
    const adding = doctor.worked(() => void queue.add([entry()], NOW));
    assert.deepEqual(await adding, ["p"]);
    const silent = doctor.worked(() => {});
    assert.deepEqual(await silent, []);
  });
});

Deno.test("Doctor refuses a database of a newer release, and one that is not Sluice's", async () => {
  await withDatabase(async (kv, doctor) => {
    await kv.set(["sluice", "schema"], 2);
    await assert.rejects(doctor.contents(), {
      name: "RangeError",
      message:
        "Expected a database of version 1 at most but received 2: a newer release of Sluice has " +
        "written it: use the doctor of that release",
    });
    await kv.delete(["sluice", "schema"]);
    await assert.rejects(doctor.contents(), {
      name: "RangeError",
      message: "Sluice has never written to this database",
    });
  });
});
