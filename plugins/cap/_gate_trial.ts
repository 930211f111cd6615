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
  /** What decided. */
  readonly span: Span;
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
  readonly #before: number; // jobs that ran already: taken to have run as fast as before
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
    const all = meter.since(this.#begun);
    const timed = all.timed - this.#before;
    if (timed < this.#enough(view)) return undefined;
    if (base.isThin(view)) {
      // What has ended so soon is the short ones: time spent for each that ended is nearer to the truth.
      const spentMs = all.concurrency * all.ms / all.timed;
      base.learn({ ...all, serviceMs: Math.max(all.serviceMs, spentMs) });
      return this.#accepted(view, all, "too little is known to compare with");
    }
    const serviceMs = (all.timed * all.serviceMs - this.#before * base.serviceMs) / timed;
    const own = { ...all, serviceMs, timed: timed ** 2 / all.timed }; // what was taken out adds its own error
    if (!base.isSlower(own)) return this.#accepted(view, own, `${ms(base.serviceMs)} before`);
    this.#slow ??= meter.now;
    return this.#byThroughput(view, meter.since(this.#slow));
  }

  /** Attempts that a verdict by run time rests on. */
  #enough({ live }: PoolView): number {
    return Math.max(3, live / 4, 12 * this.#parts.meter.variation);
  }

  #accepted({ live }: PoolView, span: Span, before: string): Verdict {
    const reached = Math.min(live, Math.ceil(span.concurrency - 0.25));
    const workers = Math.max(this.#parts.verified, reached);
    return { accepted: true, workers, span, why: `run time ${ms(span.serviceMs)}, ${before}` };
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
    if (paid <= LITTLE || gain + 2 * base.errorOf(span.timed) >= GAIN * paid) {
      base.reset(span.serviceMs, span.timed);
      return { accepted: true, workers: Math.round(span.concurrency), span, why };
    }
    const least = Math.ceil(span.concurrency / factor); // one round is undone, not more
    const workers = Math.max(verified, least, Math.min(view.live - 1, Math.ceil(1.1 * carried)));
    return { accepted: false, workers, span, why };
  }
}

function ms(value: number): string {
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
}

function share(value: number): string {
  return `${Math.round(100 * value)} %`;
}
