/**
 * Why a pool has its size, and why jobs of it wait, in a sentence: the same on pages and on the command
 * line.
 *
 * @module
 */

import type { Decision } from "../contract/decision.ts";
import { counted, duration } from "../base/format.ts";
import type { BreakerView } from "../contract/view.ts";

/** What a pool that has been drained is like. */
export const STOPPED = "It was drained: it runs nothing until the process restarts";

/** What is said of a pool that has decided nothing yet. */
const UNDECIDED = "It has made no decision yet";

/** What the sentence is made from. */
export interface Sized {
  /** True once a drain has ended. */
  readonly stopped: boolean;
  /** The latest decision. `undefined`: none was made. */
  readonly decision?: Pick<Decision, "sentence" | "latest"> | undefined;
}

/** Why a pool has its size, without a period. One that has stopped has none, whatever it decided last. */
export function whyOf({ stopped, decision }: Sized): string {
  return stopped ? STOPPED : decision?.latest ?? decision?.sentence ?? UNDECIDED;
}

/** What a circuit breaker holds and why, without a period. */
export function breakerText(
  { key, downstream, state, cause, count, sinceMs, untilMs }: BreakerView,
  nowMs: number,
): string {
  const whose = key === undefined
    ? "All jobs wait"
    : key === ""
    ? "Jobs without a key wait"
    : `Jobs of the key "${key}" wait`;
  const who = downstream === undefined ? "the receiver" : `downstream "${downstream}"`;
  const why = cause === "gone"
    ? `${who} is gone`
    : cause === "failures"
    ? `${counted(count, "attempt")} failed in a row`
    : count === 0
    ? `${who} refused jobs of another process`
    : `${who} refused ${counted(count, "job")} in a row`;
  const next = state === "open"
    ? `one tries again in ${duration(Math.max(0, untilMs - nowMs))}`
    : "one tries now";
  return `${whose} for ${duration(Math.max(0, nowMs - sinceMs))}, since ${why}: ${next}`;
}
