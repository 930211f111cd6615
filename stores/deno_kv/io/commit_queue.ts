/**
 * Turns of small commits. On a file commits are made one after the other anyway, and each takes a flush
 * of its own: what waits for its turn gathers, and goes together.
 *
 * @module
 */

/** Lets one operation in at a time, in the order of asking. */
export class CommitQueue {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs an operation once those before it have ended, and those who were answered have had their say. */
  run<T>(operation: () => Promise<T>): Promise<T> {
    const result = this.#last.then(operation);
    this.#last = result.then(hop, hop);
    return result;
  }
}

/** Lets the event loop run once: what is done about an answer takes a few turns of microtasks. */
function hop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
