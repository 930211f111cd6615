/**
 * Waits at the limit, by Erlang's formulas: where the pool can grow no further, what is left is chance.
 *
 * @module
 */

import { counted } from "../base/format.ts";
import { erlangC, leastWorkers } from "../base/erlang.ts";
import { type Concern, concern, figure, ofHundred } from "./concern.ts";
import { carries, type LaneFacts, type PoolFacts, sum } from "./facts.ts";

/** More than one job in this many being late is worth a word. */
const LATE_SHARE = 0.05;

/** Lanes of a full pool whose jobs come late under random arrivals. */
export function lintWait(pool: PoolFacts): readonly Concern[] {
  if (!carries(pool)) return [];
  return pool.lanes.flatMap((lane) => {
    const limitMs = waitLimitOf(lane);
    if (lane.load === 0 || limitMs === undefined || lane.load >= lane.share.alone) return [];
    const crowded = lateAtLimit(pool, { lane, limitMs });
    return crowded.length > 0 ? crowded : lateBehindOthers(pool, { lane, limitMs });
  });
}

interface Waiting {
  readonly lane: LaneFacts;
  /** Longest wait that is still good, ms. */
  readonly limitMs: number;
}

/** What a job may wait: its deadline less its run time, else its target. `undefined`: any time. */
function waitLimitOf({ settings, serviceMs }: LaneFacts): number | undefined {
  const { deadlineMs, targetWaitMs } = settings;
  if (deadlineMs !== undefined) return deadlineMs > serviceMs ? deadlineMs - serviceMs : undefined;
  return targetWaitMs ?? undefined;
}

function lateAtLimit(pool: PoolFacts, { lane, limitMs }: Waiting): Concern[] {
  const { workers, binder } = pool.bounds;
  const late = crowdedShare(pool, { lane, limitMs }, workers);
  if (late <= LATE_SHARE) return [];
  let enough = workers + 1;
  while (crowdedShare(pool, { lane, limitMs }, enough) > LATE_SHARE) enough++;
  return [concern({
    code: "late-at-limit",
    severity: "warning",
    path: binder.path,
    message:
      `With the ${counted(workers, "worker")} that ${binder.name} allows, ${
        ofHundred(late)
      } of lane ` +
      `"${lane.settings.name}" wait longer than ${figure(limitMs)} ms under random arrivals`,
    formula: "C(workers, load) x exp(-(1 - s)(1 - s above) x workers x limitMs / serviceMs) > 0.05",
    numbers: { workers, load: pool.load, limitMs, serviceMs: pool.serviceMs, late },
    change: `Raise ${binder.name} to ${counted(enough, "worker")}, or let jobs wait longer`,
  })];
}

/**
 * M/M/c with priorities, none of which interrupts: all wait with the same chance `C(c, a)`, those of
 * lane k for `S / (c (1 - s) (1 - s above))` on average, with `s` the load of the lanes up to k and
 * `s above` that of those above it, a worker (Kella and Yechiali, 1985). Its tail is taken as
 * exponential, which it is for the highest lane.
 */
function crowdedShare(pool: PoolFacts, { lane, limitMs }: Waiting, workers: number): number {
  if (pool.load >= workers) return 1;
  const above = lane.loadAbove / workers;
  const upTo = above + lane.load / workers;
  const perMs = workers * (1 - upTo) * (1 - above) / pool.serviceMs;
  return erlangC(workers, pool.load) * Math.exp(-perMs * limitMs);
}

function lateBehindOthers(pool: PoolFacts, waiting: Waiting): Concern[] {
  const { lane, limitMs } = waiting;
  const lowerLoad = lane.loadBelow;
  if (lowerLoad === 0) return [];
  const lowerMs = lowerLoad / lane.perSecBelow * 1000;
  const { workers } = pool.bounds;
  const reserve = lane.share.kept;
  const late = behindShare(pool, { ...waiting, lowerMs, reserve }, workers);
  if (late <= LATE_SHARE) return [];
  const { name } = lane.settings;
  const left = leftByLimits(pool, lane);
  const isReserved = reserve > left;
  const kept = !isReserved
    ? `No worker is kept for lane "${name}"${
      left === 0 ? "" : `, only the limits of other lanes leave it ${left}`
    }`
    : `${reserve} kept for lane "${name}" cover too little of its ${figure(lane.load)}`;
  return [concern({
    code: isReserved ? "reserve-small" : "no-reserve",
    severity: "warning",
    path: [...pool.path, "lanePolicy"],
    message:
      `${kept}: at the limit of ${counted(workers, "worker")} ${
        ofHundred(late)
      } wait longer than ` +
      `${figure(limitMs)} ms for jobs of ${figure(lowerMs)} ms in lower lanes to end`,
    formula:
      "C(workers, load) x C(reserve, lane load) x exp(-limitMs x ((reserve - lane load) / serviceMs + (workers - reserve) / lowerMs)) > 0.05",
    numbers: {
      workers,
      load: pool.load,
      reserve,
      laneLoad: lane.load,
      serviceMs: lane.serviceMs,
      lowerMs,
      limitMs,
      late,
    },
    change: mend(pool, { ...waiting, lowerMs, reserve }, lowerLoad),
  })];
}

/** Workers that the other lanes may not take all together, whatever the policy says. */
function leftByLimits({ bounds, lanes }: PoolFacts, { index }: LaneFacts): number {
  const others = sum(lanes, (lane) => lane.index === index ? 0 : lane.settings.maxRunning);
  return Math.max(0, bounds.workers - others);
}

interface Behind extends Waiting {
  /** Mean run time in the lanes below, ms. */
  readonly lowerMs: number;
  /** Workers kept for the lane. */
  readonly reserve: number;
}

/** The smallest reserve that is enough, in the smallest pool in which lower lanes still have room. */
function mend(pool: PoolFacts, behind: Behind, lowerLoad: number): string {
  const { workers, binder } = pool.bounds;
  const { name } = behind.lane.settings;
  for (let size = workers;; size++) {
    const most = size - leastWorkers(lowerLoad);
    for (let reserve = behind.reserve + 1; reserve <= most; reserve++) {
      if (behindShare(pool, { ...behind, reserve }, size) > LATE_SHARE) continue;
      const room = size > workers ? ` and raise ${binder.name} to ${size}` : "";
      return `Reserve ${reserve} ${
        reserve === 1 ? "worker" : "workers"
      } for "${name}"${room}, or ` +
        "let jobs of lower lanes be shorter";
    }
  }
}

/**
 * Under the worst case that lower lanes hold all other workers: the reserve alone is an M/M/c queue
 * of its own, and each shared worker comes free at the pace of the lower lanes' jobs.
 */
function behindShare(
  pool: PoolFacts,
  { lane, limitMs, lowerMs, reserve }: Behind,
  workers: number,
): number {
  const spare = Math.max(0, reserve - lane.load) / lane.serviceMs;
  const freed = Math.max(0, workers - reserve) / lowerMs;
  return erlangC(workers, pool.load) * erlangC(reserve, lane.load) *
    Math.exp(-limitMs * (spare + freed));
}
