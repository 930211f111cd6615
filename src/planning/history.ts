/**
 * The recent past of a pool: one small sample a second, thinned to one a minute for an hour, so that
 * its memory stays flat. What a diagnosis is made from.
 *
 * @module
 */

import { type Plan, waitsFor } from "./planner.ts";
import { ScaleEvents } from "./scale_events.ts";
import { faded, WINDOW_MS } from "../base/stats.ts";
import type { DownstreamUse, LaneView, PoolView } from "../contract/view.ts";

/** One lane at one time. */
export interface LaneSample {
  /** Name from the config. */
  readonly name: string;
  /** Wait that growth aims to stay below, ms. `null`: none. */
  readonly targetWaitMs: number | null;
  /** Within how long growth aims to start what waits, ms. `undefined`: it does not. */
  readonly startWithinMs: number | undefined;
  /** Claimable jobs. */
  readonly ready: number;
  /** Jobs that run. */
  readonly running: number;
  /** Wait of the oldest claimable job, ms. */
  readonly oldestWaitMs: number;
  /** Smoothed arrival rate, jobs per second. */
  readonly arrivalsPerSec: number;
  /** Jobs done per second over the window. */
  readonly completionsPerSec: number;
  /** 95th percentile of waits over the window, ms. 0: none started. */
  readonly waitP95Ms: number;
  /** 99th percentile of waits over the window, ms. 0: none started. */
  readonly waitP99Ms: number;
  /** Attempts that ended in the window and are remembered. */
  readonly ended: number;
  /** Mean run time over the window, ms. 0: none ended. */
  readonly serviceMs: number;
  /** 99th percentile of run times over the window, ms. 0: none ended. */
  readonly serviceP99Ms: number;
  /** Worker time spent on the lane since the pool began, ms. */
  readonly servedMs: number;
  /**
   * Workers that lower lanes left free or to this lane, while they had ready jobs: the fewest since the last
   * sample. `undefined`: they had none.
   */
  readonly kept: number | undefined;
}

/** One pool at one time. Counts run since the pool began. */
export interface Sample {
  /** When it was taken. */
  readonly atMs: number;
  /** Workers that are neither starting, retiring nor stuck. */
  readonly live: number;
  /** Live workers that run a job. */
  readonly busy: number;
  /** Workers whose handler ignores its abort. */
  readonly stuck: number;
  /** Worker count of the decision in effect. */
  readonly target: number;
  /** The tightest bound: caps and `size.max`. */
  readonly limit: number;
  /** What sets `limit`, or the start rate while that binds: `size.max`, `cap:NAME`, `downstream:NAME` or `cooldown`. */
  readonly boundBy: string;
  /** Bounds of the worker count. */
  readonly size: { readonly min: number; readonly max: number };
  /** True while a start rate or a cool-down holds ready jobs back. */
  readonly rateBound: boolean;
  /** While the pool cools down: until when nothing starts, ms since epoch. 0: it does not. */
  readonly holdUntilMs: number;
  /** The named downstream that it waits for, meanwhile. Empty: the receiver has no name, or it does not wait. */
  readonly heldBy: string;
  /** What its jobs have used of downstreams. Counts run since the pool began. */
  readonly used: readonly DownstreamUse[];
  /** Keys whose circuit breakers are not closed. */
  readonly openKeys: number;
  /** Changes of the target, those in one direction within 50 ms counted once. */
  readonly changes: number;
  /** Changes of the target in the other direction than the one before. */
  readonly reversals: number;
  /** Jobs accepted. */
  readonly arrivals: number;
  /** Attempts that ended, in any way. */
  readonly ended: number;
  /** Jobs done. */
  readonly completions: number;
  /** Attempts that failed. */
  readonly failures: number;
  /** Attempts that their handler deferred. */
  readonly deferrals: number;
  /** Jobs rejected, or dropped as late. */
  readonly shed: number;
  /** Integral of the number of busy workers over time, ms. */
  readonly busyMs: number;
  /** Its lanes, highest priority first. */
  readonly lanes: readonly LaneSample[];
}

/** The recent past of one pool. */
export interface History {
  /** Name of the pool. */
  readonly pool: string;
  /** Name of its controller. */
  readonly controller: string;
  /** Name of its admission. */
  readonly admission: string;
  /** Oldest first: one a minute, the last two minutes one a second. While a pool rests, what it is like as its rates fade. */
  readonly samples: readonly Sample[];
}

/** What steers a pool, as far as a history names it. */
export interface InForce {
  /** Its controller. */
  readonly controller: { readonly name: string };
  /** Its admission. */
  readonly admission: { readonly name: string };
}

/** Time between samples, ms. */
const EVERY_MS = 1000;
const KEPT = 120;

/** Time between the samples that stay longer, ms. */
const THIN_EVERY_MS = 60_000;
const THIN_KEPT = 60;

/** Times are compared to this many ms. */
const GRAIN_MS = 0.5;

