/**
 * What a pool shows, by the wall clock of now: a pool lives by a clock that nobody sets.
 *
 * @module
 */

import { catchUpOf } from "../explain/catch_up.ts";
import type { Decision } from "../contract/decision.ts";
import type { History } from "../planning/history.ts";
import type { PoolSnapshot, ScheduleView } from "./handles.ts";
import type { PoolParts } from "./assemble.ts";
import { freeze } from "./pool_state.ts";
import type { WorkerView } from "../contract/view.ts";

/** A frozen copy of what a pool is like now. */
export function snapshotOf(parts: PoolParts, schedules: readonly ScheduleView[]): PoolSnapshot {
  const { cooldown, drain, guard, loop, pauses, slots, state, steering } = parts;
  const snapshot = Object.freeze({
    ...freeze(state),
    schedules,
    worked: state.worked,
    degraded: slots.degraded,
    draining: drain.begun,
    drain: drain.view,
    stopped: drain.ended,
    paused: pauses.pool,
    breakers: cooldown.views(state.nowMs),
    override: steering.override,
    decision: steering.log.last,
    shadow: steering.shadow?.report,
    storeWaitMs: guard.waitMs(state.nowMs),
    storeRefusedAtMs: guard.refusedAtMs,
    catchUp: catchUpOf(steering.history.samples, {
      peers: state.peers,
      holds: !state.worked || state.stale || drain.begun || pauses.pool,
    }),
    scaleEvents: steering.history.scale.count,
    reversals: steering.history.scale.reversals,
    reaped: loop.reaped,
  });
  return snapshotByWall(snapshot, state.wall.aheadMs);
}

/** The distances of its times stay. */
function snapshotByWall(snapshot: PoolSnapshot, aheadMs: number): PoolSnapshot {
  if (aheadMs === 0) return snapshot;
  const { nowMs, workers, drain, override, decision, holdUntilMs, breakers, storeRefusedAtMs } =
    snapshot;
  return Object.freeze({
    ...snapshot,
    nowMs: nowMs + aheadMs,
    workers: Object.freeze(workers.map((worker) => workerByWall(worker, aheadMs))),
    drain: drain && {
      ...drain,
      sinceMs: drain.sinceMs + aheadMs,
      untilMs: drain.untilMs + aheadMs,
    },
    override: override && { ...override, untilMs: override.untilMs + aheadMs },
    decision: decision && decisionByWall(decision, aheadMs),
    holdUntilMs: holdUntilMs && holdUntilMs + aheadMs, // 0: nothing is held
    breakers: Object.freeze(breakers.map((breaker) => ({
      ...breaker,
      sinceMs: breaker.sinceMs + aheadMs,
      untilMs: breaker.untilMs + aheadMs,
    }))),
    storeRefusedAtMs: storeRefusedAtMs && storeRefusedAtMs + aheadMs,
  });
}

/** A decision whose times are `aheadMs` later. */
export function decisionByWall(decision: Decision, aheadMs: number): Decision {
  if (aheadMs === 0) return decision;
  const { atMs, untilMs } = decision;
  return Object.freeze({ ...decision, atMs: atMs + aheadMs, untilMs: untilMs + aheadMs });
}

/** A history whose samples are `aheadMs` later. */
export function historyByWall(history: History, aheadMs: number): History {
  if (aheadMs === 0) return history;
  const samples = history.samples.map((sample) => ({
    ...sample,
    atMs: sample.atMs + aheadMs,
    holdUntilMs: sample.holdUntilMs && sample.holdUntilMs + aheadMs, // 0: nothing is held
  }));
  return { ...history, samples };
}

function workerByWall(worker: WorkerView, aheadMs: number): WorkerView {
  const { startedAtMs, sinceMs } = worker;
  return Object.freeze({
    ...worker,
    startedAtMs: startedAtMs + aheadMs,
    sinceMs: sinceMs + aheadMs,
  });
}
