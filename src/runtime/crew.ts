/**
 * The workers of one pool: their starts, their ends, and who is free.
 *
 * @module
 */

import { messageOf } from "../contract/errors.ts";
import type { PoolCore } from "./pool_core.ts";
import type { Handler } from "../contract/plugin.ts";
import type { PoolState } from "./pool_state.ts";
import { isPromise } from "./store_guard.ts";
import { Worker, type WorkerOwner } from "./worker.ts";

const FIRST_RESTART_MS = 100;
const LONGEST_RESTART_MS = 30_000;

/** What a crew needs of its pool. Of its state it owns the workers and their counts. */
export interface CrewContext extends PoolCore {
  /** Told when a worker became idle, or one left. */
  readonly changed: () => void;
}

/** Starts and retires workers; hands out idle ones, the one that became idle last first. */
export class Crew {
  readonly #context: CrewContext;
  readonly #state: PoolState;
  readonly #owner: WorkerOwner;
  #handlers: ReadonlyMap<string, Handler> = new Map();
  #opens = false;
  #closed = false;
  readonly #idle: Worker[] = [];
  #made = 0;
  #restartAtMs = -Infinity; // no worker is started before: the last start failed
  #restartMs = FIRST_RESTART_MS;

  /** `handlers`: by job type; `owner` hears how attempts end. */
  constructor(context: CrewContext, handlers: ReadonlyMap<string, Handler>, owner: WorkerOwner) {
    this.#context = context;
    this.#state = context.state;
    this.#owner = owner;
    this.adopt(handlers, context.state.nowMs);
  }

