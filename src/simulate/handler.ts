/**
 * What replaces a handler: it takes as long as the scenario says, and ends by callback.
 *
 * @module
 */

import { dueAtOf } from "../base/due.ts";
import type { Clock, Timer } from "../time/clock.ts";
import { Fatal, RetryExactly, RetryLater } from "../contract/errors.ts";
import type { Job, JobContext } from "../contract/job.ts";
import type { Bound, Handler } from "../contract/plugin.ts";
import { randomStream } from "../base/random.ts";
import { JobRun } from "../runtime/job_run.ts";
import { durations } from "./chance.ts";
import type { LaneMeter, PoolMeter } from "./meter.ts";
import type { Scenario, ScenarioLane, ScenarioPool } from "./read_scenario.ts";
import { type Attempt, RecordedAttempts } from "./recorded.ts";

/** How the systems behind the handlers are just now. */
export interface Downstream {
  /** How many times as long as usual attempts take. */
  factor: number;
  /** How many times as many jobs as usual knees bear. */
  slots: number;
  /** True: attempts that end now fail. */
  down: boolean;
  /** True: it says "not now" to attempts that end now. */
  refuses: boolean;
  /** For how long it asks to be left alone then, ms. `undefined`: it does not say. */
  retryAfterMs: number | undefined;
}

/** What one lane's attempts come to. Its chance is its own: no other lane's load disturbs it. */
export interface LaneWork {
  /** What it counts. */
  readonly meter: LaneMeter;
  /** The load it is given. */
  readonly load: ScenarioLane;
  /** Draws how late the timer of an attempt is, ms. */
  readonly lateMs: () => number;
  /** Whether the next attempt fails. */
  readonly fails: () => boolean;
  /** What the next attempt that asks to be deferred throws. `undefined`: it does not. */
  readonly deferral: () => RetryLater | undefined;
  /** What was recorded of its attempts. `undefined`: nothing. */
  readonly recorded: RecordedAttempts | undefined;
}

/** Thrown by attempts that the scenario makes fail; made once, as a stack costs more than a run. */
const FAILURE = new Error("The scenario makes this attempt fail");
const FATAL = new Fatal("The scenario makes this attempt fail for good");
const DOWN = new Error("The scenario makes the downstream fail");

/** How long a receiver that names no time puts an attempt off, ms: as `http` does. */
const REFUSED_MS = 1000;

/** What the attempts of each lane come to, by name, for all processes. */
export function laneWorks(
  { settings: { name }, lanes }: ScenarioPool,
  meter: PoolMeter,
  { seed, timerLateMs }: Scenario,
): ReadonlyMap<string, LaneWork> {
  return new Map(lanes.map((load) => {
    const lane = load.settings.name;
    const stream = (what: string): () => number => randomStream(seed, `${name}/${lane}/${what}`);
    const late = timerLateMs && durations(timerLateMs, stream("late"));
    const failures = stream("failures");
    const deferrals = stream("deferrals");
    const { failRate, deferRate, deferMs, serviceMs } = load;
    const later = new RetryLater(deferMs, "the scenario defers the job");
    const work: LaneWork = {
      meter: meter.lane(lane),
      load,
      lateMs: late ?? (() => 0),
      fails: () => failRate > 0 && failures() < failRate,
      deferral: () => deferRate > 0 && deferrals() < deferRate ? later : undefined,
      recorded: serviceMs.kind === "trace" ? new RecordedAttempts(serviceMs.runs) : undefined,
    };
    return [lane, work];
  }));
}

/** What a simulated handler needs. */
export interface SimulatedHandler {
  /** The lanes of its pool. */
  readonly works: ReadonlyMap<string, LaneWork>;
  /** What it calls. */
  readonly downstream: Downstream;
  /** Real or virtual time: not the clock of its process, as what runs is ended one by one. */
  readonly clock: Clock;
  /** Until when nothing of its process runs. */
  readonly blockedUntilMs: () => number;
  /** Attempts that run in its process. */
  readonly running: Set<SimulatedRun>;
  /** Whether an attempt of that length may be aborted, and so listens: that costs more than a run. */
  readonly heeds: (serviceMs: number) => boolean;
  /** Called after each end. */
  readonly ended: () => void;
}

/** Replaces all handlers of a pool. */
export function simulatedHandler(parts: SimulatedHandler): Bound<"handler"> {
  const handler: Handler = {
    run: (job, context) => new SimulatedRun(job, context, parts),
  };
  return { kind: "handler", name: "simulated", given: {}, options: {}, create: () => handler };
}

