/**
 * How many lists of jobs are read at once: each may hold megabytes, and a stop waits for those under way.
 *
 * @module
 */

import { SERVER_STOPS } from "../http/reads.ts";

/** Lists that are read at once, at most. The others wait for their turn. */
const MOST_AT_ONCE = 4;

/** A list was not read, as the server stops. */
export class StoppingError extends Error {
  /** Says what to do. */
  constructor() {
    super(SERVER_STOPS);
    this.name = "StoppingError";
  }
}

/** Lets a few lists be read at once, in the order of asking. */
export class ListLimit {
  readonly #signal: AbortSignal;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** Those that wait are given up when `signal` aborts. */
  constructor(signal: AbortSignal) {
    this.#signal = signal;
    const wakeAll = (): void => this.#waiting.splice(0).forEach((wake) => wake());
    signal.addEventListener("abort", wakeAll, { once: true });
  }

  /**
   * Reads a list once it is its turn.
   *
   * @throws {StoppingError} If the server stops before.
   */
  async run<T>(read: () => Promise<T>): Promise<T> {
    while (this.#running >= MOST_AT_ONCE && !this.#signal.aborted) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    if (this.#signal.aborted) throw new StoppingError();
    this.#running++;
    try {
      return await read();
    } finally {
      this.#running--;
      this.#waiting.shift()?.();
    }
  }
}