  /** New workers run these handlers. Those that run others are replaced: idle ones now, busy ones after their job. */
  adopt(handlers: ReadonlyMap<string, Handler>, nowMs: number): void {
    if (handlers === this.#handlers) return;
    this.#handlers = handlers;
    this.#opens = handlers.values().some((handler) => handler.start !== undefined);
    this.#restartAtMs = -Infinity;
    this.#restartMs = FIRST_RESTART_MS;
    this.dismissIdle(nowMs);
  }

  /** When missing workers may be started that could not be. */
  nextAtMs(nowMs: number): number {
    const isMissing = this.#state.live < this.#state.target && this.#restartAtMs > nowMs;
    return isMissing ? this.#restartAtMs : Infinity;
  }

  /** Replaces nobody from now on, and lets every worker go that runs no job. */
  close(nowMs: number): void {
    this.#closed = true;
    this.dismissIdle(nowMs);
  }

  /** Workers that may take a job now. */
  get idleCount(): number {
    return this.#idle.length;
  }

  /** Adds workers: first takes back pending retirements, then starts new ones, `room` at most. */
  grow(count: number, room: number, nowMs: number): void {
    let missing = count;
    for (const worker of this.#state.workers) {
      if (missing === 0) return;
      if (worker.state === "retiring" && worker.run !== undefined && !this.#isOutdated(worker)) {
        this.#state.retiring--;
        this.#state.live++;
        this.#state.busyLive++;
        worker.enter("busy", nowMs);
        missing--;
      }
    }
    if (nowMs < this.#restartAtMs) return;
    for (let started = 0; started < Math.min(missing, room); started++) this.#start(nowMs);
  }

  /** Lets a worker go: an idle one at once, a busy one after its job. False if it is neither. */
  retire(worker: Worker, nowMs: number): boolean {
    if (worker.state === "busy") {
      this.#state.live--;
      this.#state.busyLive--;
      this.#state.retiring++;
      worker.enter("retiring", nowMs);
      return true;
    }
    if (worker.state !== "idle") return false;
    this.#idle.splice(this.#idle.indexOf(worker), 1);
    this.#state.live--;
    this.#state.retiring++;
    worker.enter("retiring", nowMs);
    this.#leave(worker);
    return true;
  }

  /** The worker that became idle last, now busy. */
  takeIdle(nowMs: number): Worker {
    const worker = this.#idle.pop()!; // callers stay within `idleCount`
    worker.enter("busy", nowMs);
    this.#state.busyLive++;
    return worker;
  }

  /** A worker's attempt is over: it is idle again, or leaves. */
  release(worker: Worker, nowMs: number): void {
    worker.run = undefined;
    worker.aborted = undefined;
    worker.limitAtMs = Infinity;
    worker.jobsDone++;
    if (worker.state === "busy" && this.#isOutdated(worker)) this.retire(worker, nowMs);
    if (worker.state === "busy") {
      this.#state.busyLive--;
      worker.enter("idle", nowMs);
      this.#idle.push(worker);
      this.#context.changed();
    } else {
      this.#leave(worker);
    }
  }

  /** A worker's handler ignores its abort: the worker counts on, but takes no job again. */
  markStuck(worker: Worker, nowMs: number): void {
    if (worker.state === "busy") {
      this.#state.live--;
      this.#state.busyLive--;
    } else {
      this.#state.retiring--;
    }
    this.#state.stuck++;
    worker.run = undefined;
    worker.enter("stuck", nowMs);
    this.#context.changed();
  }

  /** A stuck worker's handler has ended after all. */
  unstick(worker: Worker, nowMs: number): void {
    this.#state.stuck--;
    this.#state.retiring++;
    worker.enter("retiring", nowMs);
    this.#leave(worker);
  }

  /** Lets every worker go that runs no job. */
  dismissIdle(nowMs: number): void {
    for (const worker of [...this.#idle]) this.retire(worker, nowMs);
  }

  #start(nowMs: number): void {
    const worker = new Worker(++this.#made, this.#handlers, nowMs, this.#owner);
    this.#state.addWorker(worker);
    this.#state.starting++;
    if (!this.#opens) {
      this.#started(worker, nowMs);
      return;
    }
    this.#open(worker).then(
      (resources) => {
        worker.resources = resources;
        this.#restartMs = FIRST_RESTART_MS;
        this.#started(worker, this.#context.now());
      },
      (thrown) => this.#startFailed(worker, thrown),
    );
  }

  async #open(worker: Worker): Promise<ReadonlyMap<string, unknown>> {
    const resources = new Map<string, unknown>();
    for (const [type, handler] of worker.handlers) {
      if (handler.start === undefined) continue;
      try {
        resources.set(type, await handler.start(worker.id));
      } catch (thrown) {
        await this.#close(worker, resources);
        throw thrown;
      }
    }
    return resources;
  }

  #started(worker: Worker, nowMs: number): void {
    this.#state.starting--;
    this.#state.live++;
    worker.enter("idle", nowMs);
    this.#idle.push(worker);
    if (this.#isOutdated(worker)) this.retire(worker, nowMs);
    this.#context.changed();
  }

  #startFailed(worker: Worker, thrown: unknown): void {
    const nowMs = this.#context.now();
    this.#state.starting--;
    if (!this.#isOutdated(worker)) {
      this.#restartAtMs = nowMs + this.#restartMs;
      this.#restartMs = Math.min(LONGEST_RESTART_MS, this.#restartMs * 2);
    }
    const { hub, state, log } = this.#context;
    const error = messageOf(thrown);
    log.error("A worker could not be started", { pool: state.pool, worker: worker.id, error });
    if (hub.watched) hub.emit({ kind: "worker-failed", atMs: nowMs, pool: state.pool, error });
    this.#remove(worker);
  }

  #leave(worker: Worker): void {
    if (worker.resources === undefined) {
      this.#gone(worker);
      return;
    }
    this.#close(worker, worker.resources).then(() => this.#gone(worker));
  }

  /** Closes what a worker owns. A fault there is logged: the worker leaves all the same. */
  async #close(worker: Worker, resources: ReadonlyMap<string, unknown>): Promise<void> {
    for (const [type, resource] of resources) {
      try {
        const closing = worker.handlers.get(type)?.stop?.(resource);
        if (closing !== undefined && isPromise(closing)) await closing;
      } catch (thrown) {
        this.#context.log.error("A worker's stop failed", {
          pool: this.#state.pool,
          error: messageOf(thrown),
        });
      }
    }
  }

  #gone(worker: Worker): void {
    this.#state.retiring--;
    this.#remove(worker);
    if (this.#isOutdated(worker)) this.#replace();
  }

  #isOutdated(worker: Worker): boolean {
    return worker.handlers !== this.#handlers;
  }

  /** Starts a worker in the place of an outdated one, unless there are enough without. */
  #replace(): void {
    const { live, starting, target, limit, total } = this.#state;
    const nowMs = this.#context.now();
    if (this.#closed || nowMs < this.#restartAtMs) return;
    if (live + starting < target && total < limit) this.#start(nowMs);
  }

  #remove(worker: Worker): void {
    this.#state.removeWorker(worker);
    this.#context.changed();
  }
}
