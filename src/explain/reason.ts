/**
 * Why a pool has its size, in a sentence: the same on pages and on the command line.
 *
 * @module
 */

import type { Decision } from "../contract/decision.ts";

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
