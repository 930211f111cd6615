/**
 * The gate: how far growth may go that has not shown its worth.
 *
 * @module
 */

import { counted, duration } from "../../src/base/format.ts";
import type { Limit } from "../../src/contract/strategy.ts";
import type { PoolView } from "../../src/contract/view.ts";
import { GateBase, KNOWN, runningIn, TOLERANCE, waitingIn } from "./_gate_base.ts";
import { GateHold, type Refusal } from "./_gate_hold.ts";
import { GateMeter, type Span } from "./_gate_meter.ts";
import { Release } from "./_gate_release.ts";
import { isLate, Lateness, Overloads } from "./_gate_signs.ts";
import { GateTrial } from "./_gate_trial.ts";

/** Growth per round after a refusal, and for how long, ms. */
const CAREFUL = 1.25;
const CAREFUL_MS = 30_000;

/** What stays of the pool when its downstream says that it is overloaded. */
const BACK_OFF = 0.7;

/** How soon a trial or a hold looks again, ms: half a run time within these bounds. */
const SOONEST_MS = 5;
const LATEST_MS = 50;

/**
 * Free: growth up to `factor` times the verified concurrency is let through. Growth above the verified
 * concurrency opens a trial; a refusal, an overload or long lateness the hold.
 */
export class GrowthGate {
  readonly #factor: number;
  readonly #meter = new GateMeter();
  readonly #base: GateBase;
  readonly #hold: GateHold;
  readonly #overloads: Overloads;
  readonly #lateness: Lateness;
  readonly #release: Release;
  #trial: GateTrial | undefined;
  #verified = 0; // concurrency whose worth is shown; 0 until asked
  #reached = 0; // highest accepted level, which may be come back to at once
  #refusedAtMs = -Infinity;
  #why = "nothing measured yet";

  /** @param lanes How many lanes the pool has: a gate is made for certain lanes. */
  constructor(factor: number, lanes: number) {
    this.#factor = factor;
    this.#base = new GateBase(lanes, this.#meter);
    this.#hold = new GateHold(this.#meter, this.#base);
    this.#overloads = new Overloads(this.#meter);
    this.#lateness = new Lateness(this.#base);
    this.#release = new Release(factor, this.#meter);
  }

