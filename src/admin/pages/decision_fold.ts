/**
 * Folds a log of decisions: those that kept the size stand together, for what a reader looks for are the
 * changes, and what kept a pool from one.
 *
 * @module
 */

import type { Decision } from "../../contract/decision.ts";

/** Decisions that are shown as one. */
export interface FoldedDecision {
  /** The one that says most: the change, or the latest that something bound. */
  readonly shown: Decision;
  /** Tells it from others, also when more decisions join it. */
  readonly key: string;
  /** The others that kept the same size, newest first. */
  readonly others: readonly Decision[];
}

/** Folds a log, newest first. */
export function folded(log: readonly Decision[]): readonly FoldedDecision[] {
  const runs: Decision[][] = [];
  for (const decision of log) {
    const run = runs.at(-1);
    if (run !== undefined && keepsSize(decision) && keepsSize(run[0]!)) run.push(decision);
    else runs.push([decision]);
  }
  return runs.map((run) => {
    const shown = run.find(({ boundBy }) => boundBy !== "controller") ?? run[0]!;
    const { atMs, from, to } = run.at(-1)!;
    return {
      key: `${atMs} ${from} ${to}`,
      shown,
      others: run.filter((decision) => decision !== shown),
    };
  });
}

function keepsSize({ from, to }: Decision): boolean {
  return from === to;
}
