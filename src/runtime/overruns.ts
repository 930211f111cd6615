/**
 * Handlers that run on after their attempt was given up. What bounds runs goes on to count them: the
 * lane's `maxRunning`, the caps, and the limit on jobs of one key.
 *
 * @module
 */

import type { JobRun } from "./job_run.ts";
import type { Lane } from "./lane.ts";
import type { Leftovers } from "./leftovers.ts";
import type { PoolCore } from "./pool_core.ts";
import type { Settler } from "./settler.ts";
import type { Leased } from "../contract/store.ts";
import type { Worker } from "./worker.ts";

/** What overruns need of their pool. Of its state they own `orphans`, and what runs on in its lanes. */
export interface OverrunsContext extends PoolCore {
  /** Where ends go once their handlers have ended. */
  readonly settler: Settler;
  /** Handlers that the store counts no more. */
  readonly leftovers: Leftovers;
  /** Asks for a turn. */
  readonly changed: () => void;
}

/** A handler whose attempt was given up. */
interface Overrun {
  readonly run: JobRun;
  /** True while the end of its job is held back, and with it the place of its key. */
  isHeld: boolean;
}

/** Owns the handlers that were given up. */
export class Overruns {
  readonly #context: OverrunsContext;
  readonly #all = new Map<Worker, Overrun>();
  readonly #unwatch: () => void;

  /** Begins with those of pools that have ended. */
  constructor(context: OverrunsContext) {
    this.#context = context;
    this.#unwatch = context.leftovers.watch(() => {
      this.adopt();
      context.changed();
    });
    this.adopt();
  }

  /** Takes the lanes of the state over: workers of pools that have ended count in them. */
  adopt(): void {
    const { state, leftovers } = this.#context;
    state.orphans = leftovers.workers();
    for (const lane of state.lanes) lane.runsOn(0, leftovers.workers(lane.name));
  }

  /** Ids of their jobs. */
  get ids(): readonly string[] {
    return [...this.#all.values()].map(({ run }) => run.job.id);
  }

  /** How many jobs have not ended because their handler has not. */
  get held(): number {
    let held = 0;
    for (const { isHeld } of this.#all.values()) if (isHeld) held++;
    return held;
  }

  /** The worker whose handler keeps a job from its end. `undefined`: none does. */
  workerOf(id: string): Worker | undefined {
    for (const [worker, { run, isHeld }] of this.#all) {
      if (isHeld && run.job.id === id) return worker;
    }
    return undefined;
  }

  /** True if a leased job may start beside those of its key that the store counts no more. */
  hasPlace(job: Leased, { name, settings: { maxRunningPerKey } }: Lane): boolean {
    const { leftovers, state } = this.#context;
    if (leftovers.size === 0 || maxRunningPerKey === Infinity) return true;
    const { key } = job;
    if (key === undefined) return true;
    let running = leftovers.ofKey(name, key);
    if (running === 0) return true;
    for (const { run, leftover } of state.workers) {
      if (leftover === undefined && run?.lane.name === name && run.job.key === key) running++;
    }
    return running < maxRunningPerKey;
  }

  /**
   * An attempt was judged, and its handler runs on. A job of a key that is limited stays leased until
   * then, so that its key keeps the place in all processes; others end at once.
   */
  begin(worker: Worker, run: JobRun): void {
    const { settings } = run.lane;
    const isHeld = run.job.key !== undefined && settings.maxRunningPerKey < Infinity;
    this.#all.set(worker, { run, isHeld });
    run.wallAheadMs = this.#context.state.wall.aheadMs;
    run.lane.runsOn(1);
    if (!isHeld) this.#context.settler.add(run);
  }

  /** A handler has ended after all. */
  end(worker: Worker): void {
    const overrun = this.#all.get(worker);
    this.release(worker);
    if (overrun === undefined) return;
    this.#all.delete(worker);
    overrun.run.lane.runsOn(-1);
    this.#settle(overrun);
  }

  /** The handler of a worker has ended: nobody counts it any more. */
  release(worker: Worker): void {
    worker.leftover?.();
    worker.leftover = undefined;
  }

  /** The store has given all jobs that are held here to others: it does not count their handlers. */
  lost(): void {
    for (const worker of this.#context.state.workers) {
      const run = worker.run ?? this.#all.get(worker)?.run;
      if (run !== undefined) this.#leaveOver(worker, run, false);
    }
  }

  /** The pool ends: so do its jobs, and what runs on is counted by pools to come in this process. */
  close(): void {
    this.#unwatch();
    for (const [worker, overrun] of this.#all) {
      this.release(worker);
      this.#leaveOver(worker, overrun.run, true);
      this.#settle(overrun);
    }
  }

  #settle(overrun: Overrun): void {
    if (!overrun.isHeld) return;
    overrun.isHeld = false;
    this.#context.settler.add(overrun.run);
  }

  #leaveOver(
    worker: Worker,
    { lane: { name: lane }, job: { key } }: JobRun,
    isOrphan: boolean,
  ): void {
    worker.leftover ??= this.#context.leftovers.add({ lane, key, isOrphan });
  }
}
