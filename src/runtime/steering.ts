/**
 * Steers the size of one pool: samples, plans, grows, retires, records.
 *
 * @module
 */

import type { Cooldown } from "./cooldown.ts";
import { judgeRetired, received } from "../base/answers.ts";
import type { Crew } from "./crew.ts";
import { DecisionLog } from "./decision_log.ts";
import { messageOf } from "../contract/errors.ts";
import type { PoolCore } from "./pool_core.ts";
import { HistoryRecorder } from "../planning/history.ts";
import { LoadRecorder } from "../planning/load_record.ts";
import type { Permits } from "./permits.ts";
import type { Plan } from "../planning/planner.ts";
import type { PoolState } from "./pool_state.ts";
import type { Override } from "./handles.ts";
import { Shadow } from "./shadow.ts";
import type { Sizes } from "./sizes.ts";
import type { StartRates } from "./start_rates.ts";
import type { StrategySlots } from "./strategy_slots.ts";

/** Least time between two plans that a review asks for, ms: no strategy can make a busy loop. */
const LEAST_REVIEW_MS = 1;

/** An idle pool above its minimum stops ticking once nothing has changed for so long. */
const QUIET_AFTER_MS = 120_000;

/** What steering needs of its pool. Of its state steering owns target, limit and windows. */
export interface SteeringContext extends PoolCore {
  /** Its workers. */
  readonly crew: Crew;
  /** Its strategies. */
  readonly slots: StrategySlots;
  /** The start rates that dispatch holds. */
  readonly rates: StartRates;
  /** Whether the receiver takes any. */
  readonly cooldown: Cooldown;
  /** Its part of the caps over several processes. */
  readonly permits: Permits;
  /** Which bounds of size hold. */
  readonly sizes: Sizes;
}

/** Owns the plan in effect. */
export class Steering {
  /** The decisions so far. */
  readonly log = new DecisionLog();
  /** The recent past, for diagnosis. */
  readonly history: HistoryRecorder;
  /** What came in the last minutes, to be played again. */
  readonly load = new LoadRecorder();
  /** Plan again then, at the latest. */
  reviewAtMs = Infinity;
  /** Bounds in effect instead of the config's. */
  override: (Override & { readonly untilMs: number }) | undefined;
  /** The candidate controller. `undefined`: none. */
  shadow: Shadow | undefined;
  readonly #context: SteeringContext;
  readonly #state: PoolState;
  #changedAtMs: number;
  #arrivals = 0; // that rates and windows hold

  /** Begins with the minimum as its target. */
  constructor(context: SteeringContext) {
    this.#context = context;
    this.#state = context.state;
    this.history = new HistoryRecorder(context.state.pool);
    this.#changedAtMs = context.state.nowMs;
    this.#applyOverride();
    this.#state.target = this.#state.size.min;
    this.#applyShadow();
  }

  /** True if growth is possible at all: otherwise an arrival need not ask. */
  get mayGrow(): boolean {
    const { live, starting, limit, total, size } = this.#state;
    return live + starting < Math.min(limit, size.max) && total < limit;
  }

