/**
 * The trial of growth: did it bring what it costs?
 *
 * @module
 */

import type { PoolView } from "../../src/view.ts";
import { type GateBase, runningIn, targetOf, TOLERANCE } from "./_gate_base.ts";
import type { GateMeter, Mark, Span } from "./_gate_meter.ts";

/** Least throughput gained, as a share of what the added workers would bring at best. */
const GAIN = 0.5;

/** So little more concurrency needs no proof. */
const LITTLE = 0.1;

/** Rounds of growth that a trial without verdict may allow, at most. */
const MOST_ROUNDS = 20;

/** What a trial came to. */
export interface Verdict {
  /** True: growth may go on from `workers`. False: the pool is held at `workers`. */
  readonly accepted: boolean;
  /** The concurrency whose worth is shown. */
  readonly workers: number;
  /** Why, with the numbers that decided. */
  readonly why: string;
}

/** What a trial is judged by. */
export interface TrialParts {
  readonly meter: GateMeter;
  readonly base: GateBase;
  /** The concurrency whose worth was shown before, >= 1. */
  readonly verified: number;
  /** Growth per round. */
  readonly factor: number;
}

/** One trial, from the growth that opens it to its verdict. */
export class Trial {
  readonly #parts: TrialParts;
  readonly #begun: Mark;
  readonly #before: number; // jobs that ran already
  #own: Mark | undefined; // when as many had ended: what ends now was started in the trial
  #slow: Mark | undefined; // when its run times were found longer: throughput decides from there

  constructor(view: PoolView, parts: TrialParts) {
    this.#parts = parts;
    this.#begun = parts.meter.now;
    this.#before = runningIn(view);
  }

  /**
   * Further rounds of growth, one each target: attempts are long, so the verdict takes long. None
   * beyond the time that it would take if they ran as before: then they are slower, and not yet counted.
   */
  rounds(view: PoolView): number {
    if (this.#slow !== undefined) return 0;
    const { base } = this.#parts;
    const passedMs = view.nowMs - this.#begun.atMs;
    const dueMs = TOLERANCE * base.serviceMs * (1 + Math.max(1, this.#enough(view) / view.live));
    const countedMs = base.isThin(view) ? passedMs : Math.min(passedMs, dueMs);
    return Math.min(MOST_ROUNDS, Math.floor(countedMs / targetOf(view)));
  }

  /** Accepts by run time as soon as it can, else by throughput. `undefined`: no verdict yet. */
  judge(view: PoolView): Verdict | undefined {
    const { meter, base } = this.#parts;
    if (this.#own === undefined) {
      if (meter.since(this.#begun).ended < this.#before) return undefined;
      this.#own = meter.now;
    }
    const own = meter.since(this.#own);
    if (own.timed < this.#enough(view)) return undefined;
    const thin = base.isThin(view);
    if (thin || !base.isSlower(own)) return this.#accepted(view, own, thin);
    this.#slow ??= meter.now;
    return this.#byThroughput(view, meter.since(this.#slow));
  }

  /** Attempts that a verdict by run time rests on. */
  #enough({ live }: PoolView): number {
    return Math.max(3, live / 4, 12 * this.#parts.meter.variation);
  }

  #accepted(view: PoolView, own: Span, thin: boolean): Verdict {
    const { meter, base, verified } = this.#parts;
    const before = thin ? "too little is known to compare with" : `${ms(base.serviceMs)} before`;
    if (thin) base.learn(own);
    const { concurrency } = meter.since(this.#begun);
    const workers = Math.max(verified, Math.min(view.live, Math.ceil(concurrency - 0.25)));
    return { accepted: true, workers, why: `run time ${ms(own.serviceMs)}, ${before}` };
  }

  /** X = n / S: gain = X B / V - 1 for paid = n / V - 1. */
  #byThroughput(view: PoolView, span: Span): Verdict | undefined {
    const { meter, base, verified, factor } = this.#parts;
    const enough = Math.max(20, 2 * view.live, 60 * meter.variation);
    const isDue = span.timed >= enough || span.ms > Math.max(300, 3 * meter.meanMs);
    if (span.timed === 0 || !isDue) return undefined;
    const carried = span.perMs * base.serviceMs; // workers that do as much at the run time before
    const gain = carried / verified - 1;
    const paid = span.concurrency / verified - 1;
    const why = `${share(paid)} more running jobs brought ${share(gain)} more throughput`;
    if (paid <= LITTLE || gain + base.errorOf(span.timed) >= GAIN * paid) {
      base.reset(span.serviceMs, span.timed);
      return { accepted: true, workers: Math.round(span.concurrency), why };
    }
    const least = Math.ceil(span.concurrency / factor); // one round is undone, not more
    const workers = Math.max(verified, least, Math.min(view.live - 1, Math.ceil(1.1 * carried)));
    return { accepted: false, workers, why };
  }
}

function ms(value: number): string {
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
}

function share(value: number): string {
  return `${Math.round(100 * value)} %`;
}