  /** How far the pool may grow now. No bound where growth is not to be refused. */
  ask(view: PoolView, wanted: number): Limit {
    const latest = this.#meter.take(view);
    if (this.#verified === 0) this.#verified = Math.max(1, view.target);
    const said = this.#overloads.hear(view);
    if (said > 0) this.#backOff(view, said);
    else if (view.stale || view.rateBound) this.#disturb();
    else if (this.#release.level !== undefined) this.#compare(view, wanted);
    else if (this.#hold.active) this.#walk(view);
    else {
      if (this.#trial !== undefined) this.#judge(view, this.#trial, wanted);
      else this.#watch(view, latest, wanted);
      this.#seekBelow(view);
    }
    return this.#answer(view, wanted);
  }

  /** Growth was let through to see whether the gate errs. */
  #compare(view: PoolView, wanted: number): void {
    const tried = this.#release.level ?? view.live;
    const helps = this.#release.go(view, true, wanted);
    if (helps === undefined) return;
    this.#hold.disturb();
    if (!helps) return;
    this.#why = "jobs were late, and more workers brought more";
    this.#hold.end();
    this.#refusedAtMs = -Infinity;
    this.#accept(tried);
  }

  /** The downstream itself said so: lower at once. */
  #backOff(view: PoolView, said: number): void {
    this.#why = said === 1
      ? "the downstream said that it is overloaded"
      : `the downstream said ${said} times that it is overloaded`;
    this.#release.forget();
    this.#refuse(view, Math.floor(BACK_OFF * Math.min(view.live, this.#hold.level) + 1e-9));
  }

  /** Late for long although nothing holds the pool, and slower than ever: a smaller one may do as much. */
  #seekBelow(view: PoolView): void {
    if (this.#hold.active) return;
    const forMs = this.#lateness.lateForMs(view);
    if (forMs === 0) return;
    const recent = this.#meter.recent(Math.max(KNOWN, view.live >> 1, 24 * this.#meter.variation));
    if (!this.#base.isSlowerThanEver(recent)) return;
    this.#why = `late for ${duration(forMs)}, and slower than ever, with ${
      counted(view.live, "worker")
    }`;
    this.#refuse(view, Math.max(view.live, view.target));
  }

  #answer(view: PoolView, wanted: number): Limit {
    const allowed = this.#hold.active ? this.#hold.level : this.#allowed(view);
    if (this.#release.level === undefined) {
      this.#release.go(view, wanted > allowed && isLate(view), wanted);
    }
    const workers = Math.max(allowed, this.#release.level ?? 0);
    const grows = Math.min(wanted, workers);
    const isFree = !this.#hold.active && this.#trial === undefined;
    if (isFree && grows > Math.max(this.#verified, 2) && grows > view.live) {
      this.#begin(view, Math.max(view.size.min, 1, Math.min(view.live || 1, this.#verified)));
    }
    const says = this.#release.level !== undefined
      ? "jobs are late, so it tries"
      : this.#hold.active
      ? "held at"
      : "growth may go to";
    return {
      workers: this.#hold.active || (wanted > workers && waitingIn(view) > 0) ? workers : Infinity,
      reason: `${this.#why}: ${says} ${workers}`,
      reviewAtMs: this.#reviewAtMs(view),
    };
  }

  /** max(reached, factor V, V + 1), and another factor for each round that a trial has cost. */
  #allowed(view: PoolView): number {
    const base = Math.max(this.#verified, view.size.min);
    const isCareful = view.nowMs - this.#refusedAtMs <= CAREFUL_MS;
    const growth = (isCareful ? Math.min(CAREFUL, this.#factor) : this.#factor) **
      (1 + (this.#trial?.rounds(view) ?? 0));
    // What was let through is taken back by a refusal only.
    return Math.max(this.#reached, view.target, Math.ceil(base * growth - 1e-9), base + 1);
  }

  /** Free: learns what attempts take; concurrency well above what is verified opens a trial, too. */
  #watch(view: PoolView, latest: Span, wanted: number): void {
    const { concurrency } = this.#meter.recent(Math.max(4, view.live >> 1));
    const most = Math.max(TOLERANCE * this.#verified, this.#verified + 1);
    if (concurrency > most && wanted > this.#verified) {
      this.#begin(view, this.#verified);
    } else this.#base.learn(latest);
  }

  #begin(view: PoolView, verified: number): void {
    const recent = this.#meter.recent(Math.max(8, verified >> 1));
    // Slower although the pool did not grow: not the pool's doing.
    const slowness = this.#base.slowness(recent);
    if (recent.concurrency <= TOLERANCE * verified && this.#base.isSlow(slowness, recent.timed)) {
      this.#base.scale(slowness);
    }
    this.#verified = verified;
    this.#trial = new GateTrial(view, {
      meter: this.#meter,
      base: this.#base,
      verified,
      factor: this.#factor,
    });
  }

  #judge(view: PoolView, trial: GateTrial, wanted: number): void {
    const isOver = wanted <= this.#verified || waitingIn(view) + runningIn(view) === 0;
    const verdict = isOver ? undefined : trial.judge(view);
    if (isOver) this.#trial = undefined;
    if (verdict === undefined) return;
    this.#why = verdict.why;
    if (verdict.accepted) this.#accept(Math.max(view.size.min, 1, verdict.workers));
    else this.#refuse(view, verdict.workers, verdict.refusal);
  }

  #walk(view: PoolView): void {
    const result = this.#hold.walk(view);
    if (result === undefined) {
      this.#verified = this.#reached = this.#hold.level;
      return;
    }
    this.#hold.end();
    if (result === "spare") this.#accept(Math.max(view.live, this.#verified));
    else {
      this.#why = "attempts are as slow with fewer running";
      this.#refusedAtMs = -Infinity;
    }
  }

  #accept(verified: number): void {
    this.#trial = undefined;
    this.#verified = verified;
    this.#reached = Math.max(this.#reached, verified);
  }

  #refuse(view: PoolView, level: number, refused?: Refusal): void {
    this.#trial = undefined;
    this.#refusedAtMs = view.nowMs;
    this.#lateness.forget();
    this.#hold.begin(view, level, refused);
    this.#verified = this.#reached = this.#hold.level;
  }

  /** What is measured now is not the workers' doing: the store or a start rate holds jobs back. */
  #disturb(): void {
    this.#trial = undefined;
    this.#lateness.forget();
    this.#hold.disturb();
    this.#release.forget();
  }

  /** While a start rate or a cool-down holds jobs back there is nothing to judge before the next tick. */
  #reviewAtMs({ nowMs, rateBound }: PoolView): number | undefined {
    if (rateBound || (!this.#hold.active && this.#trial === undefined)) return undefined;
    const half = (this.#meter.meanMs || 0) / 2;
    return nowMs + Math.max(SOONEST_MS, Math.min(LATEST_MS, half));
  }
}
