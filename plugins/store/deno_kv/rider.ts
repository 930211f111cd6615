/**
 * What shares a commit with the ends of jobs: a claim that would need one of its own, and so another
 * flush of the disk.
 *
 * @module
 */

import type { Step } from "./step.ts";
import type { Term } from "./term.ts";

/** What goes with the next commit of ends. */
export interface Rider {
  /** Now. */
  readonly nowMs: number;
  /** Adds to the commit, last of all. If it throws, the ends go without it. */
  board(step: Step, term: Term): Promise<void>;
  /** Called once the commit is made that it added to. */
  arrive(): void;
  /** Called last in any case: unless it has arrived, nothing has come of it. */
  leave(): void;
}
