/**
 * The trial of growth: did it bring what it costs?
 *
 * @module
 */

import type { PoolView } from "../../src/contract/view.ts";
import { type GateBase, runningIn, targetOf, TOLERANCE } from "./_gate_base.ts";
import type { Refusal } from "./_gate_hold.ts";
import type { GateMeter, Mark, Span } from "./_gate_meter.ts";

/** Least throughput gained, as a share of what the added workers would bring at best. */
const GAIN = 0.5;

/** So little more concurrency needs no proof. */
const LITTLE = 0.1;

/** Rounds of growth that a trial without verdict may allow, at most. */
const MOST_ROUNDS = 20;

/** What a trial came to. */
export interface GateVerdict {
  /** True: growth may go on from `workers`. False: the pool is held at `workers`. */
  readonly accepted: boolean;
  /** The concurrency whose worth is shown. */
  readonly workers: number;
  /** Why, with the numbers that decided. */
  readonly why: string;
  /** The growth that is refused. */
  readonly refusal?: Refusal;
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
export class GateTrial {
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
    const dueMs = TOLERANCE * base.meanMs * (1 + Math.max(1, this.#enough(view) / view.live));
    const countedMs = base.isThin(view) ? passedMs : Math.min(passedMs, dueMs);
    return Math.min(MOST_ROUNDS, Math.floor(countedMs / targetOf(view)));
  }

  /** Accepts by run time as soon as it can, else by throughput. `undefined`: no verdict yet. */
  judge(view: PoolView): GateVerdict | undefined {
    const { meter, base } = this.#parts;
    const all = meter.since(this.#begun);
    const timed = all.timed - this.#before;
    if (timed < this.#enough(view)) return undefined;
    if (base.isThin(view)) {
      // What has ended so soon is the short ones: time spent for each that ended is nearer to the truth.
      base.learn(all, Math.max(1, all.concurrency * all.ms / all.timedMs));
      return this.#accepted(view, all, "too little is known to compare run times with");
    }
    const { actualMs, usualMs } = base.compare(all);
    const share = timed / all.timed;
    const slowness = (actualMs - (1 - share) * usualMs) / (share * usualMs);
    if (!base.isSlow(slowness, timed * share)) { // what was taken out adds its own error
      return this.#accepted(
        view,
        all,
        `attempts take ${slowness.toFixed(1)} times as long as before`,
      );
    }
    this.#slow ??= meter.now;
    return this.#byThroughput(view, meter.since(this.#slow));
  }

  /** Attempts that a verdict by run time rests on. */
  #enough({ live }: PoolView): number {
    return Math.max(3, live / 4, 12 * this.#parts.meter.variation);
  }

  #accepted({ live }: PoolView, { concurrency }: Span, why: string): GateVerdict {
    const reached = Math.min(live, Math.ceil(concurrency - 0.25));
    return { accepted: true, workers: Math.max(this.#parts.verified, reached), why };
  }

  /** X = n / S: gain = X B / V - 1 for paid = n / V - 1. */
  #byThroughput(view: PoolView, span: Span): GateVerdict | undefined {
    const { meter, base, verified, factor } = this.#parts;
    const enough = Math.max(20, 2 * view.live, 60 * meter.variation);
    const isDue = span.timed >= enough || span.ms > Math.max(300, 3 * meter.meanMs);
    if (span.timed === 0 || !isDue) return undefined;
    const { concurrency } = span;
    const slowness = base.slowness(span);
    const carried = concurrency / slowness; // running jobs that do as much when not slow
    const gain = carried / verified - 1;
    const paid = concurrency / verified - 1;
    const why = `${percent(paid)} more running jobs brought ${percent(gain)} more throughput`;
    if (paid <= LITTLE || gain + 2 * base.errorOf(span.timed) >= GAIN * paid) {
      base.scale(slowness);
      return { accepted: true, workers: Math.round(concurrency), why };
    }
    const least = Math.ceil(concurrency / factor); // one round is undone, not more
    const workers = Math.max(verified, least, Math.min(view.live - 1, Math.ceil(1.1 * carried)));
    return { accepted: false, workers, why, refusal: { concurrency, slowness } };
  }
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}
