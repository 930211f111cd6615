/**
 * What a store must hold: enqueues that are sent again find the job of the first, after its end too.
 *
 * @module
 */

import assert from "node:assert/strict";
import { IdempotencyError } from "../contract/errors.ts";
import { IDEMPOTENT_FOR_MS } from "../contract/job.ts";
import type { Added, JobEntry } from "../contract/store.ts";
import { makeEntry, openTrial, type StoreCheck, type StoreTrial } from "./_trial.ts";

/** An entry that may be sent again. */
function known(key: string, fingerprint = "a", more: Partial<JobEntry> = {}): Partial<JobEntry> {
  return { idempotency: { key, fingerprint }, ...more };
}

/** Fails unless the entry is refused for its key, and nothing is stored. */
async function refuses(trial: StoreTrial, entry: Partial<JobEntry>): Promise<void> {
  const { id, duplicate, error } = await trial.add(entry);
  assert.deepEqual([id, duplicate, error instanceof IdempotencyError], ["", false, true]);
}

/** `idempotency`, and duplicates that are only looked for. */
export const idempotencyChecks: readonly StoreCheck[] = [
  {
    name: "an idempotency key names its job until some time after its end, however that ends",
    run: async (store) => {
      for (const to of ["done", "dead", "cancelled"] as const) {
        const trial = await openTrial(store, { pool: to });
        const { id } = await trial.add(known("k"));
        assert.equal((await trial.add(known("k"))).id, id);
        const held = await trial.leaseOne();
        trial.nowMs += 2 * IDEMPOTENT_FOR_MS; // it runs for long
        await trial.queue.renew(trial.nowMs);
        assert.deepEqual(idsOf(await trial.add(known("k"))), [id, true], "while it runs");
        await trial.settle(held, to);
        const endedAtMs = trial.nowMs;

        trial.nowMs = endedAtMs + IDEMPOTENT_FOR_MS - 1;
        await trial.count();
        assert.deepEqual(idsOf(await trial.add(known("k"))), [id, true], `after it is ${to}`);
        trial.nowMs++;
        await trial.count();
        const next = await trial.add(known("k"));
        assert.equal(next.duplicate, false, "the key is free after a while");
        assert.notEqual(next.id, id);
      }
    },
  },
  {
    name: "an idempotency key is refused to another fingerprint, while its job is known",
    run: async (store) => {
      const trial = await openTrial(store);
      await trial.add(known("k"));
      await refuses(trial, known("k", "b"));
      await trial.settle(await trial.leaseOne(), "done");

      await refuses(trial, known("k", "b"));

      assert.equal((await trial.count()).ready, 0);
      trial.nowMs += IDEMPOTENT_FOR_MS;
      assert.equal((await trial.add(known("k", "b"))).duplicate, false);
    },
  },
  {
    name: "an idempotency key outlives what is kept of its job, and comes back with it",
    run: async (store) => {
      const trial = await openTrial(store, { keep: { done: 0, dead: 10, forMs: Infinity } });
      const { id } = await trial.add(known("k"));
      await trial.settle(await trial.leaseOne(), "done");
      assert.deepEqual(idsOf(await trial.add(known("k"))), [id, true]);

      const dead = await trial.add(known("d"));
      await trial.settle(await trial.leaseOne(), "dead");
      assert.equal((await trial.queue.change(dead.id, "revive", trial.nowMs)).ok, true);
      trial.nowMs += 2 * IDEMPOTENT_FOR_MS;
      assert.deepEqual(idsOf(await trial.add(known("d"))), [dead.id, true]);
      await trial.settle(await trial.leaseOne(), "done");
      assert.deepEqual(idsOf(await trial.add(known("d"))), [dead.id, true]);
    },
  },
  {
    name:
      "an idempotency key holds for a job that waits for its lane, its time or another of its key",
    run: async (store) => {
      const lanes = [{ name: "high", maxRunningPerKey: 1 }, {
        name: "low",
        maxRunningPerKey: Infinity,
      }];
      const trial = await openTrial(store, { lanes });
      const entries = [
        known("a", "a", { key: "x" }),
        known("b", "a", { key: "x" }),
        known("c", "a", { dueAtMs: trial.nowMs + 1000 }),
        known("d", "a", { expiresAtMs: trial.nowMs + 10 }),
        known("e", "a", { payload: "x".repeat(100_000) }),
      ];
      const added = await trial.queue.add(
        entries.map((entry) => makeEntry(trial.nowMs, entry)),
        trial.nowMs,
      );
      trial.nowMs += 100; // one has expired

      for (const [place, entry] of entries.entries()) {
        assert.deepEqual(idsOf(await trial.add(entry)), [added[place]?.id, true]);
      }
    },
  },
  {
    name:
      "an idempotency key and a dedupe key are both looked at, and the latter is free at the end",
    run: async (store) => {
      const trial = await openTrial(store);
      const entry = known("k", "a", { dedupeKey: "d" });
      const { id } = await trial.add(entry);
      assert.deepEqual(idsOf(await trial.add({ dedupeKey: "k" })), [id, true]);
      assert.deepEqual(idsOf(await trial.add({ dedupeKey: "d" })), [id, true]);
      assert.deepEqual(idsOf(await trial.add(known("other", "a", { dedupeKey: "d" }))), [id, true]);
      await trial.settle(await trial.leaseOne(), "done");

      assert.deepEqual(idsOf(await trial.add(entry)), [id, true]);
      assert.equal((await trial.add({ dedupeKey: "d" })).duplicate, false);
    },
  },
  {
    name: "entries with one idempotency key that come together bring one job",
    run: async (store) => {
      const trial = await openTrial(store);
      const entries = [known("k"), known("k"), known("k", "b"), known("l")];

      const added = await trial.queue.add(
        entries.map((entry) => makeEntry(trial.nowMs, entry)),
        trial.nowMs,
      );

      assert.deepEqual(added.map(({ duplicate }) => duplicate), [false, true, false, false]);
      assert.equal(added[1]?.id, added[0]?.id);
      assert.ok(added[2]?.error instanceof IdempotencyError);
      assert.equal((await trial.count()).ready, 2);
    },
  },
  {
    name: "duplicateOf() answers as add() does, and stores nothing",
    run: async (store) => {
      const trial = await openTrial(store);
      const { queue } = trial;
      if (queue.duplicateOf === undefined) return;
      const of = (entry: Partial<JobEntry>) =>
        queue.duplicateOf!(makeEntry(trial.nowMs, entry), trial.nowMs);
      assert.equal(await of(known("k")), undefined);
      const { id } = await trial.add(known("k", "a", { dedupeKey: "d" }));

      assert.deepEqual(idsOf(await of(known("k"))), [id, true]);
      assert.deepEqual(idsOf(await of({ dedupeKey: "d" })), [id, true]);
      assert.ok((await of(known("k", "b")))?.error instanceof IdempotencyError);
      assert.equal(await of({ dedupeKey: "other" }), undefined);
      assert.equal((await trial.count()).ready, 1);
    },
  },
];

function idsOf(added: Added | undefined): readonly unknown[] {
  return [added?.id, added?.duplicate];
}
