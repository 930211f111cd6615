/**
 * Folds decisions that follow one another in the same direction into one change.
 *
 * @module
 */

import type { PoolReport } from "../report.ts";

/** A change of the target in one direction. */
export interface TargetChange {
  /** When it began, ms since the beginning. */
  readonly fromMs: number;
  /** When its last decision was made. */
  readonly toMs: number;
  /** Target before. */
  readonly from: number;
  /** Target after. */
  readonly to: number;
  /** How many decisions it took. */
  readonly steps: number;
  /** What the last of them says. */
  readonly sentence: string;
  /** Number of the process, if there are several. */
  readonly process: number | undefined;
}

/** Decisions further apart are not folded, ms. */
const APART_MS = 1000;

/** The changes of a pool's target, oldest first. */
export function changesOf({ decisions }: Pick<PoolReport, "decisions">): readonly TargetChange[] {
  const changes: TargetChange[] = [];
  const lastOf = new Map<number | undefined, number>();
  for (const { atMs, from, to, sentence, process } of decisions) {
    if (from === to) continue;
    const index = lastOf.get(process);
    const last = index === undefined ? undefined : changes[index];
    const isSame = last !== undefined && atMs - last.toMs <= APART_MS &&
      Math.sign(to - from) === Math.sign(last.to - last.from);
    if (isSame) {
      changes[index!] = { ...last, toMs: atMs, to, steps: last.steps + 1, sentence }; // last is there
    } else {
      lastOf.set(process, changes.length);
      changes.push({ fromMs: atMs, toMs: atMs, from, to, steps: 1, sentence, process });
    }
  }
  return changes;
}
