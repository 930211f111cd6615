/**
 * Runs jobs: begins attempts, hears how they end, and asks handlers to end when they must.
 *
 * @module
 */

import type { Cooldown } from "./cooldown.ts";
import { Crew, type CrewContext } from "./crew.ts";
import { isNoted, keepingLog, noteAttempt } from "./attempt_note.ts";
import { addLine } from "../base/history.ts";
import { type AbortCause, AbortedError } from "../contract/errors.ts";
import type { DownstreamCall, Job, Logger } from "../contract/job.ts";
import type { Lane } from "./lane.ts";
import { dueAtOf, wasBlocked } from "../base/due.ts";
import { copyResult, Misfit } from "../base/payload.ts";
import { jobInput } from "./job_input.ts";
import { JobRun, type RunOwner } from "./job_run.ts";
import { type Fate, fateOf, isStranded, judge } from "./verdict.ts";
import type { Handler } from "../contract/plugin.ts";
import type { Overruns } from "./overruns.ts";
import type { PoolState } from "./pool_state.ts";
import type { Settler } from "./settler.ts";
import type { Leased } from "../contract/store.ts";
import { isPromise } from "./store_guard.ts";
import { withFields } from "./log.ts";
import type { LastThrows } from "./last_throws.ts";
import type { Redaction } from "../config/redaction.ts";
import type { Telemetry } from "./telemetry.ts";
import type { Worker, WorkerOwner } from "./worker.ts";

/** How long a handler may take to end after its abort before its worker counts as stuck. */
export const STUCK_AFTER_MS = 1000;

/** How long a job waits whose type this process does not know: another may. */
const UNKNOWN_TYPE_MS = 1000;

/** What a runner needs of its pool. Of its state it owns the counts of starts and ends. */
export interface RunnerContext extends CrewContext {
  /** Hears of what the receiver refuses. */
  readonly cooldown: Cooldown;
  /** Where endings go. */
  readonly settler: Settler;
  /** Chance for jitter. */
  readonly random: () => number;
  /** Handlers that run on after their attempt. */
  readonly overruns: Overruns;
  /** Told of what jobs die of. */
  readonly throws: LastThrows;
  /** Traces attempts. `undefined`: none. */
  readonly telemetry: Telemetry | undefined;
  /** What may be shown. */
  readonly redaction: Redaction;
}

/** Owns the attempts that run. */
export class Runner implements WorkerOwner, RunOwner {
  /** The workers it runs on. */
  readonly crew: Crew;
  readonly #context: RunnerContext;
  readonly #state: PoolState;
  readonly #telemetry: Telemetry | undefined;
  #running = 0;
  #nextLimitAtMs = Infinity;

  /** Begins with nothing running. `handlers`: by job type. */
  constructor(context: RunnerContext, handlers: ReadonlyMap<string, Handler>) {
    this.#context = context;
    this.#state = context.state;
    this.#telemetry = context.telemetry;
    this.crew = new Crew(context, handlers, this);
  }

  /** When `enforce` has something to do. `Infinity`: nothing runs against a limit. */
  nextAtMs(): number {
    return this.#nextLimitAtMs;
  }

  /** Where the handler of a job logs: with what it is about, and what may be shown is kept with the attempt. */
  logOf(run: JobRun): Logger {
    const { redaction, log, now } = this.#context;
    const { lane, job, attempt, startedAtMs } = run;
    const own = withFields(log, { lane: lane.name, job: job.id, attempt });
    const keeping = keepingLog(
      own,
      (line) => addLine(run.lines ??= [], { afterMs: Math.round(now() - startedAtMs), ...line }),
    );
    return redaction.logger(keeping, job.payload);
  }

