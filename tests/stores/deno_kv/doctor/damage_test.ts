import assert from "node:assert/strict";
import { audit } from "../../../../stores/deno_kv/doctor/audit.ts";
import { Doctor } from "../../../../stores/deno_kv/doctor/doctor.ts";
import { Db } from "../../../../stores/deno_kv/io/db.ts";
import { checkSchema } from "../../../../stores/deno_kv/io/open.ts";
import { KvStore } from "../../../../stores/deno_kv/store.ts";
import type { JobRecord } from "../../../../src/contract/job.ts";
import type { Queue, QueueOptions } from "../../../../src/contract/store.ts";
import { end, entry, NOW, openQueue } from "../_store.ts";

const LANES = [{ name: "a", maxRunningPerKey: Infinity }, { name: "k", maxRunningPerKey: 1 }];
const P = ["sluice", "pool", "p"];
const LEASE_MS = 1000;

/** A payload of three parts, no two of which are alike. */
const LARGE = Array.from({ length: 22_000 }, (_, n) => 100_000 + n);

async function openOn(kv: Deno.Kv, options: Partial<QueueOptions> = {}): Promise<Queue> {
  const db = new Db(kv, { remote: false, maxChecks: 100, random: () => 0.1 });
  await checkSchema(db);
  const store = new KvStore(db, { file: undefined, remote: false, pollMs: Infinity, seen: 0 });
  const keep = { done: 100, dead: 100, forMs: Infinity };
  return await openQueue(store, {
    lanes: LANES,
    attempts: [9, 9],
    keep,
    leaseMs: LEASE_MS,
    ...options,
  });
}

