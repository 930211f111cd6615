/**
 * What a store must hold that holds the rates of keys.
 *
 * @module
 */

import assert from "node:assert/strict";
import { randomStream } from "../base/random.ts";
import type { QueueOptions, Settlement, Store } from "../contract/store.ts";
import { renewUntilAlone } from "./_store_dead_members.ts";
import {
  type Held,
  LEASE_MS,
  openTrial,
  START_MS,
  type StoreCheck,
  type StoreTrial,
} from "./_trial.ts";

/** Two starts of a key in any second. */
const RATED: Pick<QueueOptions, "lanes"> = {
  lanes: [
    { name: "high", maxRunningPerKey: Infinity, keyRates: [{ starts: 2, perMs: 1000 }] },
    { name: "low", maxRunningPerKey: Infinity },
  ],
};

/** The same, and no more than five in 10 s. */
const TWICE_RATED: Pick<QueueOptions, "lanes"> = {
  lanes: [{
    name: "high",
    maxRunningPerKey: Infinity,
    keyRates: [{ starts: 2, perMs: 1000 }, { starts: 5, perMs: 10_000 }],
  }],
};

/** `keyRates`: only of stores that hold them. */
export const keyRateChecks: readonly StoreCheck[] = [
  check("jobs of a key start as its rate lets them, and other keys as they like", async (trial) => {
    for (let payload = 0; payload < 5; payload++) await trial.add({ key: "k", payload });
    await trial.add({ key: "other", payload: "other" });
    await trial.add({ payload: "none" });

    const first = await trial.lease(9);
    assert.deepEqual(first.map(({ job }) => job.payload), [0, 1, "other", "none"]);
    for (const held of first) await began(trial, held, "done");
    const { ready, delayed, blocked, nextDueAtMs } = await trial.count();
    assert.deepEqual([ready, delayed, blocked], [0, 2, 1]);
    assert.equal(nextDueAtMs, trial.nowMs + 1000);
    trial.nowMs += 999;
    assert.deepEqual(await trial.lease(9), []);
    trial.nowMs += 1;
    const second = await trial.lease(9);
    assert.deepEqual(second.map(({ job }) => job.payload), [2, 3]);
    assert.equal(second[0]!.readyAtMs, trial.nowMs, "it was not claimable before");
    const { dueAtMs = START_MS } = second[0]!.job;
    assert.equal(dueAtMs, START_MS, "a rate moves no job's due time");
  }),
  check(
    "a start counts from when it was, not from when its job was leased or ended",
    async (trial) => {
      for (let index = 0; index < 4; index++) await trial.add({ key: "k" });
      const [first, second] = await trial.lease(9);
      trial.nowMs += 400;
      const beganAtMs = trial.nowMs;
      trial.nowMs += 5000;
      await trial.settle(first!, "done", { beganAtMs });
      assert.equal((await trial.lease(9)).length, 1, "its window is over");
      await trial.settle(second!, "done", { beganAtMs: trial.nowMs - 100 });
      trial.nowMs += 899;
      assert.equal((await trial.lease(9)).length, 0);
      trial.nowMs += 1;
      assert.equal((await trial.lease(9)).length, 1);
    },
  ),
  check("a job that was leased and did not start takes no start of its key", async (trial) => {
    for (let index = 0; index < 3; index++) await trial.add({ key: "k" });
    for (const held of await trial.lease(9)) await trial.settle(held, "back");
    const again = await trial.lease(9);
    assert.equal(again.length, 2);
    await trial.settle(again[0]!, "retry", { charged: false });
    assert.equal((await trial.lease(9)).length, 1);
  }),
  check("an attempt that began counts, however its job comes again", async (trial) => {
    const ends: readonly [Settlement["to"], Partial<Settlement>][] = [
      ["back", {}],
      ["retry", {}],
      ["retry", { keepsSlot: true }],
      ["retry", { keepsSlot: true, dueAtMs: trial.nowMs + 500 }],
    ];
    for (const [index, [to, more]] of ends.entries()) {
      const key = `k${index}`;
      await trial.add({ key });
      await trial.add({ key });
      for (const held of await trial.lease(9)) await began(trial, held, to, more);
      assert.deepEqual(await trial.lease(9), [], `${to} ${JSON.stringify(more)}`);
    }
    trial.nowMs += 1000;
    assert.equal((await trial.lease(99)).length, 8);
  }),
  check("jobs of a dead member, or of one that leaves, count as started", async (one, store) => {
    const other = await openTrial(store, RATED);
    const third = await openTrial(store, RATED);
    await one.add({ key: "k" });
    await one.add({ key: "k" });
    await one.add({ key: "k" });
    await one.lease(1);
    await other.lease(1);
    await one.queue.leave(one.nowMs);
    await renewUntilAlone(third);
    assert.equal((await third.lease(9)).length, 1, "that of the dead one counts since now");
    third.nowMs += 1000;
    assert.equal((await third.lease(9)).length, 1);
  }),
  check("cancelled and expired jobs give their start to the next", async (trial) => {
    await trial.add({ key: "k", expiresAtMs: trial.nowMs + 10 });
    const { id } = await trial.add({ key: "k" });
    await trial.add({ key: "k" });
    const { id: last } = await trial.add({ key: "k" });
    trial.nowMs += 10;
    assert.equal((await trial.cancel(id)).ok, true);
    const held = [...await trial.lease(9), ...await trial.lease(9)];
    assert.equal(held.length, 2);
    for (const one of held) await began(trial, one, "done");
    const { id: waits } = await trial.add({ key: "k" });
    assert.equal((await trial.find(waits)).state, "delayed");
    assert.equal((await trial.find(waits)).keepsSlot, true);
    assert.equal((await trial.cancel(waits)).ok, true);
    assert.equal((await trial.find(last)).state, "done");
  }),
  check("starts are known still once the rules change", async (trial) => {
    for (let index = 0; index < 9; index++) await trial.add({ key: "k" });
    for (const held of await trial.lease(9)) await began(trial, held, "done");
    if (trial.queue.reopen === undefined) return;
    const rules = { leaseMs: LEASE_MS, attempts: [3, 3], keep: KEEP };
    const adopt = await trial.queue.reopen({
      ...rules,
      lanes: [{ ...RATED.lanes[0]!, keyRates: [{ starts: 3, perMs: 2000 }] }, RATED.lanes[1]!],
    });
    adopt(trial.nowMs);
    await trial.queue.count(trial.nowMs);
    for (let ms = 0; ms < 2000; ms += 100) {
      for (const held of await trial.lease(9)) await began(trial, held, "done");
      trial.nowMs += 100;
    }
    const { ready, delayed, blocked } = await trial.count();
    assert.ok(ready + delayed + blocked >= 4, "9 less 2, and 3 in 2 s at most");
  }),
  ...[1, 2, 3].map((seed) =>
    check(
      `no key starts more than its rates let, and all jobs end (seed ${seed})`,
      async (one, store) => {
        await runRandomly([one, await openTrial(store, TWICE_RATED)], seed);
      },
      TWICE_RATED,
    )
  ),
];

