/**
 * One worker: what runs one job at a time.
 *
 * @module
 */

import type { AbortCause } from "../contract/errors.ts";
import type { JobRun } from "./job_run.ts";
import type { Handler } from "../contract/plugin.ts";
import type { WorkerState, WorkerView } from "../contract/view.ts";

/** Told how the attempt of a worker ended. */
export interface WorkerOwner {
  /** The handler returned. */
  returned(worker: Worker, result: unknown): void;
  /** The handler threw. */
  threw(worker: Worker, thrown: unknown): void;
}

/** A worker as its pool holds it. */
export class Worker implements WorkerView {
  state: WorkerState = "starting";
  readonly startedAtMs: number;
  sinceMs: number;
  jobsDone = 0;
  /** Handlers by job type: the same for its whole life. */
  readonly handlers: ReadonlyMap<string, Handler>;
  /** What the handlers' `start` opened, by job type. */
  resources: ReadonlyMap<string, unknown> | undefined;
  /** The job it runs. `undefined`: none. */
  run: JobRun | undefined;
  /** Why its handler was asked to stop. `undefined`: it was not. */
  aborted: AbortCause | undefined;
  /** Called once its handler has ended that the store counts no more. `undefined`: the store counts it. */
  leftover: (() => void) | undefined;
  /** How long its job may run, ms: what held when it started. */
  timeoutMs = Infinity;
  /** When its handler is asked to end, or, after that, counts as stuck. */
  limitAtMs = Infinity;
  /** To be called with what the handler's promise resolves to; made once, for all jobs. */
  readonly onReturn: (result: unknown) => void;
  /** To be called with what the handler's promise rejects with. */
  readonly onThrow: (thrown: unknown) => void;
  readonly #number: number;

  /** Makes a worker that is starting. */
  constructor(
    number: number,
    handlers: ReadonlyMap<string, Handler>,
    nowMs: number,
    owner: WorkerOwner,
  ) {
    this.#number = number;
    this.handlers = handlers;
    this.startedAtMs = nowMs;
    this.sinceMs = nowMs;
    this.onReturn = (result) => owner.returned(this, result);
    this.onThrow = (thrown) => owner.threw(this, thrown);
  }

  get id(): string {
    return `w${this.#number}`;
  }

  /** Moves to another state. */
  enter(state: WorkerState, nowMs: number): void {
    this.state = state;
    this.sinceMs = nowMs;
  }
}