/** A database that has each kind of key. The holder of its leases was killed. */
async function fill(kv: Deno.Kv): Promise<void> {
  const queue = await openOn(kv);
  await queue.add(Array.from({ length: 12 }, (_, n) => entry({ payload: `plain ${n}` })), NOW);
  await queue.add([entry({ payload: LARGE })], NOW + 1);
  await queue.add([entry({ payload: "later", dueAtMs: NOW + 2000 })], NOW + 1);
  await queue.add([entry({ payload: "owner", dedupeKey: "only" })], NOW + 1);
  for (const payload of ["first", "second", "third"]) {
    await queue.add([entry({ payload: `keyed ${payload}`, lane: 1, key: "same" })], NOW + 1);
  }
  const [done, dead, retried, cancelled, ...rest] = await queue.lease([6, 0], NOW + 2);
  assert.equal(rest.length, 2);
  await queue.settle([
    end(done!, "done", { result: { of: 1 } }),
    end(dead!, "dead", { reason: "fatal", error: "no" }),
    end(retried!, "retry", { dueAtMs: NOW + 1500 }),
  ], NOW + 3);
  await queue.change(cancelled!.id, "cancel", NOW + 3);
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** What is made of a value. `undefined`: it is deleted. */
const DAMAGES: Readonly<Record<string, (value: unknown) => unknown>> = {
  deleted: () => undefined,
  "no more than a null": () => null,
  "a text": () => "not what it was",
  "a number": () => -7,
  "a list of odd things": () => [null, { a: 1 }, "b", -1],
  "an object": () => ({ leaseMs: "soon", next: [], process: 5 }),
  "no bytes": () => new Uint8Array(),
  "half of it": (value) => value instanceof Uint8Array ? value.slice(0, value.length >> 1) : [],
  "all but its last byte": (value) => value instanceof Uint8Array ? value.slice(0, -1) : [0],
  "other JSON": () => bytes('{"not":"a line"}\n[1]\n["x",2,null]\n[0,0,null,{"k":5}]'),
  "no JSON": () => bytes("[0,0,\n\n[[\n\u0000"),
  "a record of another": () =>
    bytes('["mjuohs0000010000-0.999","dead",1,null,0,1,[0,0,"no"],null,null]'),
};

/** Kinds of keys: those with which each begins, and what they are. */
const KINDS: Readonly<Record<string, Deno.KvKey>> = {
  version: ["sluice", "schema"],
  "mark of pointers": ["sluice", "schema", "pointers"],
  signal: ["sluice", "signal"],
  "latest worker": ["sluice", "workers"],
  "names of lanes": [...P, "lanes"],
  "ready jobs": [...P, "r", 0],
  "keyed ready jobs": [...P, "r", 1],
  "delayed jobs": [...P, "z"],
  "blocked jobs": [...P, "q"],
  places: [...P, "k"],
  lease: [...P, "l"],
  progress: [...P, "p"],
  fence: [...P, "w"],
  heartbeat: [...P, "h"],
  "requests to cancel": [...P, "y"],
  "counter of ready jobs": [...P, "c", 0, "r"],
  "counter of leases": [...P, "c", 0, "l"],
  "counter of delayed jobs": [...P, "c", 0, "z"],
  "counter of blocked jobs": [...P, "c", 1, "q"],
  "counter of done jobs": [...P, "c", -1, "d"],
  "counter of dead jobs": [...P, "c", -1, "x"],
  pointer: [...P, "m"],
  "dedupe key": [...P, "i"],
  "done jobs": [...P, "d"],
  "dead job": [...P, "x"],
  "part of a payload": [...P, "b"],
};

/** What the pages say can be lost with them: no job that is not among them may be. */
const HOLDS_JOBS = ["ready jobs", "keyed ready jobs", "delayed jobs", "blocked jobs", "lease"];

/** All keys that a kind has, the version without the mark below it. */
async function keysOf(kv: Deno.Kv, start: Deno.KvKey): Promise<Deno.KvEntry<unknown>[]> {
  const whole = await kv.get(start);
  if (whole.versionstamp !== null) return [whole];
  return await Array.fromAsync(kv.list({ prefix: start }));
}

async function damage(kv: Deno.Kv, key: Deno.KvKey, value: unknown): Promise<void> {
  if (value === undefined) await kv.delete(key);
  else await kv.set(key, value);
}

/** Runs all that can be run. What ran. */
async function runAll(kv: Deno.Kv, isPointed: boolean): Promise<unknown[]> {
  const queue = await openOn(kv);
  const ran: unknown[] = [];
  for (let nowMs = NOW + 10; nowMs < NOW + 12_000; nowMs += 500) {
    await queue.renew(nowMs);
    await queue.count(nowMs);
    const jobs = await queue.lease([9, 9], nowMs);
    assert.ok((await queue.settle(jobs.map((job) => end(job)), nowMs)).every((ok) => ok));
    ran.push(...jobs.map(({ payload }) => payload));
    if (nowMs < NOW + 1000) {
      await queue.add(
        [entry({ payload: "new" }), entry({ payload: "new", lane: 1, key: "new" })],
        nowMs,
      );
      await queue.add([entry({ payload: "owner", dedupeKey: "only" })], nowMs);
    }
  }
  await look(queue, isPointed);
  await queue.leave(NOW + 12_000);
  return ran;
}

/** Does to each job that is listed all that can be done to it. */
async function look(queue: Queue, isPointed: boolean): Promise<void> {
  const nowMs = NOW + 12_000;
  const all = (await queue.list({ limit: 500 })).jobs;
  const placeOf = (id: string): string => id.split(".").slice(0, 2).join(".");
  // What is damaged may be another's record by now, or an ended job run again: then both have one place.
  const isAlone = ({ id }: JobRecord): boolean =>
    isPointed && all.filter((other) => placeOf(other.id) === placeOf(id)).length === 1;
  const found = new Map<string, JobRecord | undefined>(); // each once: some are large
  for (const order of [undefined, "latest-end"] as const) {
    for (const state of [undefined, "done", "dead", "cancelled"] as const) {
      const { jobs } = await queue.list({ limit: 500, order, state });
      for (const job of jobs) {
        if (!found.has(job.id)) found.set(job.id, await queue.find(job.id));
        if (isAlone(job)) assert.equal(found.get(job.id)?.state, job.state, `find ${job.id}`);
      }
    }
  }
  for (const job of all.filter(isAlone)) {
    const { id, state } = job;
    assert.equal(
      (await queue.change(id, "cancel", nowMs)).state,
      state,
      `cancel ${id}`,
    );
    if (state !== "dead" || job.dedupeKey !== undefined) continue;
    assert.deepEqual(await queue.change(id, "revive", nowMs), { ok: true, state: "ready" }, id);
  }
  await queue.settle((await queue.lease([99, 99], nowMs)).map((job) => end(job)), nowMs);
  for (const job of all.filter(isAlone)) {
    const removed = await queue.change(job.id, "remove", nowMs);
    assert.deepEqual(
      removed,
      { ok: true, state: "removed" },
      `remove ${job.id}`,
    );
  }
}

const SOUND: readonly unknown[] = [
  ...Array.from({ length: 12 }, (_, n) => `plain ${n}`).filter((_, n) =>
    n !== 0 && n !== 1 && n !== 3
  ),
  LARGE,
  "later",
  "owner",
  "keyed first",
  "keyed second",
  "keyed third",
];

const nameOf = (payload: unknown): string => payload === undefined ? "" : JSON.stringify(payload);
const WHOLE = new Set(
  [...SOUND, "plain 0", "plain 1", "plain 3", "new"].map(nameOf),
);

for (const [kind, start] of Object.entries(KINDS)) {
  Deno.test(`deno-kv runs all other jobs, and its doctor finds and repairs it, when damaged is: ${kind}`, async () => {
    for (const [how, change] of Object.entries(DAMAGES)) {
      const kv = await Deno.openKv(":memory:");
      try {
        await fill(kv);
        const entries = await keysOf(kv, start);
        assert.ok(entries.length > 0, `there is no ${kind}`);
        const lostJobs = HOLDS_JOBS.includes(kind);
        const saw = `${kind} became ${how}`;
        for (const { key, value } of entries) await damage(kv, key, change(value));
        const doctor = new Doctor(kv);
        const found = await doctor.faults();
        const isHarmless = how === "deleted" ||
          (kind === "requests to cancel" && how.startsWith("half")) ||
          (kind === "requests to cancel" && how.startsWith("all but")) || kind === "fence" ||
          kind === "mark of pointers" ||
          kind === "names of lanes" ||
          (kind === "version" && how === "a number") ||
          (kind === "progress" && change(bytes("ab")) instanceof Uint8Array);
        if (!isHarmless) assert.ok(found.length > 0, `${saw}: the doctor saw nothing`);
        if (
          kind === "version" && !(how === "deleted" || how === "a number" || how.includes("null"))
        ) {
          await doctor.repair(NOW + 5); // no process opens a database of which it does not know the version
        }

        const ran = await runAll(
          kv,
          kind !== "progress" && !(kind === "pointer" && how === "deleted"),
        ).catch((thrown) => {
          throw new Error(`${saw}: ${thrown}`, { cause: thrown });
        });

        const names = ran.map(nameOf);
        for (const name of names) {
          assert.ok(WHOLE.has(name), `${saw}: a handler ran with ${name.slice(0, 80)}`);
        }
        if (!lostJobs) {
          for (const payload of SOUND) {
            const mayBeLost = payload === LARGE && kind === "part of a payload";
            assert.ok(
              mayBeLost || names.includes(nameOf(payload)),
              `${saw}: ${nameOf(payload).slice(0, 40)} did not run`,
            );
          }
        }
        const left = await doctor.repair(NOW + 12_000);
        assert.deepEqual(left.map((fault) => fault.saw), [], `${saw}: cannot be repaired`);
        assert.deepEqual(await audit(kv, "p"), []);
      } finally {
        kv.close();
      }
    }
  });
}

/** What is done to the parts of one payload. */
const PARTS: Readonly<
  Record<string, (kv: Deno.Kv, parts: readonly Deno.KvEntry<unknown>[]) => Promise<unknown>>
> = {
  "the first is missing": (kv, [first]) => kv.delete(first!.key),
  "one in between is missing": (kv, parts) => kv.delete(parts[1]!.key),
  "the last is missing": (kv, parts) => kv.delete(parts.at(-1)!.key),
  "one in between is cut": (kv, parts) =>
    kv.set(parts[1]!.key, (parts[1]!.value as Uint8Array).slice(0, -7)),
  "the last is cut": (kv, parts) =>
    kv.set(parts.at(-1)!.key, (parts.at(-1)!.value as Uint8Array).slice(0, -7)),
  "one stands in place of another": (kv, parts) => kv.set(parts[1]!.key, parts[0]!.value),
  "one is a text": (kv, parts) => kv.set(parts[1]!.key, "1,2,3"),
};

for (const [how, breaks] of Object.entries(PARTS)) {
  Deno.test(`deno-kv ends a job dead with reason payload, and no other, when of its parts ${how}`, async () => {
    const kv = await Deno.openKv(":memory:");
    const ended: JobRecord[] = [];
    const listener = {
      wake() {},
      cancelled() {},
      ended: (record: JobRecord) => void ended.push(record),
    };
    const queue = await openOn(kv, { listener });
    const [large] = await queue.add([entry({ payload: LARGE })], NOW);
    await queue.add([entry({ payload: "other" })], NOW);
    const id = large!.id;
    await breaks(kv, await Array.fromAsync(kv.list({ prefix: [...P, "b"] })));
    const outcome = queue.outcome({ id });
    assert.equal((await queue.find(id))?.state, "ready");
    assert.deepEqual((await queue.list({ limit: 9 })).jobs.map((job) => job.state), [
      "ready",
      "ready",
    ]);

    const jobs = await queue.lease([9], NOW);

    assert.deepEqual(jobs.map(({ payload }) => payload), ["other"]);
    assert.equal((await outcome).state, "dead");
    assert.deepEqual(ended.map((record) => [record.id, record.reason]), [[id, "payload"]]);
    assert.match(
      ended[0]!.error!,
      /payload .*: it was damaged in the database, so no handler has run with it$/,
    );
    assert.equal((await queue.find(id))?.reason, "payload");
    assert.deepEqual(await queue.change(id, "revive", NOW), { ok: true, state: "ready" });
    assert.deepEqual(await queue.lease([9], NOW), []);
    assert.deepEqual(await queue.change(id, "cancel", NOW), { ok: false, state: "dead" });
    assert.equal((await queue.list({ limit: 9, state: "dead" })).jobs.length, 1);
    assert.deepEqual(await queue.change(id, "remove", NOW), { ok: true, state: "removed" });
    await queue.settle(jobs.map((job) => end(job)), NOW);
    await queue.leave(NOW);
    await new Doctor(kv).repair(NOW); // what is more than the parts that it should have
    assert.deepEqual(await audit(kv, "p"), []);
    kv.close();
  });
}

Deno.test("deno-kv runs a job of which a part is stored twice over with the payload that was given", async () => {
  const kv = await Deno.openKv(":memory:");
  const queue = await openOn(kv);
  await queue.add([entry({ payload: LARGE })], NOW);
  const [part] = await Array.fromAsync(kv.list({ prefix: [...P, "b"] }));
  await kv.set(part!.key.with(7, 9), part!.value);

  const [job] = await queue.lease([9], NOW);

  assert.deepEqual(job?.payload, LARGE);
  await queue.leave(NOW);
  assert.match((await audit(kv, "p")).join(), /^Payload chunk 10 belongs to/);
  kv.close();
});

Deno.test("deno-kv runs a large job that an earlier release has stored, which has no checksum", async () => {
  const kv = await Deno.openKv(":memory:");
  const queue = await openOn(kv);
  await queue.add([entry({ payload: LARGE })], NOW);
  const [ready] = await Array.fromAsync(kv.list<Uint8Array>({ prefix: [...P, "r"] }));
  const text = new TextDecoder().decode(ready!.value).replace(/"c":\d+,?/, "");
  await kv.set(ready!.key, bytes(text));
  await queue.leave(NOW);

  const [job] = await (await openOn(kv)).lease([9], NOW);

  assert.deepEqual(job?.payload, LARGE);
  kv.close();
});

Deno.test("deno-kv takes back the leases of a killed process though the number of the latest worker is lost", async () => {
  for (const number of [undefined, 0, "1", null]) {
    const kv = await Deno.openKv(":memory:");
    const killed = await openOn(kv);
    await killed.add([entry({ payload: 1 })], NOW);
    assert.equal((await killed.lease([1], NOW)).length, 1);
    await damage(kv, ["sluice", "workers"], number);

    const ran = await runAll(kv, false);

    assert.ok(ran.includes(1), `${number}`);
    kv.close();
  }
});
