/**
 * Draws how many jobs arrive, are done and are rejected a second.
 *
 * @module
 */

import { nice } from "../nice.ts";
import type { LaneSeries, SeriesReport } from "../report.ts";
import { type Markup, markup } from "./markup.ts";
import { grid, type Plot, type PlotStep, stepArea, stepLine } from "./plot.ts";

/** Jobs per second of a pool over time. */
export interface Rates {
  /** That arrived. */
  readonly arrived: readonly PlotStep[];
  /** That were done. */
  readonly done: readonly PlotStep[];
  /** Rejected or dropped. */
  readonly shed: readonly PlotStep[];
  /** That died. */
  readonly dead: readonly PlotStep[];
}

/** At most this many steps: chance would hide the course of more. */
const MOST_STEPS = 60;

/** Rates of all lanes together. */
export function ratesOf(series: SeriesReport): Rates {
  return {
    arrived: perSec(series, "arrived"),
    done: perSec(series, "done"),
    shed: perSec(series, "shed"),
    dead: perSec(series, "dead"),
  };
}

/** Draws them. */
export function ratesPlot(plot: Plot, { arrived, done, shed, dead }: Rates): Markup {
  return markup`${grid(plot, 5)}<path class="arrived" d="${
    stepArea(plot, arrived)
  }"/><path class="done" d="${stepLine(plot, done)}"/>${
    isSome(shed) ? markup`<path class="shed" d="${stepLine(plot, shed)}"/>` : undefined
  }${isSome(dead) ? markup`<path class="dead" d="${stepLine(plot, dead)}"/>` : undefined}`;
}

/** The highest figure that the plot has to hold. */
export function mostRate(rates: Rates): number {
  const all = Object.values(rates).flatMap((steps: readonly PlotStep[]) => steps);
  return Math.max(1, ...all.map(([, figure]) => (figure ?? 0) * 1.05));
}

/** True if it is ever above 0. */
export function isSome(steps: readonly PlotStep[]): boolean {
  return steps.some(([, figure]) => figure !== 0);
}

function perSec(
  { bucketMs, untilMs, lanes }: SeriesReport,
  read: "arrived" | "done" | "shed" | "dead",
): readonly PlotStep[] {
  const all: readonly LaneSeries[] = Object.values(lanes);
  const count = all[0]?.[read].length ?? 0;
  const leastMs = Math.ceil(count / MOST_STEPS) * bucketMs;
  const width = Math.max(1, Math.round(nice(leastMs) / bucketMs));
  const steps: PlotStep[] = [];
  for (let from = 0; from < count; from += width) {
    const to = Math.min(count, from + width);
    const jobs = all.reduce((sum, lane) => sum + sumOf(lane[read].slice(from, to)), 0);
    const forMs = Math.min(to * bucketMs, untilMs) - from * bucketMs;
    // A last stretch that is short would show chance only: the one before it goes on.
    if (forMs * 2 < width * bucketMs && steps.length > 0) break;
    steps.push([from * bucketMs, jobs * 1000 / Math.max(1, forMs)]);
  }
  return steps;
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
