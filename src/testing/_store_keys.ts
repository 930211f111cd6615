/**
 * What a store must hold: limits by key, duplicates and preconditions.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { JobState } from "../contract/job.ts";
import type { JobEntry } from "../contract/store.ts";
import { endOf, openTrial, SERIAL, type StoreCheck } from "./_trial.ts";

/** `maxRunningPerKey`, `dedupeKey` and `precondition`. */
export const keyChecks: readonly StoreCheck[] = [
  {
    name: "no more jobs of a key run than its lane allows, however many are wanted",
    run: async (store) => {
      const one = await openTrial(store, SERIAL);
      const other = await openTrial(store, SERIAL);
      for (let payload = 0; payload < 12; payload++) await one.add({ key: "k", payload });
      const order: unknown[] = [];

      for (;;) {
        const held = await one.lease(8);
        assert.ok(held.length <= 1, `${held.length} jobs of one key run together`);
        assert.deepEqual(await other.lease(8), []);
        if (held.length === 0) break;
        order.push(held[0]!.job.payload);
        await one.settle(held[0]!, "done");
      }

      assert.deepEqual(order, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    },
  },
  {
    name:
      "jobs held by a key limit are blocked: neither ready nor of any age, and known since when",
    run: async (store) => {
      const trial = await openTrial(store, SERIAL);
      const dueAtMs = trial.nowMs;
      for (let index = 0; index < 5; index++) await trial.add({ key: "k" });
      const held = await trial.leaseOne();
      trial.nowMs += 60_000;

      const blocked = await trial.count();
      assert.deepEqual([blocked.ready, blocked.blocked, blocked.running], [0, 4, 1]);
      assert.equal(blocked.oldestReadyAtMs, Infinity);
      assert.equal(blocked.oldestBlockedAtMs ?? dueAtMs, dueAtMs, "the oldest blocked job");

      await trial.settle(held, "done");
      const freed = await trial.count();
      assert.deepEqual([freed.ready, freed.blocked, freed.oldestReadyAtMs], [1, 3, trial.nowMs]);
      const { readyAtMs, job } = await trial.leaseOne();
      assert.equal(readyAtMs, trial.nowMs);
      assert.equal(job.dueAtMs ?? dueAtMs, dueAtMs, "a key limit moves no job's due time");
      assert.equal(job.firstReadyAtMs ?? dueAtMs, dueAtMs, "nor its deadline");
      const record = await trial.find(job.id);
      if (record.readyAtMs !== undefined) {
        assert.deepEqual([record.dueAtMs, record.readyAtMs], [dueAtMs, trial.nowMs]);
      }
    },
  },
  {
    name: "a job that waits for its key is blocked: looked up, listed, and once it is revived",
    run: async (store) => {
      const trial = await openTrial(store, SERIAL);
      const dead = await trial.add({ key: "k" });
      await trial.settle(await trial.leaseOne(), "dead");
      const first = await trial.add({ key: "k" });
      const second = await trial.add({ key: "k" });
      const ids = async (state: JobState): Promise<readonly string[]> => {
        const { jobs } = await trial.queue.list({ state, limit: 9 });
        assert.ok(jobs.every((job) => job.state === state));
        return jobs.map(({ id }) => id).sort();
      };

      const revived = await trial.queue.change(dead.id, "revive", trial.nowMs);

      assert.deepEqual(revived, { ok: true, state: "blocked" });
      assert.equal((await trial.find(first.id)).state, "ready");
      assert.deepEqual(await ids("ready"), [first.id]);
      for (const { id } of [dead, second]) {
        assert.equal((await trial.find(id)).state, "blocked");
        assert.deepEqual(await trial.queue.change(id, "remove", trial.nowMs), {
          ok: false,
          state: "blocked",
        });
      }
      assert.deepEqual(await ids("blocked"), [dead.id, second.id].sort());

      await trial.settle(await trial.leaseOne(), "done");
      assert.equal((await ids("ready")).length, 1, "its key is free: the next is ready");
      assert.equal((await ids("blocked")).length, 1);
    },
  },
  {
    name: "a blocked key holds no other key up, and jobs without a key pass",
    run: async (store) => {
      const trial = await openTrial(store, SERIAL);
      for (let index = 0; index < 50; index++) await trial.add({ key: "x", payload: "x" });
      await trial.add({ key: "y", payload: "y" });
      await trial.add({ payload: "none" });

      const held = await trial.lease(9);

      assert.deepEqual(held.map(({ job }) => job.payload), ["x", "y", "none"]);
    },
  },
  {
    name: "a key's slot is freed by retry and cancel, and kept by a hand-back",
    run: async (store) => {
      const trial = await openTrial(store, SERIAL);
      const [a, b, c] = [
        await trial.add({ key: "k" }),
        await trial.add({ key: "k" }),
        await trial.add({ key: "k" }),
      ];
      const back = await trial.leaseOne();
      await trial.settle(back, "back");
      assert.equal((await trial.count()).blocked, 2);

      const first = await trial.leaseOne();
      assert.equal(first.id, a.id);
      await trial.settle(first, "retry", { dueAtMs: trial.nowMs + 1000 });
      assert.equal((await trial.cancel(b.id)).ok, true);
      assert.equal((await trial.leaseOne()).id, c.id);

      trial.nowMs += 1000;
      const counts = await trial.count();
      assert.deepEqual([counts.ready, counts.blocked, counts.running], [0, 1, 1]);
    },
  },
  {
    name: "a key's slot is freed when its member leaves or its job expires",
    run: async (store) => {
      const one = await openTrial(store, SERIAL);
      const other = await openTrial(store, SERIAL);
      const expiresAtMs = one.nowMs + 100;
      const { id } = await one.add({ key: "k", expiresAtMs });
      await one.add({ key: "k", expiresAtMs });
      const last = await one.add({ key: "k" });
      await one.leaseOne();
      await one.queue.leave(one.nowMs);
      assert.equal((await other.count()).ready, 1);

      other.nowMs = expiresAtMs;

      assert.deepEqual((await other.lease(3)).map((held) => held.id), [last.id]);
      assert.equal((await other.find(id)).reason, "expired");
      assert.equal((await other.count()).blocked, 0);
    },
  },
  {
    name: "a duplicate is not stored but answered with the owner of its dedupeKey",
    run: async (store) => {
      const trial = await openTrial(store);
      const owner = await trial.add({ dedupeKey: "d" });
      const duplicate = await trial.add({ dedupeKey: "d", lane: 1 });

      assert.deepEqual([owner.duplicate, duplicate.duplicate], [false, true]);
      assert.equal(duplicate.id, owner.id);
      assert.equal((await trial.count(1)).ready, 0);
      const outcome = trial.queue.outcome(duplicate);
      await trial.settle(await trial.leaseOne(), "done", { result: 1 });
      assert.equal((await endOf(outcome)).result, 1);
    },
  },
  {
    name: "a dedupeKey is its owner's through a retry, and free once the owner has ended",
    run: async (store) => {
      const trial = await openTrial(store);
      const { id } = await trial.add({ dedupeKey: "d" });
      await trial.settle(await trial.leaseOne(), "retry");
      assert.equal((await trial.add({ dedupeKey: "d" })).id, id);
      const held = await trial.leaseOne();
      assert.equal((await trial.add({ dedupeKey: "d" })).id, id);

      await trial.settle(held, "dead");

      const next = await trial.add({ dedupeKey: "d" });
      assert.equal(next.duplicate, false);
      assert.deepEqual(await trial.queue.change(id, "revive", trial.nowMs), {
        ok: false,
        state: "dead",
      });
      assert.equal((await trial.cancel(next.id)).ok, true);
      assert.equal((await trial.add({ dedupeKey: "d" })).duplicate, false);
    },
  },
  {
    name:
      "of all jobs with the same precondition one is stored, and the state is what that one says",
    run: async (store) => {
      const one = await openTrial(store);
      const other = await openTrial(store);
      const conditional = (value: unknown, version?: string): Partial<JobEntry> => ({
        precondition: { key: "slot", version, value },
      });

      const added = await Promise.all(
        [one, other, one, other].map((trial, index) => trial.add(conditional(index))),
      );
      const kept = added.filter(({ duplicate }) => !duplicate);
      assert.equal(kept.length, 1, `${kept.length} of four have their job stored`);
      assert.deepEqual(
        added.filter(({ duplicate }) => duplicate).map(({ id }) => id),
        ["", "", ""],
      );
      const first = await store.get("slot");
      assert.equal(first?.value, added.indexOf(kept[0]!));
      assert.equal((await other.count()).ready, 1);

      assert.equal((await other.add(conditional("old"))).duplicate, true);
      assert.equal((await other.add(conditional("next", first?.version))).duplicate, false);
      assert.equal((await store.get("slot"))?.value, "next");
      assert.equal((await one.count()).ready, 2);
    },
  },
  {
    name: "a duplicate changes no shared state",
    run: async (store) => {
      const trial = await openTrial(store);
      const { id } = await trial.add({ dedupeKey: "d" });
      const precondition = { key: "slot", version: undefined, value: 1 };

      const again = await trial.add({ dedupeKey: "d", precondition });
      assert.deepEqual([again.id, again.duplicate], [id, true]);
      assert.equal(await store.get("slot"), undefined);
    },
  },
];
