/**
 * Lets time pass, virtual or real.
 *
 * @module
 */

import type { Clock } from "../time/clock.ts";
import { VirtualClock } from "../time/virtual_clock.ts";

/** Who watches while time passes. */
export interface Watch {
  /** Ends it early. */
  readonly signal?: AbortSignal | undefined;
  /** Told now and then how far it is, 0 to 1. */
  readonly onProgress?: ((share: number) => void) | undefined;
}

/** About how long the watch is left alone, ms of real time. */
const WATCH_MS = 50;

/** Lets time pass until `untilMs`, or until the watch ends it. */
export async function passUntil(clock: Clock, untilMs: number, watch: Watch = {}): Promise<void> {
  const fromMs = clock.nowMs();
  for (let nowMs = fromMs; nowMs < untilMs && !watch.signal?.aborted; nowMs = clock.nowMs()) {
    const beganMs = performance.now();
    // Where virtual time is cut changes nothing of what happens in it.
    if (clock instanceof VirtualClock) {
      await clock.runUntil(untilMs, () => performance.now() - beganMs > WATCH_MS);
    } else {
      await new Promise<void>((resolve) =>
        void clock.at(Math.min(untilMs, nowMs + WATCH_MS), resolve)
      );
    }
    watch.onProgress?.(Math.min(1, (clock.nowMs() - fromMs) / (untilMs - fromMs)));
  }
}

/** Lets as much time pass as it takes. */
export async function passWhile(clock: Clock, doing: Promise<unknown>): Promise<void> {
  let ended = false;
  const end = doing.finally(() => ended = true);
  if (clock instanceof VirtualClock) {
    await clock.settle();
    for (let next = clock.nextAtMs(); !ended && next !== undefined; next = clock.nextAtMs()) {
      await clock.runUntil(next);
    }
  }
  await end;
}
