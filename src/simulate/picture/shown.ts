/**
 * What a picture shows: one report, or several on the same scenario.
 *
 * @module
 */

import type { Report } from "../report.ts";

/** A report and the config that it is on. */
export interface Shown {
  /** Name of the config. */
  readonly name: string;
  /** What came of it. */
  readonly report: Report;
}

/** Names of all pools that one of them has, in the order of the first. */
export function poolNames(shown: readonly Shown[]): readonly string[] {
  return [...new Set(shown.flatMap(({ report }) => Object.keys(report.pools)))];
}
