/**
 * The loop of one pool: turns when something happens, ticks while there is something to steer, one
 * timer for everything that time brings.
 *
 * @module
 */

import { Alarm } from "./alarm.ts";
import type { Clock } from "../time/clock.ts";
import type { Counting } from "./counting.ts";
import type { Crew } from "./crew.ts";
import type { Dispatch } from "./dispatch.ts";
import type { EventHub } from "./event_hub.ts";
import type { Pauses } from "./pauses.ts";
import type { Permits } from "./permits.ts";
import type { PoolState } from "./pool_state.ts";
import type { Runner } from "./runner.ts";
import type { Settler } from "./settler.ts";
import type { Signals } from "./signals.ts";
import type { StartRate } from "./start_rate.ts";
import type { Steering } from "./steering.ts";
import type { Queue, Renewal } from "../contract/store.ts";
import { judgeRenewal } from "./store_answers.ts";
import type { StoreGuard } from "./store_guard.ts";

/** After so many starts the loop looks whether the event loop still runs between its turns. */
const STARTS_PER_LOOK = 64;
/** If it has not for so long, ms, the next turn lets it run first: timers and sockets are not starved. */
const HOP_AFTER_MS = 10;

/** The parts that a loop drives. */
export interface LoopParts {
  readonly state: PoolState;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly hub: EventHub;
  readonly guard: StoreGuard;
  readonly counting: Counting;
  readonly crew: Crew;
  readonly runner: Runner;
  readonly settler: Settler;
  readonly dispatch: Dispatch;
  readonly rate: StartRate;
  readonly steering: Steering;
  readonly signals: Signals;
  readonly pauses: Pauses;
  readonly permits: Permits;
}

/** Owns the timer and the order in which the parts act. */
export class PoolLoop {
  /** Jobs taken back from holders that had died. */
  reaped = 0;
  /** Called after each turn. */
  afterTurn: (() => void) | undefined;
  readonly #parts: LoopParts;
  readonly #alarm: Alarm;
  #scheduled = false;
  #turning = false;
  #again = false; // something changed during the turn
  #opened = false;
  #begun = false; // the first plan, which knows how many share the caps, is made
  #steers = true;
  #closed = false;
  #arrived = false;
  #woken = false;
  #ticking = false;
  #asked = false; // the tick of this turn has asked the store for jobs already
  #renewing = false;
  #nextTickMs = Infinity;
  #renewAtMs = -Infinity;
  #startsAtLook = 0;
  #lookedAtMs: number | undefined; // when it began to look; until the event loop has run

  /** Drives `parts` once `open` was called. */
  constructor(parts: LoopParts) {
    this.#parts = parts;
    this.#alarm = new Alarm(parts.clock, () => this.#ring());
  }

  /** Joins the queue, makes the first plan and starts the minimum. */
  open(): void {
    const nowMs = this.#readClock();
    this.#opened = true;
    this.#nextTickMs = nowMs;
    this.#renew(nowMs, () => this.#ring());
    this.#alarm.by(this.#parts.guard.giveUpAtMs);
  }

  /** True while no tick comes until something happens. */
  get rests(): boolean {
    return this.#nextTickMs === Infinity && (this.#steers || this.#closed);
  }

