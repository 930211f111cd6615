/**
 * How long a failed job waits before its next attempt.
 *
 * @module
 */

/** Waits between attempts. */
export interface Backoff {
  /** The waits themselves, ms: the last one goes on. `undefined`: they are computed. */
  readonly delaysMs?: readonly number[] | undefined;
  /** Wait after the first failure, ms. */
  readonly baseMs: number;
  /** How many times as long the wait after each further failure is. */
  readonly factor: number;
  /** Longest wait, ms. */
  readonly maxMs: number;
  /** Share of the wait that chance adds. */
  readonly jitter: number;
  /** How long after it was first due a job may still be retried, ms. `undefined`: as long as it has attempts. */
  readonly forMs?: number | undefined;
}

/** Attempts unless a lane says otherwise. */
const ATTEMPTS = 5;

/** More attempts within `forMs` are a slip of the pen. */
const MOST_ATTEMPTS = 100_000;

/** The wait after an attempt, before jitter, ms. @param attempt The first is 1. */
export function backoffMs({ delaysMs, baseMs, factor, maxMs }: Backoff, attempt: number): number {
  if (delaysMs !== undefined) return delaysMs[Math.min(attempt, delaysMs.length) - 1]!; // it has one at least
  return Math.min(maxMs, baseMs * factor ** (attempt - 1));
}

/** How many attempts a lane has that does not say: as many as there are waits, or as fit in its time. */
export function usualAttempts(backoff: Backoff): number {
  const { delaysMs, forMs } = backoff;
  if (forMs === undefined) return delaysMs === undefined ? ATTEMPTS : delaysMs.length + 1;
  let sinceMs = 0;
  for (let attempt = 1; attempt < MOST_ATTEMPTS; attempt++) {
    sinceMs += backoffMs(backoff, attempt);
    if (sinceMs > forMs) return attempt;
  }
  return MOST_ATTEMPTS;
}
