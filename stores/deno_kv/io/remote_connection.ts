/**
 * A database over the network. Its client repeats a call for as long as nothing answers
 * (denoland/denokv, 0.14), so here each call has its time, and an outage is found out once for all.
 *
 * @module
 */

import { delay } from "../../../src/base/async.ts";
import { SIGNAL_KEY } from "../record/keys.ts";

/** How long an answer may take, ms. */
const ANSWER_MS = 5000;

/** A request of more bytes is written in two pieces by the client, and the second one held back. */
const LARGE_BYTES = 700;

/** How often a read is tried whose answer breaks off. */
const MOST_TRIES = 4;

/** How a line is set up. */
export interface RemoteConnectionOptions {
  /** Opens another handle, with connections of its own. */
  readonly open: () => Promise<Deno.Kv>;
  /** How long an answer may take, ms. @default {5000} */
  readonly answerMs?: number | undefined;
}

/** The handle in use, and whether it is answered. */
export class RemoteConnection {
  readonly #open: () => Promise<Deno.Kv>;
  readonly #answerMs: number;
  #kv: Deno.Kv;
  /** Resolves once something is answered again. `undefined`: nothing is known to be wrong. */
  #outage: PromiseWithResolvers<void> | undefined;
  /** Calls that have not been answered by the handle in use. */
  readonly #pending = new Set<Promise<unknown>>();
  #closed = false;
  #probing: Promise<void> | undefined;
  readonly #stop = new AbortController();

  /** Uses a handle until it is closed. */
  constructor(kv: Deno.Kv, { open, answerMs = ANSWER_MS }: RemoteConnectionOptions) {
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
    this.#pending.add(work);
    work.then(() => this.#answered(), (thrown) => { // a late answer ends an outage too
      if (isLockedOut(thrown)) this.#goOut();
    }).finally(() => this.#pending.delete(work));
    return await this.#inTime(work);
  }

  /** Reads: asks again if an answer breaks off, or the handle is not let in any more. */
  async read<T>(operation: () => Promise<T>): Promise<T> {
    for (let tries = 1;; tries++) {
      try {
        return await this.call(operation);
      } catch (thrown) {
        if (tries === MOST_TRIES || !isBrokenOff(thrown) && !isLockedOut(thrown)) throw thrown;
      }
    }
  }

  /**
   * Called right before a request of this many bytes. The client does not switch Nagle's algorithm off
   * (denoland/denokv, 0.14): what is left of a large request is held back until the server has
   * acknowledged its beginning, which takes 40 ms if the server has nothing to say meanwhile, and so
   * long all other requests wait. The answer to any request that goes before acknowledges it at once: to
   * a small read, where none is on its way.
   */
  hurry(bytes: number): void {
    if (bytes <= LARGE_BYTES || this.#pending.size > 0) return;
    this.#kv.get(SIGNAL_KEY).catch(() => {}); // nobody needs the answer
  }

  /** Closes the handle at once. Resolves when a try for another has ended too, in `answerMs` at the latest. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#stop.abort();
    this.#kv.close();
    await this.#probing;
  }

  #inTime<T>(work: Promise<T>): Promise<T> {
    return withinMs(work, this.#answerMs, () => this.#goOut());
  }

  #answered(): void {
    this.#outage?.resolve();
    this.#outage = undefined;
  }

  #goOut(): void {
    if (this.#outage !== undefined || this.#closed) return;
    const outage = Promise.withResolvers<void>();
    this.#outage = outage;
    this.#probing = this.#probe(outage);
  }

  /**
   * Asks over new connections, one after the other: those in use may be dead without anyone knowing, and
   * calls that nobody waits for any more go on at the client.
   */
  async #probe(outage: PromiseWithResolvers<void>): Promise<void> {
    const isOver = (): boolean => this.#closed || this.#outage !== outage;
    while (!isOver()) {
      const untilMs = performance.now() + this.#answerMs;
      const kv = await this.#tryNew();
      if (isOver()) kv?.close();
      else if (kv === undefined) await this.#pause(Math.max(0, untilMs - performance.now()));
      else {
        this.#kv.close();
        this.#kv = kv;
        this.#pending.clear();
        this.#answered();
      }
    }
  }

  /** A handle that is answered. `undefined`: none is. */
  async #tryNew(): Promise<Deno.Kv | undefined> {
    const kv = await openInTime(this.#open, this.#answerMs).catch(() => undefined);
    if (kv === undefined) return undefined;
    try {
      await withinMs(kv.get(SIGNAL_KEY), this.#answerMs);
      return kv;
    } catch {
      kv.close();
      return undefined;
    }
  }

  /** Waits, or until it is closed. */
  async #pause(ms: number): Promise<void> {
    await delay(ms, { signal: this.#stop.signal }).catch(() => {});
  }
}

/** Opens a handle. @throws {Error} If the database does not answer in time. */
export async function openInTime(
  open: () => Promise<Deno.Kv>,
  answerMs: number = ANSWER_MS,
): Promise<Deno.Kv> {
  const opening = open();
  try {
    return await withinMs(opening, answerMs);
  } catch (thrown) {
    opening.then((kv) => kv.close(), () => {}); // it comes late, or not at all
    throw thrown;
  }
}

/** Waits for an answer. @throws {Error} If there is none in time. */
function withinMs<T>(work: Promise<T>, ms: number, late?: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      late?.();
      reject(
        new Error(
          `The database has not answered for ${ms / 1000} s: ` +
            "check that it runs and that this process can reach it",
        ),
      );
    }, ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

function isBrokenOff(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.message.includes("failed to read response body");
}

/** A client stops renewing its token once one of its watches has ended (denoland/denokv, 0.14). */
function isLockedOut(thrown: unknown): boolean {
  return thrown instanceof Error && /status=40[13]/.test(thrown.message);
}
