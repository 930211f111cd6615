/**
 * The lanes experiment, run by a real lane policy on ideal workers: 10 workers, 2,000
 * batch jobs of 100 to 300 ms at the start, urgent jobs of 20 ms that come evenly for 8 s.
 *
 * Counted as the study in `control.md` 2.1 found it to count: what ends within 8.5 s, divided by
 * 8 s; timers late by 0.3 ms on average, exponentially.
 *
 * @module
 */

import { makeLane, makeView } from "../../../src/testing/views.ts";
import { Heap } from "../../../src/base/heap.ts";
import { randomStream } from "../../../src/base/random.ts";
import { quantile, RateMeter, SmoothMean } from "../../../src/base/stats.ts";
import type { LanePolicy } from "../../../src/contract/strategy.ts";
import type { LaneView, PoolView } from "../../../src/contract/view.ts";

/** What one run came to. */
export interface LanesResult {
  /** Urgent jobs done. */
  readonly done: number;
  /** Median sojourn of urgent jobs, ms. NaN if none ended. */
  readonly p50: number;
  /** 99th percentile, ms. NaN if none ended. */
  readonly p99: number;
  /** 99th percentile of the urgent jobs enqueued after the first second, ms. NaN if none ended. */
  readonly warmP99: number;
  /** Batch jobs done per second. */
  readonly batchPerSec: number;
  /** Most batch jobs that ran at once. */
  readonly mostBatch: number;
}

const WORKERS = 10;
const BACKLOG = 2000;
const RUN_MS = 8000;
const COUNTED_MS = 8500;
const WARM_MS = 1000;
const LATENESS_MS = 0.3;

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

interface SimLane extends Mutable<LaneView> {
  readonly waiting: number[];
  head: number;
}

interface SimEvent {
  readonly atMs: number;
  readonly lane: number;
  /** When the job that ends now was enqueued. `undefined`: an urgent job arrives. */
  readonly enqueuedMs: number | undefined;
}

/** Runs the experiment. */
export function simulateLanes(policy: LanePolicy, urgentPerSec: number, seed: number): LanesResult {
  const random = randomStream(seed, "lanes");
  const events = new Heap<SimEvent>((a, b) => a.atMs < b.atMs);
  const sojourns: number[] = [];
  const warmSojourns: number[] = [];
  let batchDone = 0;
  let mostBatch = 0;
  const urgent = lane("urgent", 0);
  const batch = lane("batch", 1);
  const view: Mutable<PoolView> = {
    ...makeView({ live: WORKERS, idle: WORKERS }),
    lanes: [urgent, batch],
  };
  const rate = new RateMeter(0);
  const services = [new SmoothMean(), new SmoothMean()];
  let arrived = 0;

  for (let job = 0; job < BACKLOG; job++) batch.waiting.push(0);
  for (let job = 0; job < urgentPerSec * RUN_MS / 1000; job++) {
    events.push({ atMs: (job + 1) * 1000 / urgentPerSec, lane: 0, enqueuedMs: undefined });
  }
  dispatch(0);
  for (let event = events.pop(); event !== undefined && event.atMs <= COUNTED_MS;) {
    if (event.enqueuedMs === undefined) arrive(event.atMs);
    else end(event, event.enqueuedMs);
    dispatch(event.atMs);
    event = events.pop();
  }

  sojourns.sort((a, b) => a - b);
  warmSojourns.sort((a, b) => a - b);
  return {
    done: sojourns.length,
    p50: sojourns.length === 0 ? NaN : quantile(sojourns, 0.5),
    p99: sojourns.length === 0 ? NaN : quantile(sojourns, 0.99),
    warmP99: warmSojourns.length === 0 ? NaN : quantile(warmSojourns, 0.99),
    batchPerSec: batchDone * 1000 / RUN_MS,
    mostBatch,
  };

  function arrive(nowMs: number): void {
    urgent.waiting.push(nowMs);
    arrived++;
    rate.update(nowMs, arrived);
    urgent.arrivalsPerSec = rate.perSec;
  }

  function end(event: SimEvent, enqueuedMs: number): void {
    const ended = event.lane === 0 ? urgent : batch;
    ended.running--;
    view.busy--;
    view.idle++;
    ended.meanServiceMs = services[event.lane]!.value;
    if (event.lane === 1) {
      batchDone++;
      return;
    }
    sojourns.push(event.atMs - enqueuedMs);
    if (enqueuedMs >= WARM_MS) warmSojourns.push(event.atMs - enqueuedMs);
  }

  function dispatch(nowMs: number): void {
    view.nowMs = nowMs;
    while (view.idle > 0) {
      const eligible = [urgent, batch].filter((each) => refresh(each, nowMs).ready > 0);
      const chosen = eligible.length === 0 ? undefined : policy(view, eligible);
      if (chosen === undefined) return;
      start(chosen.index === 0 ? urgent : batch, nowMs);
    }
  }

  function start(from: SimLane, nowMs: number): void {
    const serviceMs = (from.index === 0 ? 20 : 100 + 200 * random()) -
      LATENESS_MS * Math.log(1 - random());
    services[from.index]!.add(serviceMs);
    events.push({
      atMs: nowMs + serviceMs,
      lane: from.index,
      enqueuedMs: from.waiting[from.head++]!,
    });
    from.running++;
    view.busy++;
    view.idle--;
    mostBatch = Math.max(mostBatch, batch.running);
  }
}

function lane(name: string, index: number): SimLane {
  return { ...makeLane({ name, index }), waiting: [], head: 0 };
}

function refresh(each: SimLane, nowMs: number): SimLane {
  each.ready = each.waiting.length - each.head;
  each.oldestWaitMs = each.ready === 0 ? 0 : nowMs - each.waiting[each.head]!;
  return each;
}
