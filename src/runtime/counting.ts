/**
 * Reads the counts of the lanes, and knows when they were asked for: who decides by them may wait for
 * counts that are newer than the question.
 *
 * @module
 */

import type { Lane } from "./lane.ts";
import type { PoolCore } from "./pool_core.ts";
import { judgeCounts } from "./store_answers.ts";
import type { StoreGuard } from "./store_guard.ts";
import type { Queue } from "../contract/store.ts";

/** What counting needs of its pool. Of its state counting owns the counts of its lanes. */
export interface CountingContext extends PoolCore {
  /** Its jobs. */
  readonly queue: Queue;
  /** Backs off from a store that fails. */
  readonly guard: StoreGuard;
}

/** Owns what is known of the counts. */
export class Counting {
  readonly #context: CountingContext;
  #asked = 0;
  #known = 0; // number of the latest count that was taken over
  #counting = false;
  #lanes: readonly Lane[] | undefined; // whose counts were read last

  /** Begins with what the queue knew when it was opened. */
  constructor(context: CountingContext) {
    this.#context = context;
    const { state, queue } = context;
    if (queue.counts === undefined) return;
    judgeCounts(queue.counts, state.lanes.length);
    this.#take(state.lanes, queue.counts, state.lanes.map((lane) => lane.added));
  }

  /** True once each lane has been counted. */
  get known(): boolean {
    return this.#lanes === this.#context.state.lanes;
  }

  /** Reads the counts, then goes on: with the last known ones if the store cannot be read. */
  read(nowMs: number, then: () => void): void {
    if (this.#counting || this.#context.guard.closed("count", nowMs)) {
      then();
      return;
    }
    this.#counting = true;
    this.#ask(nowMs, false, () => {
      this.#counting = false;
      then();
    });
  }

  /**
   * Counts again, what others have done by now included.
   *
   * @returns True once the counts that are known are newer than this call. False: the store failed at it.
   */
  fresh(): Promise<boolean> {
    return new Promise((resolve) => this.#ask(this.#context.now(), true, resolve));
  }

  /** When the counts change by themselves. -Infinity: there are lanes that were never counted. */
  nextDueMs(): number {
    if (!this.known) return -Infinity;
    let next = Infinity;
    for (const lane of this.#context.state.lanes) {
      if (lane.nextDueAtMs < next) next = lane.nextDueAtMs;
    }
    return next;
  }

  /** When to count next. What is due already is being counted, or waits for the store. */
  nextAtMs(nowMs: number): number {
    const next = this.nextDueMs();
    if (next > nowMs) return next;
    const { guard } = this.#context;
    return guard.closed("count", nowMs) ? guard.resumeAtMs("count") : Infinity;
  }

  #ask(nowMs: number, anew: boolean, then: (isKnown: boolean) => void): void {
    const { guard, queue, state } = this.#context;
    const { lanes } = state;
    const number = ++this.#asked;
    const added = lanes.map((lane) => lane.added);
    const isOurs = (): boolean => lanes === state.lanes; // other lanes since: counted again by the next turn
    guard.call("count", {
      ask: (nowMs) => queue.count(state.wall.at(nowMs), anew),
      judge: (counts) => isOurs() && judgeCounts(counts, lanes.length),
      ok: (counts) => {
        // An answer that was overtaken by one to a later question says nothing new.
        if (isOurs() && number > this.#known) {
          this.#known = number;
          this.#take(lanes, counts, added);
        }
        then(isOurs());
      },
      failed: () => then(false),
      late: () => {},
    }, nowMs);
  }

  /** `added`: jobs of each lane whose additions had been answered when the counts were asked for. */
  #take(
    lanes: readonly Lane[],
    counts: NonNullable<Queue["counts"]>,
    added: readonly number[],
  ): void {
    lanes.forEach((lane, index) => lane.counted(counts[index]!, added[index]!)); // judged: one a lane
    this.#lanes = lanes;
  }
}
