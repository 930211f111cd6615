/**
 * The end of a pool: running jobs finish, or go back at the deadline, uncharged.
 *
 * @module
 */

import { within } from "../time/clock.ts";
import { messageOf } from "../contract/errors.ts";
import type { Counting } from "./counting.ts";
import type { Crew } from "./crew.ts";
import type { Dispatch } from "./dispatch.ts";
import type { Intake } from "./intake.ts";
import type { Cooldown } from "./cooldown.ts";
import type { Permits } from "./permits.ts";
import type { StartRates } from "./start_rates.ts";
import type { PoolLoop } from "./pool_loop.ts";
import type { PoolCore } from "./pool_core.ts";
import type { Runner } from "./runner.ts";
import type { Settler } from "./settler.ts";
import type { PoolSnapshot, StopReport } from "./handles.ts";
import type { Steering } from "./steering.ts";
import type { Queue } from "../contract/store.ts";
import type { StoreGuard } from "./store_guard.ts";

/** How long handlers may take to end after the drain deadline's abort, ms. */
const AFTER_ABORT_MS = 250;

/** How long endings may take to reach a store that fails, ms. */
const SETTLE_MS = 5000;

/** The parts that a drain ends. */
export interface DrainParts extends PoolCore {
  readonly counting: Counting;
  readonly queue: Queue;
  readonly crew: Crew;
  readonly runner: Runner;
  readonly settler: Settler;
  readonly guard: StoreGuard;
  readonly dispatch: Dispatch;
  readonly intake: Intake;
  readonly loop: PoolLoop;
  readonly permits: Permits;
  readonly cooldown: Cooldown;
  readonly rates: StartRates;
  readonly steering: Steering;
  /** Its store keeps jobs when the process ends. */
  readonly durable: boolean;
}

/** Drains one pool, once. */
export class Drain {
  readonly #parts: DrainParts;
  #report: Promise<StopReport> | undefined;
  #view: PoolSnapshot["drain"];
  #ended = false;

  /** Begins nothing yet. */
  constructor(parts: DrainParts) {
    this.#parts = parts;
  }

  /** True once `run` was called. */
  get begun(): boolean {
    return this.#report !== undefined;
  }

  /** What is shown of it. `undefined`: it has not begun. */
  get view(): PoolSnapshot["drain"] {
    return this.#view;
  }

  /** True once nothing runs any more. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Stops claiming, waits for running jobs until the deadline, hands back the rest. */
  run(deadlineMs: number): Promise<StopReport> {
    if (this.#report === undefined) {
      const { clock, durable } = this.#parts;
      const sinceMs = clock.nowMs();
      this.#view = { sinceMs, untilMs: sinceMs + deadlineMs, durable };
      this.#report = this.#drain(deadlineMs);
    }
    return this.#report;
  }

  async #drain(deadlineMs: number): Promise<StopReport> {
    const { state, clock, hub, crew, runner, settler, dispatch, intake, loop, steering } =
      this.#parts;
    const emit = (kind: "draining" | "stopped"): void => {
      if (hub.watched) hub.emit({ kind, atMs: clock.nowMs(), pool: state.pool });
    };
    emit("draining");
    intake.close(`pool "${state.pool}" is stopping and accepts no jobs until the process restarts`);
    dispatch.close(clock.nowMs());
    loop.stopSteering();
    crew.close(clock.nowMs());
    const running = (): boolean =>
      state.workers.some((worker) => worker.run !== undefined) || settler.outstanding > 0 ||
      dispatch.leasing;
    if (!await this.#until(() => !running(), deadlineMs)) {
      runner.abortAll("drain", clock.nowMs());
      loop.schedule();
      await this.#until(() => !running(), AFTER_ABORT_MS);
    }
    runner.handBackAll(clock.nowMs());
    loop.schedule();
    if (!await this.#until(() => settler.outstanding === 0, SETTLE_MS)) this.#tellUnstored();
    const unstored = settler.outstanding;
    crew.dismissIdle(clock.nowMs());
    const counted = this.#count();
    await this.#until(() => state.workers.every((worker) => worker.state === "stuck"), SETTLE_MS);
    await counted;
    loop.close();
    let waiting = 0;
    for (const lane of state.lanes) waiting += lane.depth;
    await this.#leave();
    steering.stopped(clock.nowMs());
    this.#ended = true;
    emit("stopped");
    return { handedBack: settler.handedBack, stuck: runner.stuckJobs(), unstored, waiting };
  }

  /** Counts what waits, of others' jobs too. A store that does not answer holds nobody up. */
  async #count(): Promise<void> {
    const { counting, clock, state: { pool }, log } = this.#parts;
    const late = "late"; // reported by the same words as a store that fails
    const isKnown = await within(clock, counting.fresh(), { ms: SETTLE_MS, late }).catch(() =>
      false
    );
    if (isKnown) return;
    log.warn("The store has not counted the waiting jobs: the report has the last known number", {
      pool,
    });
  }

  /** The store has not taken how jobs ended, or that they go back. */
  #tellUnstored(): void {
    const { state: { pool }, settler, guard, log } = this.#parts;
    const message =
      "The results of running jobs could not be stored: they run again after leaseMs, with one attempt less";
    log.error(message, { pool, jobs: settler.outstanding, error: guard.lastError });
  }

  /** Leaves the queue. A store that does not answer holds nobody up: leases of a process that is gone end. */
  async #leave(): Promise<void> {
    const { state, queue, clock, cooldown, permits, rates, log } = this.#parts;
    cooldown.leave();
    const leave = async (): Promise<void> => {
      try {
        await Promise.all([permits.leave(), rates.leave()]);
      } finally {
        await queue.leave(state.wall.at(clock.nowMs()));
      }
    };
    const late = `It has not answered for ${SETTLE_MS / 1000} s`;
    try {
      await within(clock, leave(), { ms: SETTLE_MS, late });
    } catch (thrown) {
      const error = messageOf(thrown);
      const { pool } = state;
      log.error("The store did not answer at the stop: jobs leased here go back after leaseMs", {
        pool,
        error,
      });
    }
  }

  /** Waits until `reached`, looked at after each turn, or until this many ms have passed. */
  #until(reached: () => boolean, withinMs: number): Promise<boolean> {
    if (reached()) return Promise.resolve(true);
    const { clock, loop } = this.#parts;
    return new Promise((resolve) => {
      const timer = clock.at(clock.nowMs() + withinMs, () => end(false));
      loop.afterTurn = () => {
        if (reached()) end(true);
      };
      const end = (inTime: boolean): void => {
        timer.cancel();
        loop.afterTurn = undefined;
        resolve(inTime);
      };
    });
  }
}
