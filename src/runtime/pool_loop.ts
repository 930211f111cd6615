/**
 * The loop of one pool: turns when something happens, ticks while there is something to steer, one
 * timer for everything that time brings.
 *
 * A pool goes through these phases, each once and in this order; one that is not worked here watches
 * instead of opening and running:
 *
 * | phase    | begins with    | what it does                                                                |
 * | -------- | -------------- | --------------------------------------------------------------------------- |
 * | made     |                | nothing: it has not joined its queue                                        |
 * | opening  | `open`         | turns and ticks; grows for no arrival, since what others have is not known  |
 * | running  | the first plan | all of it                                                                   |
 * | watching | `open`         | turns, renews and counts, plans nothing: this process runs none of its jobs |
 * | stopping | `stopSteering` | turns, renews and counts, plans no more                                     |
 * | closed   | `close`        | nothing                                                                     |
 *
 * A turn is in one of these states. One that is asked for while another is taken follows it, if there is
 * something left to do by then.
 *
 * | turn  | asked for | begins  | ends             |
 * | ----- | --------- | ------- | ---------------- |
 * | none  | asked     | taken   |                  |
 * | asked | asked     | taken   |                  |
 * | taken | again     |         | none             |
 * | again | again     |         | none, then asked |
 *
 * @module
 */

import { Alarm } from "./alarm.ts";
import type { Cooldown } from "./cooldown.ts";
import type { Counting } from "./counting.ts";
import type { Crew } from "./crew.ts";
import type { Dispatch } from "./dispatch.ts";
import type { Pauses } from "./pauses.ts";
import type { Permits } from "./permits.ts";
import type { PoolCore } from "./pool_core.ts";
import { Renewals } from "./renewals.ts";
import type { Runner } from "./runner.ts";
import type { Settler } from "./settler.ts";
import type { Signals } from "./signals.ts";
import type { StartRates } from "./start_rates.ts";
import type { Steering } from "./steering.ts";
import type { Queue } from "../contract/store.ts";
import type { StoreGuard } from "./store_guard.ts";
import { Ticks } from "./ticks.ts";
import { TurnQueue } from "./turn_queue.ts";

/** While a pool drains, or others work it, it is looked at this often, ms. */
const LOOK_EVERY_MS = 1_000;

/** The parts that a loop drives. */
export interface LoopParts extends PoolCore {
  readonly queue: Queue;
  readonly guard: StoreGuard;
  readonly counting: Counting;
  readonly crew: Crew;
  readonly runner: Runner;
  readonly settler: Settler;
  readonly dispatch: Dispatch;
  readonly steering: Steering;
  readonly signals: Signals;
  readonly pauses: Pauses;
  readonly permits: Permits;
  readonly rates: StartRates;
  readonly cooldown: Cooldown;
}

/** Owns the timer and the order in which the parts act. */
export class PoolLoop {
  /** Called after each turn. */
  afterTurn: (() => void) | undefined;
  readonly #parts: LoopParts;
  readonly #alarm: Alarm;
  readonly #turns: TurnQueue;
  readonly #ticks: Ticks;
  readonly #renewals: Renewals;
  #phase: "made" | "opening" | "running" | "watching" | "stopping" | "closed" = "made";
  #turn: "none" | "asked" | "taken" | "again" = "none";
  /** What came since it was last acted upon: jobs, and news of other members. */
  #hasArrived = false;
  #isWoken = false;
  #lookAtMs = Infinity; // while it plans nothing: what is shown goes on

  /** Drives `parts` once `open` was called. */
  constructor(parts: LoopParts) {
    this.#parts = parts;
    const { clock, state, steering } = parts;
    this.#alarm = new Alarm(clock, () => this.#ring());
    this.#turns = new TurnQueue(clock, state);
    this.#ticks = new Ticks(state, steering);
    const came = (): boolean => this.#hasArrived = true;
    this.#renewals = new Renewals({ ...parts, came, changed: () => this.schedule() });
  }

