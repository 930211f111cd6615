/**
 * What holds a job that waits.
 *
 * @module
 */

import type { JobRecord } from "../../contract/job.ts";
import type { LaneView } from "../../contract/view.ts";
import type { Beside, Hold, WaitingPool } from "../waiting.ts";
import { agreeing, counted, duration, rate } from "../../base/format.ts";

/** What keeps this job from being claimed, however many workers there are. */
export function* barsOf(
  job: JobRecord,
  pool: WaitingPool,
  lane: LaneView,
  { runningOfKey, maxRunningPerKey, ratesPerKey, hasHandler }: Beside,
): Iterable<Hold> {
  if (pool.draining) {
    yield held(
      "stopped",
      `Pool "${pool.pool}" is draining: it starts no job until the process restarts`,
    );
  }
  if (pool.paused) {
    yield held("paused", `Pool "${pool.pool}" is paused: resume it`);
  } else if (lane.paused) {
    yield held("paused", `Lane "${lane.name}" is paused: resume it`);
  }
  if (pool.stale) {
    yield held("store", "The store cannot be read: no job starts until it answers");
  }
  if (!hasHandler) {
    yield held(
      "handler",
      `No handler is named "${job.type}" in this process: name it in the config`,
    );
  }
  const breaker = pool.breakers.find(({ key }) => key === (job.key ?? ""));
  if (breaker !== undefined) {
    yield held("cooldown", `The receiver of its key refuses jobs: ${tryOf(breaker.untilMs, pool)}`);
  }
  if (job.state === "delayed" && job.dueAtMs > pool.nowMs) {
    const left = duration(job.dueAtMs - pool.nowMs);
    const isByRate = job.keepsSlot === true && breaker === undefined && ratesPerKey.length > 0;
    if (isByRate) {
      const most = ratesOf(ratesPerKey);
      yield held("key-rate", `Its key may start ${most} at most: the next in ${left}`);
    } else {
      yield job.attempt > 0
        ? held("delayed", `Attempt ${job.attempt} failed: the next is due in ${left}`)
        : held("delayed", `It is delayed: due in ${left}`);
    }
  }
  if (job.key !== undefined && runningOfKey >= maxRunningPerKey) {
    const run = `${counted(runningOfKey, "job")} of its key ${
      agreeing(runningOfKey, "runs", "run")
    }`;
    yield held("key-limit", `${run}, and lane "${lane.name}" runs ${maxRunningPerKey} at once`);
  } else if (job.state === "blocked") {
    const why = ratesPerKey.length > 0
      ? `a key may start ${ratesOf(ratesPerKey)} at most`
      : `lane "${lane.name}" runs ${maxRunningPerKey} at once`;
    yield held("key-limit", `Other jobs of its key go first: ${why}`);
  }
}

/** What there is too little of, for all jobs of its lane. Empty: it starts at once. */
export function* shortagesOf(
  pool: WaitingPool,
  lane: LaneView,
  { lanePolicy }: Beside,
): Iterable<Hold> {
  const { live, idle, target, boundBy, workers, rateBound, startsPerSec, holdUntilMs, heldBy } =
    pool;
  const { name, running, maxRunning, ready } = lane;
  if (!pool.worked) {
    const { pool: where } = pool;
    yield held("not-worked", `Pool "${where}" is not worked here: processes that work it run it`);
    return;
  }
  if (holdUntilMs > 0) {
    const who = heldBy === "" ? "The receiver" : `Downstream "${heldBy}"`;
    yield held("cooldown", `${who} says "not now": ${tryOf(holdUntilMs, pool)}`);
  } else if (rateBound) {
    yield held(
      "start-rate",
      startsPerSec < Infinity
        ? `A start rate allows at most ${counted(rate(startsPerSec), "job")} to start a second`
        : "A start rate of a lane holds its jobs back",
    );
  }
  if (running >= maxRunning) {
    const hasStuck = maxRunning === 0 || workers.some(({ state }) => state === "stuck");
    yield held(
      "lane-limit",
      `${counted(running, "job")} of lane "${name}" ${
        agreeing(running, "runs", "run")
      }: its maxRunning${hasStuck ? ", counted with handlers that ignore their abort" : ""}`,
    );
  } else if (live === 0) {
    const starting = workers.filter(({ state }) => state === "starting").length;
    yield starting > 0
      ? held(
        "no-worker",
        `No worker yet: ${starting} ${starting > 1 ? "are" : "is"} starting`,
      )
      : held(
        "no-worker",
        `No worker: ${boundBy ?? "nothing"} sets the target to ${target}`,
      );
  } else if (idle === 0) {
    const those = live === 1 ? "The only worker is" : `All ${live} workers are`;
    yield held("busy", `${those} busy: ${roomOf(pool)}`);
  } else if (ready > 0 && !rateBound) {
    // What dispatch leaves while a worker is free, the lane policy has left.
    const free = idle === 1 ? "the free worker" : `the ${idle} free workers`;
    yield held("reserved", `${lanePolicy} keeps ${free} for other lanes`);
  }
}

function ratesOf(rates: Beside["ratesPerKey"]): string {
  return rates.map(({ calls, perMs }) => `${calls} in ${duration(perMs)}`).join(" and ");
}

function tryOf(untilMs: number, { nowMs }: WaitingPool): string {
  const leftMs = untilMs - nowMs;
  return `one job tries again ${leftMs > 0 ? `in ${duration(leftMs)}` : "now"}`;
}

function roomOf({ live, limit, size, boundBy }: WaitingPool): string {
  const most = Math.min(limit, size.max);
  if (live < most) return `the pool may grow to ${most}`;
  return boundBy === undefined || boundBy === "controller"
    ? `the pool may not grow beyond ${most}`
    : `the pool may not grow beyond ${most}: ${boundBy}`;
}

function held(code: Hold["code"], detail: string): Hold {
  return { code, detail };
}