/** Takes the samples of one pool. Cheap where it is called often: what costs comes once a second. */
export class HistoryRecorder {
  /** How often the target changed. */
  readonly scale = new ScaleEvents();
  readonly #latest = new Ring<Sample>(KEPT);
  readonly #thin = new Ring<Sample>(THIN_KEPT);
  readonly #kept: (number | undefined)[] = [];
  readonly #pool: string;
  readonly #rests = new WeakMap<Sample, number>(); // until when it rested after one of the latest samples
  #read: History | undefined;
  #rest: Sample | undefined; // of the tick after which it came to rest, until the next one; of its end
  #sampledAtMs = -Infinity;
  #thinnedAtMs = -Infinity;

  /** Begins empty. */
  constructor(pool: string) {
    this.#pool = pool;
  }

  /** When the latest sample was taken. `-Infinity`: none was. */
  get sampledAtMs(): number {
    return this.#sampledAtMs;
  }

  /** Takes a plan in, at each tick and each growth. */
  planned(nowMs: number, target: number): void {
    this.scale.look(nowMs, target);
  }

  /**
   * Looks at the pool, at each tick. Counts of a store that cannot be read are not taken.
   *
   * @param rests True if no tick follows until something happens.
   */
  tick(view: PoolView, plan: Plan, rests = false): void {
    if (view.stale) return;
    this.#watchKept(view);
    this.#keepRest(view.nowMs);
    if (view.nowMs - this.#sampledAtMs < EVERY_MS - GRAIN_MS) {
      if (rests) this.#rest = this.#sample(view, plan);
      return;
    }
    this.#sampledAtMs = view.nowMs;
    this.#read = undefined;
    const sample = this.#sample(view, plan);
    if (!haveSameLanes(sample, this.#latest.last)) {
      this.#latest.clear();
      this.#thin.clear();
      this.#thinnedAtMs = -Infinity;
    }
    this.#latest.add(sample);
    if (rests) this.#rest = sample;
    this.#kept.fill(undefined);
    if (view.nowMs - this.#thinnedAtMs < THIN_EVERY_MS - GRAIN_MS) return;
    this.#thinnedAtMs = view.nowMs;
    this.#thin.add(sample);
  }

  /** The pool has stopped: no tick follows, and what it is like from now on is shown. */
  stopped(view: PoolView): void {
    const { last } = this.#latest;
    if (last === undefined) return;
    this.#keepRest(view.nowMs);
    const { live, busy, nowMs: atMs } = view;
    const lanes = last.lanes.map((lane) => ({ ...lane, ...NO_TRAFFIC, running: 0 }));
    this.#rest = { ...last, atMs, live, busy, target: 0, lanes };
  }

  /**
   * What is remembered: the same object until the next sample.
   *
   * @param inForce What steers the pool now.
   */
  read(inForce: InForce): History {
    const [controller, admission] = [inForce.controller.name, inForce.admission.name];
    if (this.#read?.controller === controller && this.#read.admission === admission) {
      return this.#read;
    }
    const latest = this.#latest.read();
    const beganAtMs = latest[0]?.atMs ?? Infinity;
    const older = this.#thin.read().filter((sample) => sample.atMs < beganAtMs);
    this.#read = { pool: this.#pool, controller, admission, samples: [...older, ...latest] };
    return this.#read;
  }

  /** As `read`, with what the pool was like while it rested: the same, but for rates, which fade. */
  shown(inForce: InForce, nowMs: number): History {
    const history = this.read(inForce);
    const rest = this.#rest;
    const samples = rest === undefined || rest === history.samples.at(-1)
      ? history.samples
      : [...history.samples, rest];
    return {
      ...history,
      samples: samples.flatMap((sample) => {
        if (sample === rest) return [sample, ...fading(sample, nowMs)];
        const untilMs = this.#rests.get(sample);
        return untilMs === undefined ? sample : [sample, ...rested(sample, untilMs)];
      }),
    };
  }

  /** A rest that lasted stays known. A short one does not: no more than a sample a second is kept. */
  #keepRest(nowMs: number): void {
    const rest = this.#rest;
    this.#rest = undefined;
    if (rest === undefined || nowMs - rest.atMs < 2 * EVERY_MS) return;
    this.#rests.set(rest, nowMs);
    if (rest === this.#latest.last) return;
    this.#latest.add(rest);
    this.#read = undefined;
  }

  #watchKept({ lanes, live }: PoolView): void {
    let running = 0;
    let ready = 0;
    for (let index = lanes.length - 1; index >= 0; index--) {
      const lane = lanes[index]!;
      if (ready > 0) {
        const kept = Math.max(0, live - running);
        this.#kept[index] = Math.min(kept, this.#kept[index] ?? Infinity);
      }
      running += lane.running;
      if (lane.running < lane.maxRunning) ready += lane.ready;
    }
  }

  #sample(view: PoolView, plan: Plan): Sample {
    const { totals } = view;
    let stuck = 0;
    for (const worker of view.workers) if (worker.state === "stuck") stuck++;
    return {
      atMs: view.nowMs,
      live: view.live,
      busy: view.busy,
      stuck,
      target: plan.target,
      limit: plan.limit,
      boundBy: binderOf(view, plan),
      size: view.size,
      rateBound: view.rateBound,
      holdUntilMs: view.holdUntilMs,
      heldBy: view.heldBy,
      used: view.used.map((use) => ({ ...use })),
      openKeys: view.openKeys,
      changes: this.scale.count,
      reversals: this.scale.reversals,
      arrivals: totals.arrivals,
      ended: totals.completions + totals.failures + totals.deferrals,
      completions: totals.completions,
      failures: totals.failures,
      deferrals: totals.deferrals,
      shed: totals.shed,
      busyMs: totals.busyMs,
      lanes: view.lanes.map((lane) => laneSample(lane, this.#kept[lane.index])),
    };
  }
}

/** When a pool at rest is looked at while its rates fade, ms. The last time, its window is over. */
const FADING_MS = [1_000, 2_000, 3_000, 5_000, WINDOW_MS];

const NO_TRAFFIC = {
  arrivalsPerSec: 0,
  completionsPerSec: 0,
  waitP95Ms: 0,
  waitP99Ms: 0,
  ended: 0,
  serviceMs: 0,
  serviceP99Ms: 0,
};

/** What a pool is like that rests after a sample. Figures over the window stand until that is over. */
function fading(sample: Sample, untilMs: number): readonly Sample[] {
  if (!sample.lanes.some(hasTraffic)) return [];
  return FADING_MS.filter((afterMs) => sample.atMs + afterMs < untilMs).map((afterMs) => ({
    ...sample,
    atMs: sample.atMs + afterMs,
    lanes: sample.lanes.map((lane) =>
      afterMs >= WINDOW_MS
        ? { ...lane, ...NO_TRAFFIC }
        : { ...lane, arrivalsPerSec: faded(lane.arrivalsPerSec, afterMs) }
    ),
  }));
}

function hasTraffic(lane: LaneSample): boolean {
  return lane.arrivalsPerSec > 0 || lane.completionsPerSec > 0 || lane.ended > 0 ||
    lane.waitP99Ms > 0;
}

/** As `fading`, up to the end of the rest: no slope leads from there to what came then. */
function rested(sample: Sample, untilMs: number): readonly Sample[] {
  const samples = fading(sample, untilMs);
  const last = samples.at(-1);
  if (last === undefined || untilMs - last.atMs < 2 * EVERY_MS) return samples;
  return [...samples, { ...last, atMs: untilMs - EVERY_MS }];
}

function laneSample(lane: LaneView, kept: number | undefined): LaneSample {
  const { waitMs, serviceMs, completionsPerSec } = lane.window;
  return {
    name: lane.name,
    targetWaitMs: lane.targetWaitMs,
    startWithinMs: lane.startWithinMs,
    ready: lane.ready,
    running: lane.running,
    oldestWaitMs: lane.oldestWaitMs,
    arrivalsPerSec: lane.arrivalsPerSec,
    completionsPerSec,
    waitP95Ms: waitMs?.p95 ?? 0,
    waitP99Ms: waitMs?.p99 ?? 0,
    ended: serviceMs?.count ?? 0,
    serviceMs: serviceMs?.mean ?? 0,
    serviceP99Ms: serviceMs?.p99 ?? 0,
    servedMs: lane.servedMs,
    kept,
  };
}

/** False after a reload that changed the lanes: what was before says nothing of them. */
function haveSameLanes({ lanes }: Sample, before: Sample | undefined): boolean {
  return before === undefined ||
    lanes.length === before.lanes.length &&
      lanes.every(({ name }, index) => name === before.lanes[index]?.name);
}

/** What holds jobs back; else the tightest cap, if one is tighter than `size.max`. */
function binderOf(view: PoolView, { proposals, limit, rateCap }: Plan): string {
  if (view.rateBound) return waitsFor(view) ?? rateCap;
  const cap = proposals.find((part) => part.kind !== "controller" && part.workers === limit);
  return cap === undefined ? "size.max" : `${cap.kind}:${cap.by}`;
}

/** The latest values, oldest dropped first. */
class Ring<T> {
  readonly #values: T[] = [];
  readonly #most: number;
  #added = 0;

  constructor(most: number) {
    this.#most = most;
  }

  add(value: T): void {
    this.#values[this.#added++ % this.#most] = value;
  }

  get last(): T | undefined {
    return this.#values[(this.#added - 1) % this.#most];
  }

  clear(): void {
    this.#values.length = 0;
    this.#added = 0;
  }

  /** Oldest first. */
  read(): readonly T[] {
    const first = this.#added % this.#most;
    if (this.#added <= this.#most) return this.#values.slice();
    return [...this.#values.slice(first), ...this.#values.slice(0, first)];
  }
}
