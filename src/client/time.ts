/**
 * Time as a client sees it.
 *
 * @module
 */

/** Real time, or a test's. */
export interface ClientTime {
  /** ms since any fixed moment. Never goes back. */
  nowMs(): number;
  /**
   * Calls `run` once after this many ms.
   *
   * @returns Unsets it. Safe to call again, and after it fired.
   */
  after(ms: number, run: () => void): () => void;
}

/** Longest delay a platform timer takes: a longer one would fire at once. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

/** The time of the platform. */
export const platformTime: ClientTime = {
  nowMs: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, Math.min(ms, LONGEST_DELAY_MS));
    return () => clearTimeout(timer);
  },
};

/**
 * Waits.
 *
 * @throws {unknown} The reason of `signal`, if it aborts.
 */
export async function pause(
  ms: number,
  time: ClientTime,
  signal: AbortSignal | undefined,
): Promise<void> {
  signal?.throwIfAborted();
  let leave = (): void => {};
  try {
    // Hint: not every platform that this runs on has Promise.withResolvers.
    await new Promise<void>((resolve, reject) => {
      const unset = time.after(ms, resolve);
      const abort = (): void => reject(signal?.reason);
      signal?.addEventListener("abort", abort);
      leave = () => {
        unset();
        signal?.removeEventListener("abort", abort);
      };
    });
  } finally {
    leave();
  }
}
