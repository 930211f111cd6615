/**
 * One at a time.
 *
 * @module
 */

/** Lets one operation in at a time, in the order of asking. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve();
  readonly #after: () => unknown;

  /** Waits for what `after` returns between two operations. */
  constructor(after: () => unknown = () => undefined) {
    this.#after = after;
  }

  /** Runs an operation once all before it have ended. Not from within another. */
  run<T>(operation: () => Promise<T>): Promise<T> {
    const result = this.#last.then(operation);
    this.#last = result.then(this.#after, this.#after); // the caller gets a fault; the next one may go on
    return result;
  }
}
