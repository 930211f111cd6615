/**
 * What a store must hold that holds dedupe modes.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { JobEntry, Store } from "../contract/store.ts";
import { renewUntilAlone } from "./_store_dead_members.ts";
import {
  makeEntry,
  openTrial,
  SERIAL,
  START_MS,
  type StoreCheck,
  type StoreTrial,
} from "./_trial.ts";

const START: Partial<JobEntry> = { dedupeKey: "d", dedupe: { mode: "until-start" } };
const WINDOW: Partial<JobEntry> = { dedupeKey: "d", dedupe: { mode: "window", windowMs: 1000 } };
const REPLACE: Partial<JobEntry> = { dedupeKey: "d", dedupe: { mode: "replace" } };

/** One that waits for 100 ms, and for 250 ms at most. */
function debounced(trial: StoreTrial, payload: unknown): Partial<JobEntry> {
  const dueAtMs = trial.nowMs + 100;
  return { dedupeKey: "d", dedupe: { mode: "debounce", maxMs: 250 }, dueAtMs, payload };
}

/** `dedupe`: only of stores that hold it. */
export const dedupeChecks: readonly StoreCheck[] = [
  check(
    "until-start: a dedupeKey is free once its job is leased, also if that comes back",
    async (trial) => {
      for (const to of ["done", "dead", "retry", "back"] as const) {
        const first = await trial.add(START);
        assert.deepEqual(await ids(trial, START), [first.id, true], "it has not started");
        const held = await trial.leaseOne();
        const second = await trial.add(START);
        assert.deepEqual([second.duplicate, second.id === first.id], [false, false], "it has");
        await trial.settle(held, to);
        assert.deepEqual(await ids(trial, START), [second.id, true], `the first is ${to}`);
        for (const left of await trial.lease(9)) await trial.settle(left, "done");
      }
      assert.equal((await trial.add(START)).duplicate, false);
    },
  ),
  check("until-start: a job that ends unstarted leaves its dedupeKey free", async (trial) => {
    const cancelled = await trial.add(START);
    await trial.cancel(cancelled.id);
    const expiring = await trial.add({ ...START, expiresAtMs: trial.nowMs + 10 });
    assert.equal(expiring.duplicate, false);
    trial.nowMs += 10;

    const next = await trial.add(START);

    assert.equal(next.duplicate, false);
    assert.deepEqual(await ids(trial, START), [next.id, true]);
  }),
  check("until-start: a job of a dead member does not get its dedupeKey back", async (_, store) => {
    const [one, other] = [
      await openTrial(store, { pool: "p" }),
      await openTrial(store, { pool: "p" }),
    ];
    const first = await one.add(START);
    await one.leaseOne();
    const second = await other.add(START);
    assert.notEqual(second.id, first.id);
    await renewUntilAlone(other);

    const both = await other.lease(9);

    assert.deepEqual(both.map(({ id }) => id).sort(), [first.id, second.id].sort());
    for (const held of both) await other.settle(held, "done");
    assert.equal((await other.add(START)).duplicate, false);
  }),
  check(
    "until-start: a dead job lives again with its dedupeKey, unless that is another's",
    async (trial) => {
      const { id } = await trial.add(START);
      await trial.settle(await trial.leaseOne(), "dead");
      const other = await trial.add(START);
      const revive = async () => (await trial.queue.change(id, "revive", trial.nowMs)).ok;

      assert.equal(await revive(), false);
      await trial.cancel(other.id);
      assert.equal(await revive(), true);
      assert.deepEqual(await ids(trial, START), [id, true]);
      await trial.leaseOne();
      assert.equal((await trial.add(START)).duplicate, false);
    },
  ),
  check(
    "window: a dedupeKey is its job's for so long, whether that has ended or not",
    async (trial) => {
      const { id } = await trial.add(WINDOW);
      await trial.settle(await trial.leaseOne(), "done");
      trial.nowMs = START_MS + 999;
      await trial.count();
      assert.deepEqual(await ids(trial, WINDOW), [id, true], "it has ended");

      trial.nowMs = START_MS + 1000;
      await trial.count();
      const second = await trial.add(WINDOW);
      assert.equal(second.duplicate, false);
      trial.nowMs = START_MS + 2000;
      await trial.queue.renew(trial.nowMs);
      const third = await trial.add(WINDOW);
      assert.equal(third.duplicate, false, "the second one has not ended");
      await trial.settle(await trial.leaseOne(), "done");
      assert.deepEqual(await ids(trial, WINDOW), [third.id, true], "its end frees nothing");
    },
  ),
  check("window: a job that lives again takes no dedupeKey from another", async (trial) => {
    const { id } = await trial.add(WINDOW);
    await trial.settle(await trial.leaseOne(), "dead");
    trial.nowMs += 1000;
    const second = await trial.add(WINDOW);

    assert.equal((await trial.queue.change(id, "revive", trial.nowMs)).ok, true);

    assert.deepEqual(await ids(trial, WINDOW), [second.id, true]);
  }),
  check("replace: the latest payload runs, in the place of the first", async (trial) => {
    const { id } = await trial.add({ ...REPLACE, payload: 1 });
    await trial.add({ payload: "behind" });
    const more = { payload: 2, type: "t", traceparent: "trace", expiresAtMs: trial.nowMs + 5000 };
    trial.nowMs += 5;
    assert.deepEqual(await ids(trial, { ...REPLACE, ...more }), [id, true]);
    assert.deepEqual(await ids(trial, { ...REPLACE, lane: 1, key: "k", ...more, payload: 3 }), [
      id,
      true,
    ]);
    assert.equal((await trial.find(id)).payload, 3);

    const [held, behind] = await trial.lease(9);

    const { payload, type, traceparent, lane, key, createdAtMs } = held!.job;
    assert.deepEqual([payload, type, traceparent, lane, key], [3, "t", "trace", "high", undefined]);
    assert.deepEqual([createdAtMs, held!.id, behind?.job.payload], [START_MS, id, "behind"]);
    const next = await trial.add({ ...REPLACE, payload: 4 });
    assert.deepEqual([next.duplicate, (await trial.find(id)).payload], [false, 3], "it runs");
    await trial.settle(held!, "done");
    assert.equal((await trial.leaseOne()).job.payload, 4);
  }),
  check("replace: a job that waits for its time or its key stays where it is", async (trial) => {
    const free = await trial.add({ key: "k" });
    const entries = [
      { dedupeKey: "blocked", key: "k", payload: 1 },
      { dedupeKey: "delayed", dueAtMs: trial.nowMs + 1000, payload: 1 },
    ].map((entry) => ({ ...entry, dedupe: { mode: "replace" } as const }));
    for (const entry of entries) await trial.add(entry);
    const before = await trial.count();

    for (const { dedupeKey, dedupe } of entries) await trial.add({ dedupeKey, dedupe, payload: 2 });

    assert.deepEqual(await trial.count(), before);
    await trial.settle(await trial.leaseOne(), "done");
    assert.notEqual(free.id, "");
    assert.equal((await trial.leaseOne()).job.payload, 2);
    assert.deepEqual(await trial.lease(9), []);
    trial.nowMs += 1000;
    assert.equal((await trial.leaseOne()).job.payload, 2);
  }, SERIAL),
  check("replace: payloads of any size take each other's place", async (trial) => {
    const { id } = await trial.add({ ...REPLACE, payload: "first" });
    for (const size of [200_000, 0, 60_000, 10, 130_000]) {
      const payload = "x".repeat(size);
      assert.deepEqual(await ids(trial, { ...REPLACE, payload }), [id, true]);
      assert.equal((await trial.find(id)).payload, payload);
    }
    const held = await trial.leaseOne();
    assert.equal(held.job.payload, "x".repeat(130_000));
    await trial.settle(held, "done");
  }),
  check(
    "replace: of jobs that come together there is one, with the last payload",
    async (trial) => {
      const entries = Array.from({ length: 60 }, (_, payload) => ({ ...REPLACE, payload }));

      const added = await trial.queue.add(
        entries.map((entry) => makeEntry(trial.nowMs, entry)),
        trial.nowMs,
      );

      assert.deepEqual(
        added.map(({ duplicate }) => duplicate),
        entries.map((_, place) => place > 0),
      );
      assert.equal(new Set(added.map(({ id }) => id)).size, 1);
      const jobs = await trial.lease(99);
      assert.deepEqual(jobs.map(({ job }) => job.payload), [59]);
    },
  ),
  check("replace: what is sent again under an idempotency key replaces nothing", async (trial) => {
    const first = { ...REPLACE, payload: 1, idempotency: { key: "i", fingerprint: "a" } };
    const { id } = await trial.add(first);
    await trial.add({ ...REPLACE, payload: 2 });

    assert.deepEqual(await ids(trial, first), [id, true]);

    assert.equal((await trial.leaseOne()).job.payload, 2);
    assert.deepEqual(await ids(trial, first), [id, true], "its idempotency key is still its own");
  }),
  check("debounce: each repeat moves a delayed job on, up to a bound", async (trial) => {
    const { id } = await trial.add(debounced(trial, 0));
    const outcome = trial.queue.outcome({ id });
    for (const [atMs, dueMs] of [[60, 160], [120, 220], [200, 250], [249, 250]] as const) {
      trial.nowMs = START_MS + atMs;
      assert.deepEqual(await trial.lease(9), []);
      assert.deepEqual(await ids(trial, debounced(trial, atMs)), [id, true]);
      const { delayed, nextDueAtMs } = await trial.count();
      assert.deepEqual([delayed, nextDueAtMs], [1, START_MS + dueMs]);
    }
    trial.nowMs = START_MS + 250;
    assert.equal((await trial.count()).ready, 1);
    assert.deepEqual(await ids(trial, debounced(trial, "due")), [id, true]);

    const held = await trial.leaseOne();

    assert.deepEqual([held.id, held.job.payload, held.readyAtMs], [id, "due", START_MS + 250]);
    const next = await trial.add(debounced(trial, "next"));
    assert.equal(next.duplicate, false);
    await trial.settle(held, "done");
    assert.equal((await outcome).state, "done");
    assert.equal((await trial.count()).nextDueAtMs, START_MS + 350);
  }),
  check("duplicateOf() replaces a payload too, and stores no job", async (trial) => {
    const { queue } = trial;
    if (queue.duplicateOf === undefined) return;
    const of = async (payload: unknown) =>
      await queue.duplicateOf!(makeEntry(trial.nowMs, { ...REPLACE, payload }), trial.nowMs);
    assert.equal(await of(1), undefined);
    const { id } = await trial.add({ ...REPLACE, payload: 1 });
    const again = await of(2);
    assert.deepEqual([again?.id, again?.duplicate], [id, true]);
    assert.equal((await trial.leaseOne()).job.payload, 2);
    assert.equal(await of(3), undefined);
    assert.equal((await trial.count()).ready, 0);
  }),
];

/** A check on a trial. A store that does not hold dedupe modes passes. */
function check(
  name: string,
  run: (trial: StoreTrial, store: Store) => Promise<void>,
  options = {},
): StoreCheck {
  return {
    name,
    run: async (store) => {
      const trial = await openTrial(store, options);
      if (trial.queue.holdsDedupe === true) await run(trial, store);
    },
  };
}

async function ids(trial: StoreTrial, entry: Partial<JobEntry>): Promise<readonly unknown[]> {
  const { id, duplicate } = await trial.add(entry);
  return [id, duplicate];
}
