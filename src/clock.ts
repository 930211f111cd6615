/**
 * Time as the runtime sees it: the seam that makes the simulator.
 *
 * @module
 */

import { setImmediate } from "node:timers";

/** A timer that is set. */
export interface Timer {
  /** Unsets it. Safe to call again, and after it fired. */
  cancel(): void;
}

/** Real or virtual time. */
export interface Clock {
  /** ms since epoch, with fractions. Never goes back. One reading may serve a turn of microtasks. */
  nowMs(): number;
  /** Calls `run` once at `atMs`, or as soon as it can if that is past. Any distance works. */
  at(atMs: number, run: () => void): Timer;
  /** Calls `run` after the event loop has run once. Omitted: a turn of microtasks is never too long. */
  hop?(run: () => void): void;
}

/** Resolves once so many ms of a clock's time have passed, or at once when `signal` aborts. */
export async function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const leave = (): void => resolve();
  const timer = clock.at(clock.nowMs() + ms, leave);
  signal?.addEventListener("abort", leave);
  if (signal?.aborted) leave();
  await promise;
  timer.cancel();
  signal?.removeEventListener("abort", leave);
}

/**
 * What some work comes to. It is not given up when it is late, only waited for no more.
 *
 * @throws {Error} With the message `late`, if it takes longer than `ms` of the clock's time.
 */
export async function within<T>(
  clock: Clock,
  work: Promise<T>,
  { ms, late }: { readonly ms: number; readonly late: string },
): Promise<T> {
  const over = Promise.withResolvers<never>();
  const timer = clock.at(clock.nowMs() + ms, () => over.reject(new Error(late)));
  try {
    return await Promise.race([work, over.promise]);
  } finally {
    timer.cancel();
  }
}

/** Longest delay a platform timer takes: a longer one would fire at once. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

/** How many readings are served by one look at the clock while jobs are short. */
const STRIDE = 16;

/** Time per reading above which every reading looks at the clock, ms. */
const SLOW_READING_MS = 0.02;

/**
 * The system's clock.
 *
 * A look at the clock costs as much as running a short job, so one look serves the readings of a
 * turn of microtasks, at most `STRIDE` of them. Work that takes longer than a few microseconds
 * between readings is seen, and then every reading looks.
 */
export function systemClock(): Clock {
  const origin = performance.timeOrigin;
  let now = 0;
  let left = 0; // readings that `now` may still serve
  let stride = 1;
  let resetting = false;
  const reset = (): void => {
    resetting = false;
    left = 0;
  };
  const look = (): number => {
    const real = origin + performance.now();
    const perReadingMs = (real - now) / stride;
    stride = perReadingMs > SLOW_READING_MS ? 1 : Math.min(STRIDE, stride * 2);
    if (real > now) now = real;
    left = stride - 1;
    if (!resetting) {
      resetting = true;
      queueMicrotask(reset);
    }
    return now;
  };
  return {
    nowMs: () => left-- > 0 ? now : look(),
    at: setTimer,
    hop: (run) => {
      setImmediate(run);
    },
  };

  function setTimer(atMs: number, run: () => void): Timer {
    let id: ReturnType<typeof setTimeout> | undefined;
    const arm = (): void => {
      const delayMs = atMs - (origin + performance.now());
      if (delayMs > LONGEST_DELAY_MS) id = setTimeout(arm, LONGEST_DELAY_MS);
      else id = setTimeout(run, Math.max(0, delayMs));
    };
    arm();
    return { cancel: () => clearTimeout(id) };
  }
}
