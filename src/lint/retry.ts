/**
 * What retries add to the load, and when they come.
 *
 * @module
 */

import { backoffMs } from "../base/backoff.ts";
import { counted } from "../base/format.ts";
import { leastWorkers } from "../base/erlang.ts";
import { type Concern, concern, figure, span } from "./concern.ts";
import { carries, type LaneFacts, type PoolFacts, sum } from "./facts.ts";

/** A pool should bear this many failures. */
const FAIL_SHARE = 0.1;

/** Retries that overload the pool, all come at once, or never come in time. */
export function lintRetry(pool: PoolFacts): readonly Concern[] {
  return [...retryLoad(pool), ...pool.lanes.flatMap((lane) => [...backoff(lane), ...ttl(lane)])];
}

/** Runs a job takes on average if each fails with chance f: `1 + f + … + f^(n - 1)`. */
function runsPerJob(attempts: number): number {
  return (1 - FAIL_SHARE ** attempts) / (1 - FAIL_SHARE);
}

function retryLoad(pool: PoolFacts): Concern[] {
  const { bounds: { workers, binder }, load } = pool;
  const withRetries = sum(
    pool.lanes,
    (lane) => lane.load * runsPerJob(lane.settings.attempts),
  );
  if (load === 0 || !carries(pool) || withRetries < workers) return [];
  return [concern({
    code: "retry-load",
    severity: "warning",
    path: binder.path,
    message: `If 10 of 100 attempts fail, retries raise the load from ${figure(load)} to ` +
      `${counted(figure(withRetries), "worker")} but ${binder.name} allows ${workers}`,
    formula: "sum of load x (1 - f^attempts) / (1 - f) >= workers",
    numbers: { load, f: FAIL_SHARE, withRetries, workers },
    change: `Raise ${binder.name} to ${counted(leastWorkers(withRetries), "worker")}`,
  })];
}

function backoff({ settings, path }: LaneFacts): Concern[] {
  const { name, attempts, backoff: { delaysMs, jitter } } = settings;
  const baseMs = backoffMs(settings.backoff, 1);
  if (attempts < 2) return [];
  if (baseMs === 0) {
    return [concern({
      code: "retry-at-once",
      severity: "warning",
      path: [...path, "backoff", delaysMs === undefined ? "baseMs" : "delaysMs"],
      message: `A failed job of lane "${name}" is started again at once: all ${attempts} ` +
        "attempts are spent before what failed can recover",
      formula: "wait after the first failure = 0",
      numbers: { baseMs, attempts },
      change: "Let it wait as long as the downstream needs to recover, such as backoff.baseMs 1000",
    })];
  }
  if (jitter > 0) return [];
  return [concern({
    code: "retry-in-step",
    severity: "warning",
    path: [...path, "backoff", "jitter"],
    message: `Jobs of lane "${name}" that fail together retry together, each time: nothing ` +
      "spreads their retries",
    formula: "jitter = 0",
    numbers: { jitter, attempts },
    change: "Set backoff.jitter to 0.5",
  })];
}

function ttl({ settings, path }: LaneFacts): Concern[] {
  const { name, attempts, ttlMs } = settings;
  const baseMs = backoffMs(settings.backoff, 1);
  if (attempts < 2 || baseMs < ttlMs) return [];
  return [concern({
    code: "retry-past-ttl",
    severity: "warning",
    path: [...path, "ttlMs"],
    message: `The first retry of lane "${name}" comes after ${span(baseMs)} but its jobs are ` +
      `dead after ${span(ttlMs)}: of ${attempts} attempts only one is ever made`,
    formula: "wait after the first failure >= ttlMs",
    numbers: { baseMs, ttlMs, attempts },
    change: `Raise ttlMs above ${span(baseMs)}, or let it wait for less`,
  })];
}
