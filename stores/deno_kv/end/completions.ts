/**
 * Who waits for the end of which job.
 *
 * @module
 */

import type { Outcome } from "../../../src/contract/job.ts";

/** The pool stopped before the job ended. */
export const UNFINISHED: Outcome = Object.freeze({ state: "unfinished" });

/** How many of the latest ends are remembered for those who ask a moment late. */
const REMEMBERED = 8192;

interface Waiter {
  readonly by: object;
  readonly resolve: (outcome: Outcome) => void;
}

/** Ends of the jobs of one pool, as far as this process brings them about or learns of them. */
export class Completions {
  /** Jobs that have ended in this process. */
  total = 0;
  /** Ends before this one are not remembered: nobody had asked yet. */
  #recordedFrom = Infinity;
  readonly #recent = new Map<string, Outcome>();
  readonly #waiting = new Map<string, Waiter[]>();

  /** Ids that someone waits for. */
  get ids(): IterableIterator<string> {
    return this.#waiting.keys();
  }

  /** How many jobs someone waits for. */
  get size(): number {
    return this.#waiting.size;
  }

  /** Waits for the end of a job. */
  wait(id: string, by: object): Promise<Outcome> {
    if (this.#recordedFrom === Infinity) this.#recordedFrom = this.total;
    const known = this.#recent.get(id);
    if (known !== undefined) return Promise.resolve(known);
    return new Promise((resolve) => {
      const waiters = this.#waiting.get(id);
      if (waiters === undefined) this.#waiting.set(id, [{ by, resolve }]);
      else waiters.push({ by, resolve });
    });
  }

  /** True if an end since `total` was `since` would be remembered. */
  remembers(since: number): boolean {
    return since >= this.#recordedFrom && this.total - since <= REMEMBERED;
  }

  /** Counts a job that has ended in this process. True if someone may want to know: then `ended` tells. */
  note(): boolean {
    this.total++;
    return this.#recordedFrom !== Infinity;
  }

  /** Tells how a job ended, and remembers it for a while. */
  ended(id: string, outcome: Outcome): void {
    this.#recent.set(id, outcome);
    if (this.#recent.size > REMEMBERED) {
      for (const oldest of this.#recent.keys()) {
        this.#recent.delete(oldest);
        break;
      }
    }
    this.tell(id, outcome);
  }

  /** A job lives again. */
  revived(id: string): void {
    this.#recent.delete(id);
  }

  /** Tells those who wait for a job. */
  tell(id: string, outcome: Outcome): void {
    const waiters = this.#waiting.get(id);
    if (waiters === undefined) return;
    this.#waiting.delete(id);
    for (const { resolve } of waiters) resolve(outcome);
  }

  /** Tells those who asked through `by` that they wait in vain. */
  forsake(by: object): void {
    for (const [id, waiters] of this.#waiting) {
      const others = waiters.filter((waiter) => waiter.by !== by);
      for (const waiter of waiters) if (waiter.by === by) waiter.resolve(UNFINISHED);
      if (others.length === 0) this.#waiting.delete(id);
      else this.#waiting.set(id, others);
    }
  }
}
