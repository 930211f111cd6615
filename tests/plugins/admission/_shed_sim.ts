/**
 * A full pool under Poisson load, with a real admission in front: 16 workers of 20 ms jobs, strict
 * priority, every job of use within 100 ms. The scenario of `control.md` 3.
 *
 * @module
 */

import { makeLane, makeView, makeWindow } from "../../../src/testing/views.ts";
import { Heap } from "../../../src/base/heap.ts";
import { randomStream } from "../../../src/base/random.ts";
import { RateMeter, SampleRing, SmoothMean } from "../../../src/base/stats.ts";
import type { Admission } from "../../../src/contract/strategy.ts";
import type { LaneView, PoolView } from "../../../src/contract/view.ts";

/** What to run. */
export interface ShedScenario {
  /** Offered load from each time on, as a multiple of the capacity. In order, the first from 0. */
  readonly phases: readonly { readonly fromMs: number; readonly load: number }[];
  /** Length of the run, ms. */
  readonly durationMs: number;
  /** Share of the arrivals that each lane gets, highest first. */
  readonly lanes: readonly number[];
  /** Run times: all alike, or exponential. */
  readonly service: "det" | "exp";
  /** For chance. */
  readonly seed: number;
}

/** What became of the jobs that arrived from `fromMs` to `untilMs`, by lane. */
export interface LaneOutcome {
  readonly offered: number;
  readonly refused: number;
  readonly dropped: number;
  readonly inTime: number;
  readonly late: number;
}

/** One run. */
export interface ShedResult {
  /** Counts of the jobs that arrived within a span, one a lane. */
  outcome(fromMs: number, untilMs: number): readonly LaneOutcome[];
  /** Jobs that ended in time, in % of what could have been done of those that arrived in the span. */
  goodput(fromMs: number, untilMs: number): number;
  /** Most jobs that waited at once. */
  readonly longestQueue: number;
}

const WORKERS = 16;
const MEAN_MS = 20;
const DEADLINE_MS = 100;
const TICK_MS = 50;
const CAPACITY_PER_SEC = WORKERS * 1000 / MEAN_MS;

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
type Fate = "refused" | "dropped" | "inTime" | "late" | "open";

interface SimJob {
  readonly lane: number;
  readonly arrivedMs: number;
  fate: Fate;
}

interface SimLane extends Mutable<LaneView> {
  readonly waiting: SimJob[];
  head: number;
  accepted: number;
  readonly rate: RateMeter;
  readonly mean: SmoothMean;
  readonly services: SampleRing;
}

interface SimEvent {
  readonly atMs: number;
  readonly kind: "arrival" | "end" | "tick";
  readonly job?: SimJob;
  readonly serviceMs?: number;
}