  /** Begins an attempt on an idle worker. */
  begin(worker: Worker, job: Leased, lane: Lane, nowMs: number): void {
    const { hub } = this.#context;
    const handler = worker.handlers.get(job.type);
    const run = new JobRun(job, lane, worker.resources?.get(job.type), nowMs, this);
    const readyWaitMs = this.#waitOf(run, job.readyAtMs);
    const isBlocked = wasBlocked(job);
    const waitMs = isBlocked ? this.#waitOf(run, dueAtOf(job)) : readyWaitMs;
    worker.run = run;
    if (lane.settings.ratesPerKey.length > 0) run.beganAtMs = this.#state.wall.at(nowMs);
    this.#context.cooldown.began(run);
    this.#running++;
    worker.timeoutMs = this.#timeoutOf(job, lane);
    worker.limitAtMs = nowMs + worker.timeoutMs;
    if (worker.limitAtMs < this.#nextLimitAtMs) this.#nextLimitAtMs = worker.limitAtMs;
    lane.started(nowMs, waitMs, isBlocked ? readyWaitMs : undefined);
    this.#state.traffic.waited(nowMs, waitMs, readyWaitMs);
    this.#state.totals.starts++;
    this.#state.totals.busy(nowMs, 1);
    if (hub.active) {
      hub.emit({
        kind: "job-started",
        atMs: nowMs,
        pool: this.#state.pool,
        lane: lane.name,
        id: job.id,
        attempt: job.attempt,
        waitMs,
        worker: worker.id,
      });
    }
    if (handler === undefined) {
      run.to = "retry";
      run.charged = false;
      run.dueAtMs = this.#state.wall.at(nowMs) + UNKNOWN_TYPE_MS;
      run.error = `No handler is named "${job.type}" in this process`;
      this.#end(worker, run, nowMs, false);
      return;
    }
    this.#call(worker, run, handler);
  }

  #call(worker: Worker, run: JobRun, handler: Handler): void {
    const given = jobInput(run.job, handler);
    if (given instanceof Misfit) {
      run.to = "dead";
      run.reason = "payload";
      run.lane.dead.payload++;
      run.error = this.#context.redaction.hide(given.fault, run.job.payload);
      this.#end(worker, run, run.startedAtMs, false);
      return;
    }
    let result: unknown;
    try {
      result = this.#telemetry === undefined
        ? handler.run(given, run)
        : this.#trace(this.#telemetry, { worker, run, handler, job: given });
      if (isPromise(result)) {
        // One that is not of the language may answer twice, and the worker has another job by then.
        const once = result instanceof Promise ? result : Promise.resolve(result);
        once.then(worker.onReturn, worker.onThrow);
        return;
      }
    } catch (thrown) {
      this.threw(worker, thrown);
      return;
    }
    this.returned(worker, result);
  }

