/**
 * A database over the network. Its client repeats a call for as long as nothing answers
 * (denoland/denokv, 0.14), so here each call has its time, and an outage is found out once for all.
 *
 * @module
 */

import { SIGNAL_KEY } from "./keys.ts";

/** How long an answer may take, ms. */
const ANSWER_MS = 5000;

/** How a line is set up. */
export interface LineOptions {
  /** Opens another handle, with connections of its own. */
  readonly open: () => Promise<Deno.Kv>;
  /** How long an answer may take, ms. @default {5000} */
  readonly answerMs?: number | undefined;
}

/** The handle in use, and whether it is answered. */
export class Line {
  readonly #open: () => Promise<Deno.Kv>;
  readonly #answerMs: number;
  #kv: Deno.Kv;
  /** Resolves once something is answered again. `undefined`: nothing is known to be amiss. */
  #outage: PromiseWithResolvers<void> | undefined;
  #closed = false;
  readonly #stop = new AbortController();

  /** Uses a handle until it is closed. */
  constructor(kv: Deno.Kv, { open, answerMs = ANSWER_MS }: LineOptions) {
    this.#kv = kv;
    this.#open = open;
    this.#answerMs = answerMs;
  }

  /** The handle: another one after an outage. */
  get kv(): Deno.Kv {
    return this.#kv;
  }

  /** Asks, and waits no longer than an answer may take; in an outage for its end first. */
  async call<T>(operation: () => Promise<T>): Promise<T> {
    if (this.#outage !== undefined) await this.#inTime(this.#outage.promise);
    const work = operation();
    work.then(() => this.#answered(), () => {}); // a late answer ends an outage too
    return await this.#inTime(work);
  }

  /** Closes the handle. */
  close(): void {
    this.#closed = true;
    this.#stop.abort();
    this.#kv.close();
  }

  #inTime<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#goOut();
        reject(
          new Error(
            `The database has not answered for ${this.#answerMs / 1000} s: ` +
              "see whether it runs, and whether this process can reach it",
          ),
        );
      }, this.#answerMs);
      work.then(resolve, reject).finally(() => clearTimeout(timer));
    });
  }

  #answered(): void {
    this.#outage?.resolve();
    this.#outage = undefined;
  }

  #goOut(): void {
    if (this.#outage !== undefined || this.#closed) return;
    const outage = Promise.withResolvers<void>();
    this.#outage = outage;
    this.#probe(outage).catch(() => this.#answered()); // it cannot even be opened: calls tell why
  }

  /**
   * Asks over new connections, one after the other: those in use may be dead without anyone knowing, and
   * calls that nobody waits for any more go on at the client.
   */
  async #probe(outage: PromiseWithResolvers<void>): Promise<void> {
    while (this.#outage === outage && !this.#closed) {
      const kv = await this.#open();
      const answered = await this.#within(kv.get(SIGNAL_KEY));
      if (this.#closed || this.#outage !== outage || !answered) {
        kv.close();
        continue;
      }
      this.#kv.close();
      this.#kv = kv;
      this.#answered();
    }
  }

  /** Whether there is an answer in time. */
  async #within(work: Promise<unknown>): Promise<boolean> {
    const { signal } = this.#stop;
    const late = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => late.resolve(false), this.#answerMs);
    const stop = (): void => late.resolve(false);
    signal.addEventListener("abort", stop);
    try {
      return await Promise.race([
        work.then(() => true, async () => await late.promise), // refused: not at once again
        late.promise,
      ]);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
    }
  }
}