/** Runs the scenario to its end, and on until all is done. */
export function simulateShedding(admission: Admission, scenario: ShedScenario): ShedResult {
  const random = randomStream(scenario.seed, "shed");
  const events = new Heap<SimEvent>((a, b) => a.atMs < b.atMs);
  const jobs: SimJob[] = [];
  const lanes = scenario.lanes.map((_, index) => simLane(index));
  const view: Mutable<PoolView> = {
    ...makeView({ live: WORKERS, limit: WORKERS, size: { min: WORKERS, max: WORKERS } }),
    lanes,
  };
  let longestQueue = 0;

  scheduleArrival(0);
  events.push({ atMs: 0, kind: "tick" });
  for (let event = events.pop(); event !== undefined; event = events.pop()) {
    view.nowMs = event.atMs;
    for (const lane of lanes) refresh(lane, event.atMs);
    if (event.kind === "arrival") arrive(event.atMs);
    else if (event.kind === "end") end(event);
    else tick(event.atMs);
    dispatch(event.atMs);
  }
  return { outcome, goodput, longestQueue };

  function scheduleArrival(nowMs: number): void {
    const phase = scenario.phases.findLast(({ fromMs }) => fromMs <= nowMs)!;
    const atMs = nowMs - Math.log(1 - random()) * 1000 / (phase.load * CAPACITY_PER_SEC);
    if (atMs < scenario.durationMs) events.push({ atMs, kind: "arrival" });
  }

  function arrive(nowMs: number): void {
    scheduleArrival(nowMs);
    let draw = random();
    const lane = lanes.find((_, index) => (draw -= scenario.lanes[index]!) < 0) ?? lanes.at(-1)!;
    const job: SimJob = { lane: lane.index, arrivedMs: nowMs, fate: "open" };
    jobs.push(job);
    if (!admission.submit({ lane: lane.name, payload: null }, view).admit) {
      job.fate = "refused";
      return;
    }
    lane.accepted++;
    lane.waiting.push(job);
    longestQueue = Math.max(longestQueue, lanes.reduce((sum, { ready }) => sum + ready, 1));
  }

  function end({ atMs, job, serviceMs }: SimEvent): void {
    const lane = lanes[job!.lane]!;
    job!.fate = atMs - job!.arrivedMs <= DEADLINE_MS + 1e-6 ? "inTime" : "late";
    lane.running--;
    lane.mean.add(serviceMs!);
    lane.meanServiceMs = lane.mean.value;
    lane.services.add(atMs, serviceMs!);
    occupy(-1);
  }

  function tick(nowMs: number): void {
    for (const lane of lanes) {
      lane.rate.update(nowMs, lane.accepted);
      lane.arrivalsPerSec = lane.rate.perSec;
      lane.window = makeWindow({ serviceMs: lane.services.summary(-Infinity) });
    }
    if (nowMs < scenario.durationMs) events.push({ atMs: nowMs + TICK_MS, kind: "tick" });
  }

  function dispatch(nowMs: number): void {
    for (const lane of lanes) {
      while (view.idle > 0 && lane.head < lane.waiting.length) {
        const job = lane.waiting[lane.head++]!;
        const kept = admission.take?.(lane, nowMs - job.arrivedMs, view) ?? true;
        if (kept) start(lane, job, nowMs);
        else job.fate = "dropped";
      }
    }
  }

  function start(lane: SimLane, job: SimJob, nowMs: number): void {
    const serviceMs = scenario.service === "det" ? MEAN_MS : -MEAN_MS * Math.log(1 - random());
    lane.running++;
    occupy(1);
    events.push({ atMs: nowMs + serviceMs, kind: "end", job, serviceMs });
  }

  function occupy(change: number): void {
    view.busy += change;
    view.idle -= change;
  }

  function outcome(fromMs: number, untilMs: number): readonly LaneOutcome[] {
    return lanes.map((lane) => {
      const own = jobs.filter((job) =>
        job.lane === lane.index && job.arrivedMs >= fromMs && job.arrivedMs < untilMs
      );
      const count = (fate: Fate): number => own.filter((job) => job.fate === fate).length;
      return {
        offered: own.length,
        refused: count("refused"),
        dropped: count("dropped"),
        inTime: count("inTime"),
        late: count("late"),
      };
    });
  }

  function goodput(fromMs: number, untilMs: number): number {
    const all = outcome(fromMs, untilMs);
    const inTime = all.reduce((sum, lane) => sum + lane.inTime, 0);
    const offered = all.reduce((sum, lane) => sum + lane.offered, 0);
    return 100 * inTime / Math.min(offered, CAPACITY_PER_SEC * (untilMs - fromMs) / 1000);
  }
}

function simLane(index: number): SimLane {
  return {
    ...makeLane({ name: `lane${index}`, index, deadlineMs: DEADLINE_MS }),
    waiting: [],
    head: 0,
    accepted: 0,
    rate: new RateMeter(0),
    mean: new SmoothMean(),
    services: new SampleRing(256),
  };
}

function refresh(lane: SimLane, nowMs: number): void {
  lane.ready = lane.waiting.length - lane.head;
  lane.oldestWaitMs = lane.ready === 0 ? 0 : nowMs - lane.waiting[lane.head]!.arrivedMs;
}
