/**
 * What a store must hold: counts are exact whatever happened, and no job is lost.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { JobState } from "../contract/job.ts";
import { randomStream } from "../base/random.ts";
import type { Store } from "../contract/store.ts";
import { type Held, openTrial, type StoreCheck, type StoreTrial } from "./_trial.ts";

const STEPS = 300;
const PER_KEY = 2;

/** All jobs are listed after this many steps: over a network that takes longer than the steps do. */
const LIST_EVERY = 5;

/** Random schedules, the same on each run. */
export const randomChecks: readonly StoreCheck[] = [1, 2, 3].map((seed) => ({
  name: `counts are exact and no job is lost over ${STEPS} random steps (seed ${seed})`,
  run: (store) => runRandomly(store, seed),
}));

async function runRandomly(store: Store, seed: number): Promise<void> {
  const random = randomStream(seed);
  const trial = await openTrial(store, {
    lanes: [{ name: "high", maxRunningPerKey: PER_KEY }],
    attempts: [3],
  });
  const ids: string[] = [];
  const held: Held[] = [];
  for (let step = 0; step < STEPS; step++) {
    trial.nowMs += Math.floor(random() * 20);
    const chance = random();
    if (chance < 0.4) {
      const key = random() < 0.5 ? `k${Math.floor(random() * 3)}` : undefined;
      const delayMs = random() < 0.3 ? Math.floor(random() * 100) : 0;
      const expiresAtMs = random() < 0.1 ? trial.nowMs + delayMs + 50 : Infinity;
      ids.push((await trial.add({ key, dueAtMs: trial.nowMs + delayMs, expiresAtMs })).id);
    } else if (chance < 0.6) held.push(...await trial.lease(1 + Math.floor(random() * 3)));
    else if (chance < 0.9) await settleOne(trial, held, random);
    else if (ids.length > 0) await trial.cancel(ids[Math.floor(random() * ids.length)]!);
    assertLimits(held);
    if (step % LIST_EVERY === 0) await compare(trial, ids, held);
  }
  await compare(trial, ids, held);
  await finishAll(trial, held);
  const { jobs } = await trial.queue.list({ limit: STEPS });
  const known = jobs.map((job) => job.id);
  assert.deepEqual(known.sort(), ids.sort(), "each job is still known, once");
  const open = jobs.filter((job) => !["done", "dead", "cancelled"].includes(job.state));
  assert.deepEqual(open.map((job) => job.id), [], "each job has ended");
}

async function settleOne(trial: StoreTrial, held: Held[], random: () => number): Promise<void> {
  const [one] = held.splice(Math.floor(random() * held.length), 1);
  if (one === undefined) return;
  const chance = random();
  if (chance < 0.5) assert.ok(await trial.settle(one, "done"));
  else if (chance < 0.7) assert.ok(await trial.settle(one, "back", { charged: false }));
  else if (chance < 0.9) {
    const dueAtMs = trial.nowMs + Math.floor(random() * 50);
    assert.ok(await trial.settle(one, "retry", { dueAtMs, keepsSlot: random() < 0.5 }));
  } else assert.ok(await trial.settle(one, "dead"));
}

async function compare(
  trial: StoreTrial,
  ids: readonly string[],
  held: readonly Held[],
): Promise<void> {
  const counts = await trial.count();
  const { jobs } = await trial.queue.list({ limit: STEPS });
  const inState = (state: JobState): number => jobs.filter((job) => job.state === state).length;
  assert.equal(jobs.length, ids.length, "list() gives all jobs");
  assert.equal(counts.ready, inState("ready"), "ready jobs");
  assert.equal(counts.blocked, inState("blocked"), "blocked jobs");
  assert.equal(counts.delayed, inState("delayed"), "delayed jobs");
  assert.equal(counts.running, held.length, "running jobs");
  assert.equal(counts.oldestReadyAtMs === Infinity, counts.ready === 0, "an age if any is ready");
}

function assertLimits(held: readonly Held[]): void {
  const perKey = new Map<string, number>();
  for (const { job } of held) {
    if (job.key !== undefined) perKey.set(job.key, (perKey.get(job.key) ?? 0) + 1);
  }
  for (const [key, running] of perKey) {
    assert.ok(running <= PER_KEY, `${running} jobs of key ${key} run, ${PER_KEY} may`);
  }
}

async function finishAll(trial: StoreTrial, held: Held[]): Promise<void> {
  for (const one of held) assert.ok(await trial.settle(one, "done"));
  trial.nowMs += 1000;
  for (;;) {
    const more = await trial.lease(10);
    for (const one of more) assert.ok(await trial.settle(one, "done"));
    const { ready, blocked } = await trial.count();
    if (more.length === 0 && ready + blocked === 0) return;
    assert.ok(more.length > 0, `${ready} ready and ${blocked} blocked jobs cannot be leased`);
  }
}