  /** True if nothing will change until something happens. */
  get quiet(): boolean {
    const state = this.#state;
    if (state.settings.signals.size > 0 || state.stale) return false;
    if (state.traffic.arrivals !== this.#arrivals) return false; // a pause keeps it from work, not from arrivals
    if (
      state.lanes.some(({ waiting }) => waiting > 0) || state.starting + state.retiring > 0 ||
      state.busy > 0
    ) return false;
    const smallest = Math.min(state.size.min, state.limit);
    if (state.live < state.target || state.live > state.target) return false;
    return state.live <= smallest || state.nowMs - this.#changedAtMs >= QUIET_AFTER_MS;
  }

  /** A tick or a review: plans, grows or retires. */
  tick(nowMs: number): void {
    this.#endOverride(nowMs);
    this.#context.cooldown.look(nowMs);
    this.#state.update(nowMs);
    this.#arrivals = this.#state.traffic.arrivals;
    const from = this.#state.target;
    this.shadow?.ask();
    const plan = this.#plan(nowMs);
    this.shadow?.compare(plan);
    this.#grow(plan, nowMs);
    const retired = this.#retire(plan, nowMs);
    this.#record(from, plan, retired);
    this.history.tick(this.#state, plan, this.quiet);
    this.load.look(nowMs, this.#state.lanes);
  }

  /** A look at a pool that drains, or that others work: its rates and its history go on. */
  look(nowMs: number): void {
    this.#state.update(nowMs);
    this.#arrivals = this.#state.traffic.arrivals;
    this.history.draining(this.#state);
  }

  /** The pool has stopped: its history ends with what is left. */
  stopped(nowMs: number): void {
    this.#state.update(nowMs);
    this.history.stopped(this.#state);
  }

  /** An arrival was left waiting: plans, and grows if that is the plan. */
  arrival(nowMs: number): void {
    const from = this.#state.target;
    const plan = this.#plan(nowMs);
    if (plan.target < from) {
      this.#state.target = from; // a smaller target waits for the tick, which asks which workers stop
      return;
    }
    this.#grow(plan, nowMs);
    if (plan.target > from) this.#record(from, plan, []);
  }

  /** Takes new bounds in. */
  setOverride(bounds: Override | undefined, untilMs: number, nowMs: number): void {
    this.override = bounds === undefined ? undefined : { ...bounds, untilMs };
    this.#applyOverride();
    const { hub } = this.#context;
    const kind = bounds === undefined ? "override-ended" : "override-set";
    if (hub.watched) hub.emit({ kind, atMs: nowMs, pool: this.#state.pool });
  }

  /** Other bounds hold by the time of day. */
  resized(): void {
    this.#applyOverride();
  }

  /** Takes the bounds of the state's settings over, as far as no override holds others. */
  adopt(nowMs: number): void {
    this.#applyOverride();
    this.#applyShadow();
    this.#changedAtMs = nowMs;
  }

  /** A candidate that goes on keeps its counts. */
  #applyShadow(): void {
    const { slots: { instances } } = this.#context;
    if (instances.shadow === this.shadow?.candidate) return;
    this.shadow = instances.shadow && new Shadow(instances.shadow, this.#context);
  }

  #endOverride(nowMs: number): void {
    if (this.override !== undefined && this.override.untilMs <= nowMs) {
      this.setOverride(undefined, Infinity, nowMs);
    }
  }

  #applyOverride(): void {
    if (!this.#state.worked) return;
    const { current: size } = this.#context.sizes;
    const max = Math.min(this.override?.max ?? size.max, this.#state.settings.size.max);
    this.#state.size = Object.freeze({ min: Math.min(this.override?.min ?? size.min, max), max });
  }

  #plan(nowMs: number): Plan {
    const { slots, rates, cooldown, permits } = this.#context;
    const state = this.#state;
    state.at(nowMs);
    const plan = slots.planner.plan(state.face, {
      min: state.size.min,
      max: state.size.max,
      target: this.override?.target,
      starting: state.starting,
      shares: permits,
      startable: Math.min(
        rates.allowed(nowMs, state.size.max, state.lanes[0]!.ready > 0),
        cooldown.room(nowMs),
      ),
    });
    for (const part of plan.proposals) {
      const failure = plan.failures.find(({ plugin }) => plugin === part.by);
      if (failure === undefined) slots.works("plan", part.by);
      else slots.fails("plan", failure.plugin, failure.error);
    }
    state.limit = plan.limit;
    state.startsPerSec = plan.startsPerSec;
    state.target = plan.target;
    rates.set(plan.rates);
    this.reviewAtMs = Math.max(nowMs + LEAST_REVIEW_MS, plan.reviewAtMs);
    return plan;
  }

  #grow(plan: Plan, nowMs: number): void {
    const { live, starting, total } = this.#state;
    const missing = plan.target - live - starting;
    if (missing > 0) this.#context.crew.grow(missing, Math.max(0, plan.limit - total), nowMs);
  }

  /** Asks which workers stop, and holds the answer to the minimum. */
  #retire(plan: Plan, nowMs: number): readonly string[] {
    const { slots, crew } = this.#context;
    const state = this.#state;
    const excess = Math.max(0, state.live - plan.target);
    const retired: string[] = [];
    try {
      const ids = judgeRetired(slots.retirement.run(state.face, excess));
      const least = Math.min(state.size.min, plan.limit);
      for (const id of ids) {
        const worker = state.workers.find((worker) => worker.id === id);
        if (worker === undefined) throw new TypeError(`No worker has the id ${received(id)}`);
        if (state.live <= least) break;
        if (crew.retire(worker, nowMs)) retired.push(id);
      }
      slots.works("retire", slots.retirement.name);
    } catch (thrown) {
      slots.fails("retire", slots.retirement.name, messageOf(thrown));
    }
    return retired;
  }

  #record(from: number, plan: Plan, retired: readonly string[]): void {
    this.history.planned(this.#state.nowMs, plan.target);
    const decision = this.log.record(this.#state, from, plan, retired);
    if (decision === undefined) return;
    this.#changedAtMs = decision.atMs;
    const { hub } = this.#context;
    if (hub.active) {
      hub.emit({ kind: "decided", atMs: decision.atMs, pool: this.#state.pool, decision });
    }
  }
}
