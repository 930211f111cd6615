/**
 * The release: what bounds the harm of a gate that errs. It judges by few attempts, so that on a machine
 * with hiccups chance may refuse growth that would help, again and again.
 *
 * @module
 */

import type { PoolView } from "../../src/contract/view.ts";
import type { GateMeter, Mark, Span } from "./_gate_meter.ts";

/** Jobs are late for so long because of the gate before it is put to the test, ms. */
const PATIENCE_MS = 1000;
/** How long each of the two sizes is measured, ms, and in attempts. */
const SPAN_MS = 750;
const LEAST_ENDED = 20;
/** How long it waits for the larger size to be in use, ms. */
const SETTLE_MS = 200;
/** What is measured is one size: from this many ms on, the mean differs by no more from what there is now. */
const STEADY_FROM_MS = 200;
const STEADY = 0.25;
/** Share of the added running jobs that is to come out as throughput: less than a trial asks, as it is late. */
const GAIN = 0.25;
/** First and longest time between two tests that found nothing, ms. */
const FIRST_REST_MS = 10_000;
const LONGEST_REST_MS = 300_000;

/**
 * While the gate holds a pool back and jobs are late for long, compares a much larger size with the one
 * it has, each over most of a second: hiccups average out, and a downstream that has no more to give shows it.
 */
export class Release {
  /** Size that is tried. `undefined`: the gate decides. */
  level: number | undefined;
  readonly #factor: number;
  readonly #meter: GateMeter;
  #bound: Mark | undefined; // since when the gate holds late jobs back
  #raisedAtMs = 0;
  #raised: Mark | undefined; // since when the larger size is measured
  #before: Span | undefined;
  #restMs = FIRST_REST_MS;
  #restUntilMs = -Infinity;

  /** @param factor How many times as large the size is that is tried. */
  constructor(factor: number, meter: GateMeter) {
    this.#factor = factor;
    this.#meter = meter;
  }

  /** Starts again: what was measured was not the workers' doing. */
  forget(): void {
    this.level =
      this.#bound =
      this.#raised =
      this.#before =
        undefined;
  }

  /**
   * Goes on. `holds`: the gate allows less than is wanted, and jobs are late.
   *
   * @returns Whether the larger size helps, once that is known.
   */
  go(view: PoolView, holds: boolean, wanted: number): boolean | undefined {
    if (this.level !== undefined) return this.#compare(view, wanted);
    if (!holds || view.nowMs < this.#restUntilMs) {
      this.#bound = undefined;
      return undefined;
    }
    this.#bound ??= this.#meter.now;
    const span = this.#meter.since(this.#bound);
    if (span.ms > STEADY_FROM_MS && !isSteady(span, view)) this.#bound = this.#meter.now;
    else if (span.ms >= PATIENCE_MS && span.ended >= LEAST_ENDED) this.#raise(view, span, wanted);
    return undefined;
  }

  #raise({ nowMs, live }: PoolView, before: Span, wanted: number): void {
    this.#before = before;
    this.level = Math.min(wanted, Math.max(live + 1, Math.ceil(live * Math.min(2, this.#factor))));
    this.#raisedAtMs = nowMs;
    this.#raised = undefined;
  }

  #compare(view: PoolView, wanted: number): boolean | undefined {
    const before = this.#before!; // raised
    if (this.#raised === undefined) {
      if (view.nowMs - this.#raisedAtMs >= SETTLE_MS) this.#raised = this.#meter.now;
      return undefined;
    }
    const after = this.#meter.since(this.#raised);
    if (after.ms < SPAN_MS || after.ended < LEAST_ENDED) {
      return wanted < view.live ? this.#answer(view, true) : undefined; // nothing is missing any more
    }
    const paid = after.concurrency / before.concurrency - 1;
    const gain = (after.ended / after.ms) / (before.ended / before.ms) - 1;
    return this.#answer(view, paid > STEADY && gain >= GAIN * paid);
  }

  #answer({ nowMs }: PoolView, helps: boolean): boolean {
    this.forget();
    if (helps) this.#restMs = FIRST_REST_MS;
    else {
      this.#restUntilMs = nowMs + this.#restMs;
      this.#restMs = Math.min(LONGEST_REST_MS, this.#restMs * 2);
    }
    return helps;
  }
}

function isSteady({ concurrency }: Span, { live }: PoolView): boolean {
  return concurrency <= live * (1 + STEADY) + 1 && concurrency >= live * (1 - STEADY) - 1;
}
