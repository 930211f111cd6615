/**
 * Bodies that are being read: none for longer than its time, and none once the server stops.
 *
 * @module
 */

import { OpenList } from "../../base/open_list.ts";
import type { Clock, Timer } from "../../time/clock.ts";

/** Message for a request that a stop of the server cuts short. */
export const SERVER_STOPS = "The server is stopping: send the request again after the restart";

/** How long a body may take to come, ms. */
export const READ_WITHIN_MS = 30_000;

/** A body was not read to its end. */
export class UnreadError extends Error {
  /** Why: it took too long, or the server stops. */
  readonly why: "late" | "stopping";

  /** Says why. */
  constructor(why: UnreadError["why"]) {
    super(
      why === "late"
        ? `The body did not arrive within ${READ_WITHIN_MS / 1000} s: send it without pauses`
        : SERVER_STOPS,
    );
    this.name = "UnreadError";
    this.why = why;
  }
}

interface Read {
  /** When it began, ms since epoch. */
  readonly sinceMs: number;
  readonly giveUp: (error: UnreadError) => void;
}

/** Bounds the time of reads. While requests come, they cost one timer a `READ_WITHIN_MS` together. */
export class BodyReads {
  readonly #clock: Clock;
  readonly #reads = new OpenList<Read>();
  #isStopping = false;
  #isLooking = false;
  #timer: Timer | undefined;

  /** All reads are given up when `signal` aborts. */
  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock;
    const stop = (): void => {
      this.#isStopping = true;
      for (const { giveUp } of this.#reads.values()) giveUp(new UnreadError("stopping"));
      this.#timer?.cancel();
      this.#timer = undefined;
    };
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
  }

  /**
   * What a read comes to.
   *
   * @throws {UnreadError} If it is not over in time.
   */
  of<T>(reading: Promise<T>): Promise<T> {
    if (this.#isStopping) {
      reading.catch(() => {}); // it fails once its connection is closed, and nobody waits for it
      return Promise.reject(new UnreadError("stopping"));
    }
    return new Promise((resolve, reject) => {
      const read = { sinceMs: this.#clock.nowMs(), giveUp: reject };
      const open = this.#reads.add(read);
      if (this.#timer === undefined) this.#arm(read);
      reading.then((value) => {
        this.#reads.delete(open);
        resolve(value);
      }, (thrown) => {
        this.#reads.delete(open);
        reject(thrown);
      });
    });
  }

  /** Sets a timer that outlasts the read: one for all that come until it fires. */
  #arm({ sinceMs }: Read): void {
    this.#timer = this.#clock.at(sinceMs + READ_WITHIN_MS, this.#expire);
  }

  readonly #expire = (): void => {
    this.#timer = undefined;
    const nowMs = this.#clock.nowMs();
    for (const { sinceMs, giveUp } of this.#reads.values()) {
      if (nowMs - sinceMs >= READ_WITHIN_MS) giveUp(new UnreadError("late"));
    }
    const oldest = this.#reads.values().find(({ sinceMs }) => nowMs - sinceMs < READ_WITHIN_MS);
    if (oldest !== undefined) this.#arm(oldest);
  };
}
