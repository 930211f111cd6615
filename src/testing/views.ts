/**
 * Views by hand: what tests feed to strategies.
 *
 * @module
 */

import type {
  LaneView,
  PoolView,
  Signal,
  Summary,
  Totals,
  WindowStats,
  WorkerState,
  WorkerView,
} from "../contract/view.ts";
import * as v from "valibot";
import { laneSettings } from "../config/lane.ts";
import { laneShape } from "../config/shape.ts";
import { viewLane } from "./lane_view.ts";

/** What `makeWindow` does not take from its defaults. */
export type WindowOverrides = Partial<WindowStats>;

/** What `makeLane` does not take from its defaults. */
export type LaneOverrides = Partial<Omit<LaneView, "window">> & {
  /** Rates and durations of the last tick's window. */
  readonly window?: WindowOverrides;
};

/** What `makeView` does not take from its defaults. */
export type ViewOverrides =
  & Partial<Omit<PoolView, "lanes" | "workers" | "totals" | "window">>
  & {
    /** Lanes, highest priority first. `index` follows from the place. @default {one empty lane} */
    readonly lanes?: readonly LaneOverrides[];
    /** Workers, oldest first. @default {`live` workers, of which `busy` run a job} */
    readonly workers?: readonly Partial<WorkerView>[];
    /** Counts since the pool began. */
    readonly totals?: Partial<Totals>;
    /** Rates and durations of the last tick's window. */
    readonly window?: WindowOverrides;
  };

/** `nowMs` of a view unless it is given: 2026-01-01T00:00:00Z, where `VirtualClock` starts too. */
export const VIEW_NOW_MS: number = Date.UTC(2026, 0, 1);

/**
 * A frozen view of a pool. Everything has a default: one empty lane, one idle worker, no bounds met.
 *
 * What follows from something else does so unless it is given: `live`, `busy` and `idle` from
 * `workers` and back, `target` from the worker count, `limit` from `size.max`. `readyOlderThan`
 * takes the ready jobs of a lane to have come evenly, the oldest `oldestWaitMs` ago.
 *
 * @example
 * ```ts
 * import { makeView } from "@sluice/sluice/testing";
 * import assert from "node:assert/strict";
 *
 * const view = makeView({ live: 3, busy: 2, lanes: [{ name: "urgent", ready: 4, oldestWaitMs: 80 }] });
 *
 * assert.equal(view.idle, 1);
 * assert.equal(view.lanes[0]?.index, 0);
 * assert.equal(view.readyOlderThan(40), 3); // waits of 80, 60, 40 and 20 ms
 * ```
 */
export function makeView(overrides: ViewOverrides = {}): PoolView {
  const { lanes: laneOverrides, workers: workerOverrides, totals, window, ...rest } = overrides;
  const nowMs = rest.nowMs ?? VIEW_NOW_MS;
  const lanes = (laneOverrides ?? [{}]).map((lane, index) =>
    makeLane({ name: `lane${index}`, ...lane, index })
  );
  const workers = workerOverrides === undefined
    ? makeWorkers(rest, nowMs)
    : workerOverrides.map((worker, index) =>
      makeWorker({ id: `w${index + 1}`, startedAtMs: nowMs, sinceMs: nowMs, ...worker })
    );
  const busy = workers.filter((worker) => worker.state === "busy").length;
  const idle = workers.filter((worker) => worker.state === "idle").length;
  const size = Object.freeze(rest.size ?? { min: 0, max: 100 });
  return Object.freeze({
    pool: "pool",
    live: busy + idle,
    busy,
    idle,
    target: workers.length,
    limit: size.max,
    rateBound: false,
    holdUntilMs: 0,
    heldBy: "",
    used: [],
    openKeys: 0,
    startsPerSec: Infinity,
    peers: 1,
    stale: false,
    readyOlderThan: (ageMs: number) =>
      lanes.reduce((sum, lane) => sum + readyOlder(lane, ageMs), 0),
    ...rest,
    nowMs,
    size,
    lanes: Object.freeze(lanes),
    workers: Object.freeze(workers),
    totals: makeTotals(totals),
    window: makeWindow(window),
    signals: freezeSignals(rest.signals ?? {}),
  });
}

const EMPTY_LANE = viewLane(
  laneSettings(v.parse(laneShape, { name: "lane0" }), {
    targetWaitMs: 1000,
    handOns: { pool: "" },
  }),
);

/** A frozen, empty lane that is never bound: no key, pause or deadline. */
export function makeLane(overrides: LaneOverrides = {}): LaneView {
  return Object.freeze({
    ...EMPTY_LANE,
    ...overrides,
    window: makeWindow(overrides.window),
  });
}

/** A frozen worker, idle since `VIEW_NOW_MS`. */
export function makeWorker(overrides: Partial<WorkerView> = {}): WorkerView {
  return Object.freeze({
    id: "w1",
    state: "idle",
    startedAtMs: VIEW_NOW_MS,
    sinceMs: VIEW_NOW_MS,
    jobsDone: 0,
    ...overrides,
  });
}

/** Frozen rates of an empty one-second window. */
export function makeWindow(overrides: WindowOverrides = {}): WindowStats {
  return Object.freeze({
    windowMs: 1000,
    arrivalsPerSec: 0,
    completionsPerSec: 0,
    failuresPerSec: 0,
    shedPerSec: 0,
    serviceMs: undefined,
    waitMs: undefined,
    readyWaitMs: overrides.waitMs,
    ...overrides,
  });
}

/** Frozen counts of a pool that has done nothing yet. */
export function makeTotals(overrides: Partial<Totals> = {}): Totals {
  return Object.freeze({
    arrivals: 0,
    starts: 0,
    completions: 0,
    failures: 0,
    shed: 0,
    serviceMs: 0,
    serviceMsSq: 0,
    busyMs: 0,
    deferrals: 0,
    overloads: 0,
    ...overrides,
  });
}

/** A frozen summary of `count` durations that all took `ms`. */
export function makeSummary(ms: number, count = 1): Summary {
  return Object.freeze({ count, mean: ms, p50: ms, p95: ms, p99: ms });
}

function makeWorkers(
  { live, busy = 0, idle }: Pick<ViewOverrides, "live" | "busy" | "idle">,
  nowMs: number,
): WorkerView[] {
  const count = live ?? (idle === undefined ? Math.max(1, busy) : busy + idle);
  return Array.from({ length: count }, (_, index) => {
    const state: WorkerState = index < busy ? "busy" : "idle";
    return makeWorker({ id: `w${index + 1}`, state, startedAtMs: nowMs, sinceMs: nowMs });
  });
}

function readyOlder(lane: LaneView, ageMs: number): number {
  if (ageMs <= 0) return lane.ready;
  if (lane.ready === 0 || lane.oldestWaitMs < ageMs) return 0;
  const older = Math.floor(lane.ready * (1 - ageMs / lane.oldestWaitMs)) + 1;
  return Math.min(lane.ready, older);
}

function freezeSignals(signals: Readonly<Record<string, Signal>>): PoolView["signals"] {
  for (const signal of Object.values(signals)) Object.freeze(signal);
  return Object.freeze({ ...signals });
}