  /** What is said of the type of a job goes before what is said of its lane. */
  #timeoutOf({ type }: Leased, lane: Lane): number {
    const { timeoutMs, timeoutMsByType } = this.#state.settings;
    const own = Object.hasOwn(timeoutMsByType, type) ? timeoutMsByType[type] : undefined;
    return own ?? lane.settings.timeoutMs ?? timeoutMs;
  }

  #trace(telemetry: Telemetry, { worker, run, handler, job }: Call): unknown {
    const { pool } = this.#state;
    const waitMs = this.#waitOf(run, dueAtOf(run.job));
    const isBlocked = wasBlocked(run.job);
    const waitsForGone = (): boolean => this.#context.cooldown.waitsForGone(run);
    const fate = (thrown: unknown): Fate => {
      const wallMs = this.#state.wall.at(this.#context.now());
      return fateOf(run, { thrown, aborted: worker.aborted, waitsForGone, wallMs });
    };
    const hide = this.#hiderOf(run);
    const traced = { pool, job, waitMs, isBlocked, worker: worker.id, fateOf: fate, hide };
    return telemetry.run(traced, () => handler.run(job, run));
  }

  returned(worker: Worker, result: unknown): void {
    const nowMs = this.#context.now();
    const { run } = worker;
    if (run === undefined) return this.#unstick(worker, nowMs);
    run.result = this.#kept(result, run);
    const counted = isStranded(run) ? "failures" : "completions";
    run.lane.traffic[counted]++;
    this.#state.traffic[counted]++;
    this.#end(worker, run, nowMs, true);
  }

  /** The result as any store keeps it. The work is done: one that is no JSON, or too large, is left out, and said. */
  #kept(result: unknown, run: JobRun): unknown {
    const copied = copyResult(result);
    if (!(copied instanceof Misfit)) return copied;
    run.resultError = copied.fault;
    run.log.warn(copied.fault);
    return undefined;
  }

  threw(worker: Worker, thrown: unknown): void {
    const nowMs = this.#context.now();
    const { run } = worker;
    if (run === undefined) return this.#unstick(worker, nowMs);
    const failed = this.#judge(worker, run, thrown, nowMs);
    this.#end(worker, run, nowMs, failed);
  }

  overloaded(run: JobRun, retryAfterMs: number | undefined): void {
    this.#state.totals.overloads++;
    run.log.debug("The downstream is overloaded", { retryAfterMs });
  }

  used(downstream: string, call: DownstreamCall): void {
    this.#state.use(downstream, call);
  }

  /** Asks the handler of a running job to end. False if it does not run here. */
  abort(id: string, why: AbortCause, nowMs: number): boolean {
    const worker = this.workerOf(id);
    if (worker === undefined) return false;
    this.#abort(worker, why, nowMs);
    return true;
  }

  /** The worker that runs a job. `undefined`: the job does not run here. */
  workerOf(id: string): Worker | undefined {
    return this.#state.workers.find(({ run }) => run?.job.id === id) ??
      this.#context.overruns.workerOf(id);
  }

  /** Asks all handlers to end. */
  abortAll(why: AbortCause, nowMs: number): void {
    for (const worker of this.#state.workers) {
      if (worker.run !== undefined) this.#abort(worker, why, nowMs);
    }
  }

  /** Ids of jobs whose handlers ignored their abort and have not ended. */
  stuckJobs(): readonly string[] {
    return this.#context.overruns.ids;
  }

  /** The store has given the jobs that are held here to others. */
  lost(nowMs: number): void {
    this.#context.overruns.lost();
    this.abortAll("lease-lost", nowMs);
  }

  /** Aborts what has run past its limit, and gives up on what ignores its abort. */
  enforce(nowMs: number): void {
    if (nowMs < this.#nextLimitAtMs) return;
    let next = Infinity;
    for (const worker of [...this.#state.workers]) {
      if (worker.run === undefined) continue;
      if (worker.limitAtMs <= nowMs) {
        if (worker.aborted === undefined) this.#abort(worker, "timeout", nowMs);
        else this.#giveUp(worker, worker.run, nowMs);
      }
      if (worker.run !== undefined && worker.limitAtMs < next) next = worker.limitAtMs;
    }
    this.#nextLimitAtMs = next;
  }

  /** Gives up on every attempt that still runs, and hands its job back: no end waits for a handler any more. */
  handBackAll(nowMs: number): void {
    for (const worker of [...this.#state.workers]) {
      if (worker.run === undefined) continue;
      worker.aborted ??= "drain";
      this.#giveUp(worker, worker.run, nowMs);
    }
    this.#context.overruns.close();
  }

  #abort(worker: Worker, why: AbortCause, nowMs: number): void {
    if (worker.aborted !== undefined) return;
    worker.aborted = why;
    worker.limitAtMs = nowMs + STUCK_AFTER_MS;
    if (worker.limitAtMs < this.#nextLimitAtMs) this.#nextLimitAtMs = worker.limitAtMs;
    worker.run?.abort(why, abortMessage(why, worker));
  }

  #giveUp(worker: Worker, run: JobRun, nowMs: number): void {
    const { hub, log, overruns } = this.#context;
    const failed = this.#judge(worker, run, abortedError(worker), nowMs);
    const { wall } = this.#state;
    if (isNoted(run)) noteAttempt(run, { worker, nowMs, wall });
    this.#context.cooldown.ended(run, nowMs, failed);
    run.lane.ended(nowMs, run.startedAtMs, failed);
    this.#state.totals.busy(nowMs, -1);
    if (hub.active) run.serviceMs = nowMs - run.startedAtMs;
    overruns.begin(worker, run);
    const { id } = run.job;
    if (!hub.active) {
      log.warn("A handler ignores its abort: its worker is stuck", { job: id, worker: worker.id });
    }
    if (hub.watched) {
      const { pool } = this.#state;
      const lane = run.lane.name;
      hub.emit({ kind: "worker-stuck", atMs: nowMs, pool, lane, id, worker: worker.id });
    }
    this.#ended();
    this.crew.markStuck(worker, nowMs);
  }

  /** The handler of a stuck worker has ended; its job was given up long ago. */
  #unstick(worker: Worker, nowMs: number): void {
    this.#context.overruns.end(worker);
    this.crew.unstick(worker, nowMs);
  }

  /** Judges a throw and counts it. True if the run time of the attempt says something. */
  #judge(worker: Worker, run: JobRun, thrown: unknown, nowMs: number): boolean {
    const { random, cooldown } = this.#context;
    const verdict = judge(run, {
      thrown,
      aborted: worker.aborted,
      wallMs: this.#state.wall.at(nowMs),
      hide: this.#hiderOf(run),
      random,
      waitsForGone: () => cooldown.waitsForGone(run),
    });
    if (verdict === "deferral") {
      this.#state.totals.deferrals++;
      run.lane.deferrals++;
    }
    if (verdict !== "failure") return false;
    run.lane.traffic.failures++;
    this.#state.traffic.failures++;
    if (run.reason !== undefined) {
      run.lane.dead[run.reason]++;
      this.#context.throws.note(run.job.id, run.attempt, thrown);
    }
    return true;
  }

  /** Takes out of a text what it may quote of the job's payload. */
  #hiderOf({ job }: JobRun): (text: string) => string {
    const { redaction } = this.#context;
    return (text) => redaction.hide(text, job.payload);
  }

  /** From a time before until it started, ms. Time in a pause is none of it. */
  #waitOf({ lane, startedAtMs }: JobRun, sinceMs: number): number {
    const fromMs = this.#state.wall.pastMs(sinceMs, startedAtMs);
    return Math.max(0, startedAtMs - Math.max(fromMs, lane.resumedAtMs));
  }

  /** An attempt is over: with none left there is no limit to enforce, and no timer to keep for it. */
  #ended(): void {
    if (--this.#running === 0) this.#nextLimitAtMs = Infinity;
  }

  #end(worker: Worker, run: JobRun, nowMs: number, measured: boolean): void {
    this.#context.cooldown.ended(run, nowMs, measured);
    const serviceMs = nowMs - run.startedAtMs;
    const { totals, traffic, wall } = this.#state;
    if (isNoted(run)) noteAttempt(run, { worker, nowMs, wall });
    run.lane.ended(nowMs, run.startedAtMs, measured);
    totals.busy(nowMs, -1);
    if (measured) {
      totals.serviceMs += serviceMs;
      totals.serviceMsSq += serviceMs * serviceMs;
      traffic.serviceTimes.add(nowMs, serviceMs);
    }
    this.#ended();
    const { hub, settler, overruns } = this.#context;
    if (worker.leftover !== undefined) overruns.release(worker);
    if (hub.active) run.serviceMs = serviceMs;
    settler.add(run);
    this.crew.release(worker, nowMs);
  }
}

/** A call of a handler. */
interface Call {
  readonly worker: Worker;
  readonly run: JobRun;
  readonly handler: Handler;
  readonly job: Job;
}

function abortedError(worker: Worker): AbortedError {
  const why = worker.aborted ?? "timeout";
  return new AbortedError(why, abortMessage(why, worker));
}

function abortMessage(why: AbortCause, { timeoutMs }: Worker): string {
  switch (why) {
    case "timeout":
      return `The job ran longer than timeoutMs (${timeoutMs})`;
    case "cancelled":
      return "The job was cancelled";
    case "drain":
      return "The pool is stopping: the job goes back to its lane";
    case "lease-lost":
      return "The lease was lost: another process may run the job";
  }
}
