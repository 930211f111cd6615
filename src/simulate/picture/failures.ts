/**
 * Strategies that failed, in words.
 *
 * @module
 */

import { duration } from "../../base/format.ts";
import type { FailingStrategy, PoolReport } from "../report.ts";

/** What is said of one strategy. */
export interface FailureText {
  /** What happened. */
  readonly saw: string;
  /** What to do. */
  readonly change: string;
}

/** One text for each strategy that failed, in however many processes. */
export function failuresOf({ failing = [] }: PoolReport): readonly FailureText[] {
  const first = new Map<string, FailingStrategy>();
  for (const each of failing) if (!first.has(each.plugin)) first.set(each.plugin, each);
  return [...first.values()].map(({ plugin, error, atMs }) => ({
    saw: `Strategy "${plugin}" failed, first at ${duration(atMs)}: ${error}`,
    change: "Fix it: the pool ran without it, so these are not its figures",
  }));
}