/** One attempt: to its pool a promise, but one that calls back at once when its time has come. */
export class SimulatedRun {
  readonly #parts: SimulatedHandler;
  readonly #context: JobContext;
  readonly #work: LaneWork;
  readonly #serviceMs: number;
  readonly #recorded: Attempt | undefined;
  #timer: Timer | undefined;
  #ok: (value: undefined) => void = ignore;
  #fail: (thrown: unknown) => void = ignore;

  /** Begins an attempt; `then` sets its end. */
  constructor(job: Job, context: JobContext, parts: SimulatedHandler) {
    const work = parts.works.get(job.lane)!; // only lanes with a load get jobs
    const { meter } = work;
    this.#recorded = work.recorded?.next(job.id, job.payload);
    const usualMs = typeof job.payload === "number" ? job.payload : this.#recorded?.ms ?? 0;
    this.#parts = parts;
    this.#context = context;
    this.#work = work;
    meter.started++;
    meter.running++;
    meter.waited(Math.max(0, parts.clock.nowMs() - dueAtMsOf(context, job)));
    const crowded = crowding(work, parts.downstream.slots);
    this.#serviceMs = usualMs * parts.downstream.factor * crowded + work.lateMs();
    // Once the attempt is known to the pool.
    if (crowded > 1 && tells(work)) queueMicrotask(() => context.overloaded());
  }

  /** Called once by the pool, with what is to be told. */
  then(ok: (value: undefined) => void, fail: (thrown: unknown) => void): void {
    const { clock, running, heeds } = this.#parts;
    this.#ok = ok;
    this.#fail = fail;
    running.add(this);
    this.#timer = clock.at(clock.nowMs() + this.#serviceMs, this.#end);
    if (!heeds(this.#serviceMs)) return;
    const { signal } = this.#context;
    signal.addEventListener("abort", () => {
      queueMicrotask(() => this.#abort(signal.reason)); // as late as a promise would tell
    });
  }

  /** Runs no more. False if it did not run. */
  vanish(): boolean {
    if (!this.#parts.running.delete(this)) return false;
    this.#timer?.cancel();
    this.#work.meter.running--;
    return true;
  }

  #abort(reason: unknown): void {
    if (!this.vanish()) return;
    this.#fail(reason);
    this.#parts.ended();
  }

  #refuse({ retryAfterMs }: Downstream): void {
    this.#context.overloaded(retryAfterMs);
    this.#fail(
      new RetryLater(retryAfterMs ?? REFUSED_MS, "the scenario makes the receiver refuse"),
    );
  }

  readonly #end = (): void => {
    const { downstream, ended, clock, blockedUntilMs } = this.#parts;
    if (clock.nowMs() < blockedUntilMs()) {
      this.#timer = clock.at(blockedUntilMs(), this.#end);
      return;
    }
    if (!this.vanish()) return;
    const deferral = this.#work.deferral();
    const fails = this.#work.fails();
    const recorded = thrownIn(this.#recorded);
    if (downstream.down) this.#fail(DOWN);
    else if (downstream.refuses) this.#refuse(downstream);
    else if (recorded !== undefined) this.#fail(recorded);
    else if (deferral !== undefined) this.#fail(deferral);
    else if (fails) this.#fail(FAILURE);
    else this.#ok(undefined);
    ended();
  };
}

/** What a recorded attempt throws. `undefined`: it ends well. */
function thrownIn(attempt: Attempt | undefined): Error | undefined {
  switch (attempt?.end) {
    case "failed":
      return FAILURE;
    case "fatal":
      return FATAL;
    case "deferred":
      return new RetryExactly(attempt.forMs, "the scenario defers the job");
  }
}

/** How much longer an attempt takes because this many run: this one is counted. */
function crowding({ load: { serviceMs }, meter: { running } }: LaneWork, times: number): number {
  if (serviceMs.kind !== "knee") return 1;
  const slots = Math.max(1, Math.round(serviceMs.slots * times));
  if (running <= slots) return 1;
  return running / slots * (1 + serviceMs.collapse * (running - slots));
}

function tells({ load: { serviceMs } }: LaneWork): boolean {
  return serviceMs.kind === "knee" && serviceMs.tells;
}

/** The pool's own attempt also knows when its job was due, which handlers are not told. */
function dueAtMsOf(context: JobContext, { createdAtMs }: Job): number {
  if (!(context instanceof JobRun)) return createdAtMs;
  return dueAtOf(context.job);
}

function ignore(): void {}