const KEEP = { done: 1000, dead: 1000, forMs: Infinity };

/** A check on a trial with rates. A store that does not hold them passes. */
function check(
  name: string,
  run: (trial: StoreTrial, store: Store) => Promise<void>,
  lanes = RATED,
): StoreCheck {
  return {
    name,
    run: async (store) => {
      const trial = await openTrial(store, lanes);
      if (trial.queue.holdsKeyRates === true) await run(trial, store);
    },
  };
}

/** Ends a job whose attempt began now. */
function began(
  trial: StoreTrial,
  held: Held,
  to: Settlement["to"],
  more: Partial<Settlement> = {},
): Promise<boolean> {
  return trial.settle(held, to, { beganAtMs: trial.nowMs, ...more });
}

/** A job that a member holds, and when its attempt began. `undefined`: it has not. */
interface Attempt {
  readonly held: Held;
  readonly trial: StoreTrial;
  beganAtMs: number | undefined;
}

async function runRandomly(trials: readonly StoreTrial[], seed: number): Promise<void> {
  const random = randomStream(seed);
  const open: Attempt[] = [];
  const starts = new Map<string, number[]>();
  let nowMs = trials[0]!.nowMs;
  let left = 60;
  for (let job = 0; job < left; job++) {
    await trials[job % 2]!.add({ key: `k${Math.floor(random() * 3)}` });
  }
  const end = async (attempt: Attempt): Promise<void> => {
    const { held, trial, beganAtMs } = attempt;
    const chance = random();
    const to = beganAtMs === undefined || chance < 0.1 ? "back" : chance < 0.3 ? "retry" : "done";
    const dueAtMs = nowMs + Math.floor(random() * 300);
    const more = { beganAtMs, dueAtMs, charged: to === "done", keepsSlot: random() < 0.5 };
    assert.ok(await trial.settle(held, to, more));
    if (to === "done") left--;
  };
  for (let step = 0; left > 0; step++) {
    assert.ok(step < 5000, `${left} jobs have not ended after ${step} steps`);
    nowMs += Math.floor(random() * 100);
    for (const trial of trials) trial.nowMs = nowMs;
    const trial = trials[Math.floor(random() * 2)]!;
    const chance = random();
    if (chance < 0.4) {
      for (const held of await trial.lease(1 + Math.floor(random() * 3))) {
        open.push({ held, trial, beganAtMs: undefined });
      }
    } else if (chance < 0.7) {
      const next = open.find(({ beganAtMs }) => beganAtMs === undefined);
      if (next === undefined) continue;
      next.beganAtMs = nowMs;
      startOf(starts, next.held.job.key!, nowMs);
    } else {
      const [attempt] = open.splice(Math.floor(random() * open.length), 1);
      if (attempt !== undefined) await end(attempt);
    }
  }
}

/** Notes a start, and fails if there were too many. */
function startOf(all: Map<string, number[]>, key: string, nowMs: number): void {
  const starts = all.get(key) ?? [];
  all.set(key, [...starts, nowMs]);
  for (const { starts: most, perMs } of TWICE_RATED.lanes[0]!.keyRates!) {
    const within = starts.filter((atMs) => atMs > nowMs - perMs).length + 1;
    assert.ok(within <= most, `${within} jobs of key ${key} start in ${perMs} ms, ${most} may`);
  }
}