  /** Asks for a turn: in this turn of the event loop, after what runs now. */
  schedule(): void {
    if (this.#scheduled || this.#closed) return;
    if (this.#turning) {
      this.#again = true;
      return;
    }
    this.#scheduled = true;
    if (this.#starves()) this.#parts.clock.hop?.(this.#turn);
    else queueMicrotask(this.#turn);
  }

  /** Jobs are being added: where the store leases them with that, it is asked now. */
  adding(): void {
    if (this.#parts.queue.leasesAdded === true && this.#parts.crew.idleCount > 0) this.schedule();
  }

  /** A job was added: one that is left waiting makes the controller plan. */
  arrived(): void {
    this.#arrived = true;
    this.schedule();
  }

  /** Its part of the caps has changed: plans before anything else starts. */
  replan(): void {
    if (this.#closed || !this.#opened) return;
    if (this.#steers) this.#parts.steering.tick(this.#catchUp());
    this.schedule();
  }

  /** Bounds have changed: plans at once. */
  steer(): void {
    if (this.#steers) this.#nextTickMs = this.#catchUp();
    this.#alarm.by(this.#nextTickMs);
  }

  /** The settings have changed, or the wall clock: counts the lanes, shows that this process lives, plans at once. */
  adopt(): void {
    const nowMs = this.#readClock();
    this.#recount(nowMs);
    this.#renew(nowMs);
    this.steer();
  }

  /** Another holder changed something. */
  wake(): void {
    this.#woken = true;
    this.schedule();
  }

  /** Steers and claims no more; renewals, time limits and endings go on. */
  stopSteering(): void {
    this.#steers = false;
    this.#parts.permits.stop();
    this.#nextTickMs = Infinity;
  }

  /** Stops for good. */
  close(): void {
    this.#closed = true;
    this.#alarm.cancel();
  }

  /** True if turns have followed each other for long without the event loop running in between. */
  #starves(): boolean {
    const { clock, state } = this.#parts;
    if (clock.hop === undefined || state.totals.starts - this.#startsAtLook < STARTS_PER_LOOK) {
      return false;
    }
    const nowMs = clock.nowMs();
    if (this.#lookedAtMs !== undefined) return nowMs - this.#lookedAtMs >= HOP_AFTER_MS;
    this.#lookedAtMs = nowMs;
    clock.hop(() => {
      this.#lookedAtMs = undefined;
      this.#startsAtLook = state.totals.starts;
    });
    return false;
  }

  readonly #turn = (): void => {
    this.#scheduled = false;
    if (this.#closed) return;
    const { settler, dispatch, state, steering, permits, counting } = this.#parts;
    const nowMs = this.#catchUp();
    this.#turning = true;
    // After a suspension, a turn may come before the timer: what was lost is not mixed with new leases.
    if (nowMs >= this.#renewAtMs) this.#renew(nowMs);
    settler.flush(nowMs);
    if (this.#woken) this.#lookAround(nowMs);
    if (nowMs >= counting.nextDueMs()) this.#recount(nowMs);
    if (!this.#asked) dispatch.run(nowMs);
    this.#asked = false;
    if (this.#arrived && this.#begun) {
      this.#arrived = false;
      if (this.#steers && steering.mayGrow && state.ready > 0) {
        steering.arrival(nowMs);
        dispatch.run(nowMs);
      }
    }
    permits.attend(nowMs);
    this.#turning = false;
    if (this.#again) this.#followUp();
    this.#arm(nowMs);
    this.afterTurn?.();
  };

  /** Jobs have ended within the turn that began them: their ends go out, what waits has another turn. */
  #followUp(): void {
    this.#again = false;
    const { settler, state } = this.#parts;
    if (settler.waiting) settler.flush(this.#readClock());
    if (settler.waiting || state.ready > 0 || state.live !== state.target) this.schedule();
  }

  #ring(): void {
    if (this.#closed) return;
    const { runner, steering, guard } = this.#parts;
    const nowMs = this.#catchUp();
    guard.enforce(nowMs);
    if (nowMs >= this.#renewAtMs) this.#renew(nowMs);
    runner.enforce(nowMs);
    const due = nowMs >= this.#nextTickMs || nowMs >= steering.reviewAtMs ||
      nowMs >= (steering.override?.untilMs ?? Infinity);
    if (due && this.#steers && !this.#ticking) {
      this.#tick(nowMs);
      if (this.#ticking) this.#arm(nowMs); // the count may never be answered
      return;
    }
    if (due && this.#steers) { // the tick under way will plan
      this.#nextTickMs = this.#tickAfter(nowMs);
      steering.reviewAtMs = Infinity;
    }
    this.#turn();
  }

  #tick(nowMs: number): void {
    const { signals, steering, settler, dispatch } = this.#parts;
    this.#ticking = true;
    this.#nextTickMs = this.#tickAfter(nowMs);
    steering.reviewAtMs = Infinity;
    signals.sample(nowMs);
    this.#parts.counting.read(nowMs, () => {
      this.#ticking = false;
      if (this.#closed) return;
      const laterMs = this.#readClock();
      settler.flush(laterMs);
      dispatch.run(laterMs); // what idle workers can take is no reason to grow
      this.#asked = dispatch.leasing;
      if (this.#steers) steering.tick(laterMs);
      this.#begun = true;
      if (steering.quiet) this.#nextTickMs = Infinity;
      this.#turn();
    });
  }

  /** The next tick stays on the grid of the last one; late ticks are skipped, not made up for. */
  #tickAfter(nowMs: number): number {
    const { tickMs } = this.#parts.state.settings;
    if (this.#nextTickMs === Infinity) return nowMs + tickMs;
    const late = Math.max(-1, Math.floor((nowMs - this.#nextTickMs) / tickMs)); // -1: a review, before the tick
    return this.#nextTickMs + (late + 1) * tickMs;
  }

  #lookAround(nowMs: number): void {
    this.#woken = false;
    this.#parts.pauses.refresh();
    this.#parts.permits.wake();
    const resumeAtMs = this.#parts.guard.resumeAtMs("renew");
    const isFreed = resumeAtMs > -Infinity && resumeAtMs <= nowMs; // the store works again
    if (isFreed || this.#renewAtMs === Infinity) this.#renew(nowMs);
    this.#recount(nowMs);
  }

  /** Reads the counts within a turn; an answer that comes later asks for another. */
  #recount(nowMs: number): void {
    let atOnce = true;
    this.#parts.counting.read(nowMs, () => {
      if (!atOnce) this.schedule();
    });
    atOnce = false;
  }

  /** Shows that this process lives, then goes on; within a turn an answer that comes later asks for another. */
  #renew(nowMs: number, then?: () => void): void {
    const { guard, queue, state } = this.#parts;
    if (this.#renewing) return;
    this.#renewing = true;
    this.#renewAtMs = nowMs + state.settings.leaseMs / 3;
    let atOnce = true;
    const goOn = then ?? (() => {
      if (!atOnce) this.schedule();
    });
    guard.call("renew", {
      ask: () => queue.renew(state.wall.at(nowMs), nowMs),
      judge: judgeRenewal,
      ok: (renewal) => {
        this.#renewing = false;
        this.#renewed(renewal);
        goOn();
      },
      failed: () => {
        this.#renewing = false;
        this.#renewAtMs = guard.resumeAtMs("renew");
        goOn();
      },
      // What it says of leases that were lost is said once.
      late: (renewal) => this.#renewed(renewal),
    });
    atOnce = false;
  }

  #renewed(renewal: Renewal): void {
    const { state, runner, hub, clock, dispatch, permits } = this.#parts;
    state.peers = renewal.peers;
    this.#renewAtMs = renewal.nextAtMs;
    permits.renewed(renewal.nextAtMs === Infinity);
    const nowMs = clock.nowMs();
    if (!renewal.alive) {
      dispatch.giveBack(nowMs);
      runner.lost(nowMs);
    }
    this.reaped += renewal.reaped;
    if (renewal.reaped > 0) {
      this.#arrived = true;
      if (hub.active) {
        hub.emit({ kind: "jobs-reaped", atMs: nowMs, pool: state.pool, count: renewal.reaped });
      }
    }
  }

  /** Reads the clock, and takes in that nothing came while the pool rested. */
  #catchUp(): number {
    const nowMs = this.#readClock();
    if (this.rests) this.#parts.state.rested(nowMs);
    return nowMs;
  }

  #readClock(): number {
    const { clock, state } = this.#parts;
    const nowMs = clock.nowMs();
    state.nowMs = nowMs;
    return nowMs;
  }

  /** Sets the timer for the earliest of all that time brings. */
  #arm(nowMs: number): void {
    const { steering, runner, state, crew, guard, settler, dispatch, permits, counting } =
      this.#parts;
    const renewAtMs = this.#renewing ? Infinity : this.#renewAtMs; // one that is late is waited for
    let atMs = Math.min(
      renewAtMs,
      runner.nextLimitAtMs,
      permits.nextAtMs(nowMs),
      guard.giveUpAtMs,
    );
    if (this.#steers) {
      if (this.#nextTickMs === Infinity && !steering.quiet) {
        this.#nextTickMs = nowMs + state.settings.tickMs;
      }
      atMs = Math.min(
        atMs,
        this.#nextTickMs,
        steering.reviewAtMs,
        this.#ticking ? Infinity : steering.override?.untilMs ?? Infinity, // the tick under way ends it
        counting.dueAfter(nowMs),
      );
      atMs = Math.min(atMs, dispatch.nextAtMs(nowMs));
      if (state.live < state.target && crew.restartAtMs > nowMs) {
        atMs = Math.min(atMs, crew.restartAtMs);
      }
    }
    if (settler.waiting && guard.closed("settle", nowMs)) {
      atMs = Math.min(atMs, guard.resumeAtMs("settle"));
    }
    if (state.ready > 0 && guard.closed("lease", nowMs)) {
      atMs = Math.min(atMs, guard.resumeAtMs("lease"));
    }
    if (atMs < Infinity) this.#alarm.by(atMs);
    else this.#alarm.cancel();
  }
}
