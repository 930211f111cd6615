/**
 * Time as the runtime sees it: the seam that makes the simulator.
 *
 * @module
 */

import { clearInterval, setImmediate, setInterval } from "node:timers";
import { Wall } from "./wall.ts";

/** A timer that is set. */
export interface Timer {
  /** Unsets it. Safe to call again, and after it fired. */
  cancel(): void;
}

/** Real or virtual time. */
export interface Clock {
  /**
   * ms since epoch as the wall clock showed it at the start, with fractions. Never goes back, and never
   * jumps when the wall clock is set. One reading may serve a turn of microtasks.
   */
  nowMs(): number;
  /** What the wall clock shows beside that. Omitted: nobody sets it. */
  readonly wall?: Wall;
  /** Calls `run` once at `atMs`, or as soon as it can if that is past. Any distance works. */
  at(atMs: number, run: () => void): Timer;
  /** Calls `run` after the event loop has run once. Omitted: a turn of microtasks is never too long. */
  hop?(run: () => void): void;
}

/** What the wall clock shows now, ms since epoch. */
export function wallMs(clock: Clock): number {
  const nowMs = clock.nowMs();
  return clock.wall?.at(nowMs) ?? nowMs;
}

/** Resolves once this many ms of a clock's time have passed, or at once when `signal` aborts. */
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

/** A difference to the wall clock that is larger is a step, ms: the same crystal drives both. */
const STEP_MS = 500;

/** How often the wall clock is looked at while nothing happens, and at most while much does, ms. */
const LOOK_EVERY_MS = 10_000;
const LOOK_AT_MOST_MS = 1000;

/** Between two readings that belong together, ms: if more has passed, the process was stopped between them. */
const TOGETHER_MS = 50;

/** What the system's clock reads. */
export interface SystemTime {
  /** ms since epoch; goes on evenly, but not while the machine sleeps. @default {performance} */
  readonly steadyMs: () => number;
  /** ms since epoch as people set it. @default {Date.now} */
  readonly wallMs: () => number;
}

function systemTime(): SystemTime {
  const { timeOrigin } = performance; // never changes, and its getter takes as long as `now`
  return { steadyMs: () => timeOrigin + performance.now(), wallMs: Date.now };
}

/**
 * The system's clock.
 *
 * A look at the clock costs as much as running a short job, so one look serves the readings of a
 * turn of microtasks, at most `STRIDE` of them. Work that takes longer than a few microseconds
 * between readings is seen, and then every reading looks.
 *
 * Nothing tells of a wall clock that was set: it is compared as timers fire, and every ten seconds
 * while someone listens.
 */
export function systemClock({ steadyMs, wallMs }: SystemTime = systemTime()): Clock {
  let watch: ReturnType<typeof setInterval> | undefined;
  const wall = new Wall((isHeard) => {
    if (isHeard) watch = setInterval(() => lookAtWall(steadyMs()), LOOK_EVERY_MS).unref();
    else clearInterval(watch);
  });
  let now = 0;
  let left = 0; // readings that `now` may still serve
  let stride = 1;
  let resetting = false;
  let lookedAtMs = -Infinity;
  lookAtWall(steadyMs());
  const reset = (): void => {
    resetting = false;
    left = 0;
  };
  const look = (): number => {
    const real = steadyMs();
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
    wall,
    at: setTimer,
    hop: (run) => {
      setImmediate(run);
    },
  };

  function setTimer(atMs: number, run: () => void): Timer {
    let id: ReturnType<typeof setTimeout> | undefined;
    const fire = (): void => {
      lookAtWall(steadyMs());
      run();
    };
    const arm = (): void => {
      const delayMs = atMs - steadyMs();
      if (delayMs > LONGEST_DELAY_MS) id = setTimeout(arm, LONGEST_DELAY_MS);
      else id = setTimeout(fire, Math.max(0, delayMs));
    };
    arm();
    return { cancel: () => clearTimeout(id) };
  }

  function lookAtWall(atMs: number): void {
    if (atMs - lookedAtMs < LOOK_AT_MOST_MS) return;
    const shownMs = wallMs();
    if (steadyMs() - atMs > TOGETHER_MS) return;
    lookedAtMs = atMs;
    const byMs = shownMs - wall.at(atMs);
    if (Math.abs(byMs) > STEP_MS) wall.step(atMs, byMs);
  }
}
