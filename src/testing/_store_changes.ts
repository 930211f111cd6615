/**
 * What a store must hold: changes to jobs from outside, what listeners hear, shared state.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { JobRecord, JobState } from "../contract/job.ts";
import { endOf, openTrial, type StoreCheck, type StoreTrial, until } from "./_trial.ts";

/** Cancel, revive, remove, list, outcome, compare-and-set. */
export const changeChecks: readonly StoreCheck[] = [
  {
    name: "cancel ends a job that waits, ready, delayed or blocked",
    run: async (store) => {
      const trial = await openTrial(store, {
        lanes: [{ name: "high", maxRunningPerKey: 1 }],
        attempts: [3],
      });
      const holder = await trial.add({ key: "k", payload: "stays" });
      const ids = [
        (await trial.add()).id,
        (await trial.add({ dueAtMs: trial.nowMs + 1000 })).id,
        (await trial.add({ key: "k" })).id,
      ];
      const outcomes = ids.map((id) => trial.queue.outcome({ id }));

      for (const id of ids) {
        assert.deepEqual(await trial.cancel(id), { ok: true, state: "cancelled" });
        assert.deepEqual(await trial.cancel(id), { ok: false, state: "cancelled" });
      }

      for (const outcome of outcomes) assert.equal((await endOf(outcome)).state, "cancelled");
      const counts = await trial.count();
      assert.deepEqual([counts.ready, counts.delayed, counts.blocked], [1, 0, 0]);
      trial.nowMs += 1000;
      assert.deepEqual((await trial.lease(9)).map(({ id }) => id), [holder.id]);
    },
  },
  {
    name: "cancel of a running job tells its member, and holds once that settles",
    run: async (store) => {
      const trial = await openTrial(store);
      for (let index = 0; index < 3; index++) await trial.add();
      const [first, second, third] = await trial.lease(3);
      for (const { id } of [first!, second!, third!]) {
        assert.deepEqual(await trial.cancel(id), { ok: true, state: "running" });
      }
      await until(trial, () => trial.told.cancelled.length === 3);
      assert.deepEqual(trial.told.cancelled, [first!.id, second!.id, third!.id]);

      assert.ok(await trial.settle(first!, "cancelled"));
      assert.ok(await trial.settle(second!, "done"));
      assert.ok(await trial.settle(third!, "retry"));

      assert.equal((await trial.find(first!.id)).state, "cancelled");
      assert.equal((await trial.find(second!.id)).state, "done");
      assert.equal((await trial.find(third!.id)).state, "cancelled");
    },
  },
  {
    name: "revive brings a dead job back with all its attempts, remove forgets an ended one",
    run: async (store) => {
      const trial = await openTrial(store);
      const { id } = await trial.add({ payload: "p" });
      await trial.settle(await trial.leaseOne(), "retry");
      await trial.settle(await trial.leaseOne(), "dead");
      trial.nowMs += 500;

      assert.deepEqual(await trial.queue.change(id, "revive", trial.nowMs), {
        ok: true,
        state: "ready",
      });
      assert.equal((await trial.count()).oldestReadyAtMs, trial.nowMs);
      assert.deepEqual(await trial.queue.change(id, "remove", trial.nowMs), {
        ok: false,
        state: "ready",
      });
      const held = await trial.leaseOne();
      assert.deepEqual([held.id, held.attempt, held.job.payload], [id, 1, "p"]);
      if (held.job.firstReadyAtMs !== undefined) {
        assert.equal(held.job.firstReadyAtMs, trial.nowMs, "a revive restarts its deadline");
      }
      await trial.settle(held, "done");
      assert.equal((await trial.queue.change(id, "revive", trial.nowMs)).ok, false);
      assert.deepEqual(await trial.queue.change(id, "remove", trial.nowMs), {
        ok: true,
        state: "removed",
      });
      assert.equal(await trial.queue.find(id), undefined);
    },
  },
  {
    name: "how many jobs are kept that have ended is known, where the store says so",
    run: async (store) => {
      const trial = await openTrial(store);
      const { id } = await trial.add();
      await trial.settle(await trial.leaseOne(), "dead");
      await trial.add();
      await trial.settle(await trial.leaseOne(), "done");
      await trial.cancel((await trial.add()).id);
      await trial.count();
      const { done = 2, dead = 1 } = trial.queue.kept ?? {};
      assert.deepEqual([done, dead], [2, 1]);

      await trial.queue.change(id, "revive", trial.nowMs);
      await trial.count();
      assert.equal(trial.queue.kept?.dead ?? 0, 0);
    },
  },
  {
    name: "an id that is not known is undefined, cannot be changed, and is unfinished",
    run: async (store) => {
      const trial = await openTrial(store);
      const { id } = await trial.add();

      for (const unknown of ["", "nonsense", `${id}0`, `0${id}`]) {
        assert.equal(await trial.queue.find(unknown), undefined);
        assert.deepEqual(await trial.cancel(unknown), { ok: false, state: undefined });
        assert.deepEqual(await endOf(trial.queue.outcome({ id: unknown })), {
          state: "unfinished",
        });
      }
    },
  },
  {
    name: "list() gives each job once, oldest first, page by page, by state and lane",
    run: async (store) => {
      const trial = await openTrial(store);
      const ids: string[] = [];
      for (let index = 0; index < 7; index++) ids.push((await trial.add({ lane: index % 2 })).id);
      await trial.settle(await trial.leaseOne(), "done");

      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await trial.queue.list({ limit: 3, cursor });
        assert.ok(page.jobs.length <= 3);
        seen.push(...page.jobs.map((job) => job.id));
        cursor = page.cursor;
      } while (cursor !== undefined);

      assert.deepEqual(seen, ids);
      const low = await trial.queue.list({ limit: 9, lane: "low" });
      assert.deepEqual(low.jobs.map((job) => job.id), [ids[1], ids[3], ids[5]]);
      const done = await trial.queue.list({ limit: 9, state: "done" });
      assert.deepEqual(done.jobs.map((job) => job.id), [ids[0]]);
    },
  },
  {
    name: "list() gives jobs that ended last first, when asked, page by page, also while some go",
    run: async (store) => {
      const trial = await openTrial(store);
      for (let index = 0; index < 14; index++) await trial.add({ lane: index % 2 });
      const ended: Record<"done" | "dead", string[]> = { done: [], dead: [] };
      // In another order than they were added, some at the same time.
      for (const [index, held] of (await trial.lease(6, 6)).reverse().entries()) {
        const state = index % 3 === 2 ? "dead" : "done";
        trial.nowMs += index % 2 * 10;
        await trial.settle(held, state, state === "dead" ? { reason: "fatal" } : {});
        ended[state].push(held.id);
      }

      const ofAll = await pagesOf(trial, undefined);
      for (const state of ["done", "dead"] as const) {
        const seen = await pagesOf(trial, state);
        assert.deepEqual(seen.map(({ id }) => id).sort(), ended[state].toSorted());
        const times = seen.map(({ endedAtMs = NaN }) => endedAtMs);
        assert.deepEqual(times, times.toSorted((a, b) => b - a));
        const part = ofAll.filter((job) => job.state === state);
        assert.deepEqual(part.map(({ id }) => id), seen.map(({ id }) => id));
      }
      assert.equal(ofAll.length, 14);
      assert.ok(ofAll.slice(-2).every(({ state }) => state === "ready"));
      const before = (await pagesOf(trial, "done")).map(({ id }) => id);
      const first = await trial.queue.list({ state: "done", order: "latest-end", limit: 3 });
      for (const id of before.slice(2, 4)) {
        await trial.queue.change(id, "remove", trial.nowMs);
      }
      const rest = await pagesOf(trial, "done", first.cursor);
      assert.deepEqual(rest.map(({ id }) => id), before.slice(4));
    },
  },
  {
    name: "outcome() tells each who asks how the job ended, before and after",
    run: async (store) => {
      const trial = await openTrial(store);
      const added = await trial.add();
      const early = [trial.queue.outcome(added), trial.queue.outcome({ id: added.id })];
      await trial.settle(await trial.leaseOne(), "retry", { error: "first" });

      await trial.settle(await trial.leaseOne(), "dead", { reason: "attempts", error: "second" });

      const outcomes = await Promise.all(
        [...early, trial.queue.outcome(added)].map(endOf),
      );
      for (const { state, reason, error } of outcomes) {
        assert.deepEqual([state, reason, error], ["dead", "attempts", "second"]);
      }
    },
  },
  {
    name: "outcome() tells no error of a job that is done after a failure, before and after",
    run: async (store) => {
      const trial = await openTrial(store);
      const added = await trial.add();
      const early = trial.queue.outcome(added);
      await trial.settle(await trial.leaseOne(), "retry", { error: "first" });

      await trial.settle(await trial.leaseOne(), "done", { result: 1 });

      const late = trial.queue.outcome({ id: added.id });
      for (const { state, error } of await Promise.all([early, late].map(endOf))) {
        assert.deepEqual([state, error], ["done", undefined]);
      }
    },
  },
  {
    name: "ended jobs are kept up to a number and for a time, oldest dropped first",
    run: async (store) => {
      const trial = await openTrial(store, { keep: { done: 2, dead: 1, forMs: 1000 } });
      const ids: string[] = [];
      for (let index = 0; index < 5; index++) {
        ids.push((await trial.add()).id);
        await trial.settle(await trial.leaseOne(), index < 3 ? "done" : "dead");
        trial.nowMs += 10;
      }
      await trial.count();
      const known = async (): Promise<boolean[]> =>
        await Promise.all(ids.map(async (id) => await trial.queue.find(id) !== undefined));

      assert.deepEqual(await known(), [false, true, true, false, true]);
      trial.nowMs += 2000;
      await trial.count();
      assert.deepEqual(await known(), [false, false, false, false, false]);
    },
  },
  {
    name: "commit() sets nothing unless all versions are as expected",
    run: async (store) => {
      assert.equal(await store.get("a"), undefined);
      assert.equal(await store.commit({ a: undefined }, { a: { n: 1 }, b: [2] }), true);
      const first = await store.get("a");
      assert.deepEqual(first?.value, { n: 1 });

      assert.equal(await store.commit({ a: undefined }, { a: { n: 9 } }), false);
      assert.equal(await store.commit({ a: first.version }, { a: { n: 2 } }), true);
      const second = await store.get("a");
      assert.notEqual(second?.version, first.version);
      assert.equal(await store.commit({ a: first.version }, { a: { n: 9 }, b: [9] }), false);
      assert.deepEqual((await store.get("a"))?.value, { n: 2 });
      assert.deepEqual((await store.get("b"))?.value, [2]);
      assert.equal(await store.commit({ a: second?.version }, { a: undefined }), true);
      assert.equal(await store.get("a"), undefined);
    },
  },
];

/** All jobs of a state, those that ended last first, in pages of two. */
async function pagesOf(
  { queue }: StoreTrial,
  state: JobState | undefined,
  from?: string,
): Promise<readonly JobRecord[]> {
  const jobs: JobRecord[] = [];
  let cursor = from;
  do {
    const page = await queue.list({ state, order: "latest-end", limit: 2, cursor });
    assert.ok(page.jobs.length <= 2);
    jobs.push(...page.jobs);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return jobs;
}