  /** Joins the queue, makes the first plan and starts the minimum. */
  open(): void {
    const nowMs = this.#readClock();
    if (this.#parts.state.worked) {
      this.#phase = "opening";
      this.#ticks.set(nowMs);
    } else {
      this.#phase = "watching";
      this.#ticks.set(Infinity);
      this.#lookAtMs = nowMs;
    }
    this.#renewals.renew(nowMs, () => this.#ring());
    this.#alarm.by(this.#parts.guard.giveUpAtMs);
  }

  /** Jobs taken back from members that had died. */
  get reaped(): number {
    return this.#renewals.reaped;
  }

  /** True while no tick comes until something happens. */
  get rests(): boolean {
    return this.#ticks.rests && this.#phase !== "stopping";
  }

  /** Asks for a turn: in this turn of the event loop, after what runs now. */
  schedule(): void {
    if (this.#phase === "closed") return;
    if (this.#turn === "taken") this.#turn = "again";
    if (this.#turn !== "none") return;
    this.#turn = "asked";
    this.#turns.push(this.#taken);
  }

  /** Jobs are being added: where the store leases them with that, it is asked now. */
  adding(): void {
    if (this.#parts.queue.leasesAdded === true && this.#parts.crew.idleCount > 0) this.schedule();
  }

  /** A job was added: one that is left waiting makes the controller plan. */
  arrived(): void {
    this.#hasArrived = true;
    this.schedule();
  }

  /** Its part of the caps has changed: plans before anything else starts. */
  replan(): void {
    if (this.#phase === "made" || this.#phase === "closed") return;
    if (this.#steers) this.#parts.steering.tick(this.#catchUp());
    this.schedule();
  }

  /** Another pool of this process has changed permits: looks at them within a turn. */
  told(): void {
    if (this.#phase !== "made") this.schedule();
  }

  /** Bounds have changed: plans at once. */
  steer(): void {
    if (!this.#steers) return;
    const nowMs = this.#catchUp();
    this.#ticks.set(nowMs);
    this.#alarm.by(nowMs);
  }

  /** The settings have changed, or the wall clock: counts the lanes, shows that this process lives, plans at once. */
  adopt(): void {
    const nowMs = this.#readClock();
    this.#recount(nowMs);
    this.#renewals.renew(nowMs);
    this.steer();
  }

  /** Another member changed something. */
  wake(): void {
    this.#isWoken = true;
    this.schedule();
  }

  /** Steers and claims no more; renewals, time limits and endings go on. */
  stopSteering(): void {
    this.#phase = "stopping";
    this.#parts.permits.stop();
    this.#ticks.set(Infinity);
    this.#lookAtMs = this.#readClock();
  }

  /** Stops for good. */
  close(): void {
    this.#phase = "closed";
    this.#alarm.cancel();
  }

  get #steers(): boolean {
    return this.#phase === "made" || this.#phase === "opening" || this.#phase === "running";
  }

  readonly #taken = (): void => this.#take(false);

  /** Takes a turn. `hasAsked`: the store was asked for jobs just now. */
  #take(hasAsked: boolean): void {
    this.#turn = "none";
    if (this.#phase === "closed") return;
    const { settler, dispatch, state, steering, permits, counting, rates } = this.#parts;
    const nowMs = this.#catchUp();
    state.look();
    this.#turn = "taken";
    // After a suspension, a turn may come before the timer: what was lost is not mixed with new leases.
    this.#renewals.attend(nowMs);
    settler.flush(nowMs);
    if (this.#phase === "watching" && (this.#isWoken || this.#hasArrived)) this.#watch(nowMs);
    if (this.#isWoken) this.#lookAround(nowMs);
    if (nowMs >= counting.nextDueMs()) this.#recount(nowMs);
    if (!hasAsked) dispatch.run(nowMs);
    if (this.#hasArrived && this.#phase === "running") {
      this.#hasArrived = false;
      if (steering.mayGrow && state.ready > 0) {
        steering.arrival(nowMs);
        dispatch.run(nowMs);
      }
    }
    permits.attend(nowMs);
    this.#parts.cooldown.attend(nowMs);
    if (this.#steers) rates.attend(nowMs);
    else if (nowMs >= this.#lookAtMs) this.#look(nowMs);
    this.#endTurn();
    this.#arm(nowMs);
    this.afterTurn?.();
  }

  /** Where jobs have ended within the turn that began them, their ends go out, and what waits has another turn. */
  #endTurn(): void {
    const isAsked = this.#turn === "again";
    this.#turn = "none";
    if (!isAsked) return;
    const { settler, state } = this.#parts;
    if (settler.waiting) settler.flush(this.#readClock());
    if (settler.waiting || state.ready > 0 || state.live !== state.target) this.schedule();
  }

  #ring(): void {
    if (this.#phase === "closed") return;
    const { runner, guard } = this.#parts;
    const nowMs = this.#catchUp();
    guard.enforce(nowMs);
    this.#renewals.attend(nowMs);
    runner.enforce(nowMs);
    if (!this.#steers || !this.#ticks.isDue(nowMs)) this.#take(false);
    else if (this.#ticks.isUnderWay) { // that one will plan
      this.#ticks.pass(nowMs);
      this.#take(false);
    } else this.#tick(nowMs);
  }

  #tick(nowMs: number): void {
    const { signals, steering, settler, dispatch, counting } = this.#parts;
    this.#ticks.isUnderWay = true;
    this.#ticks.pass(nowMs);
    signals.sample(nowMs);
    counting.read(nowMs, () => {
      this.#ticks.isUnderWay = false;
      if (this.#phase === "closed") return;
      const laterMs = this.#readClock();
      settler.flush(laterMs);
      dispatch.run(laterMs); // what idle workers can take is no reason to grow
      const hasAsked = dispatch.leasing;
      if (this.#steers) steering.tick(laterMs);
      if (this.#phase === "opening") this.#phase = "running";
      if (steering.quiet) this.#ticks.set(Infinity);
      this.#take(hasAsked);
    });
    if (this.#ticks.isUnderWay) this.#arm(nowMs); // the count may never be answered
  }

  #lookAround(nowMs: number): void {
    this.#isWoken = false;
    this.#parts.pauses.refresh();
    this.#parts.permits.wake();
    this.#parts.cooldown.wake();
    this.#renewals.wake(nowMs);
    this.#recount(nowMs);
  }

  #look(nowMs: number): void {
    this.#recount(nowMs);
    const { steering } = this.#parts;
    const rests = this.#phase === "watching" && steering.quiet;
    this.#lookAtMs = rests ? Infinity : nowMs + LOOK_EVERY_MS;
    steering.look(nowMs);
  }

  /** Something came: looks again, soon. */
  #watch(nowMs: number): void {
    this.#hasArrived = false;
    this.#lookAtMs = Math.min(this.#lookAtMs, nowMs + LOOK_EVERY_MS);
  }

  /** Reads the counts within a turn; an answer that comes later asks for another. */
  #recount(nowMs: number): void {
    let atOnce = true;
    this.#parts.counting.read(nowMs, () => {
      if (!atOnce) this.schedule();
    });
    atOnce = false;
  }

  /** Reads the clock, and ends an idle gap if the pool rested. */
  #catchUp(): number {
    const nowMs = this.#readClock();
    if (this.rests) this.#parts.state.rested(nowMs);
    return nowMs;
  }

  #readClock(): number {
    const { clock, state } = this.#parts;
    return state.at(clock.nowMs());
  }

  /** Sets the timer for the earliest of all that time brings. */
  #arm(nowMs: number): void {
    const { runner, permits, cooldown, guard, settler } = this.#parts;
    let atMs = Math.min(
      this.#renewals.nextAtMs(), // each by its name: V8 compiles no call in that a loop makes to many
      runner.nextAtMs(),
      permits.nextAtMs(nowMs),
      cooldown.nextLookMs(),
      guard.nextAtMs(nowMs),
      settler.nextAtMs(nowMs),
      this.#lookAtMs,
    );
    if (this.#steers) {
      const { counting, dispatch, crew, rates } = this.#parts;
      atMs = Math.min(
        atMs,
        this.#ticks.nextAtMs(nowMs),
        counting.nextAtMs(nowMs),
        dispatch.nextAtMs(nowMs),
        crew.nextAtMs(nowMs),
        rates.nextLookMs(nowMs),
      );
    }
    if (atMs < Infinity) this.#alarm.by(atMs);
    else this.#alarm.cancel();
  }
}
