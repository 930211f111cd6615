/**
 * Draws the age of one lane over time against its target.
 *
 * @module
 */

import type { LaneSeries, SeriesReport } from "../report.ts";
import { type Markup, markup } from "./markup.ts";
import { grid, type Plot, stepArea, stepLine, y } from "./plot.ts";
import { stepsOf } from "./workers_plot.ts";
import { tick } from "./words.ts";

/** Draws it: what lies over the target is hatched. */
export function agePlot(plot: Plot, series: SeriesReport, lane: LaneSeries): Markup {
  const { targetWaitMs, ageMs } = lane;
  const age = stepsOf(series, ageMs);
  const target = targetWaitMs ?? Infinity;
  const over = age.map(([atMs, ms]) => [atMs, ms !== null && ms > target ? ms : null] as const);
  const floor = age.map(([atMs]) => [atMs, target] as const);
  const line = targetWaitMs !== null &&
    markup`<path class="target" d="M${plot.left} ${y(plot, targetWaitMs)}H${plot.right}"/>`;
  return markup`${grid(plot, 3, tick)}<path class="age-area" d="${
    stepArea(plot, age)
  }"/><path class="over" d="${stepArea(plot, over, floor)}"/>${
    line || undefined
  }<path class="age" d="${stepLine(plot, age)}"/>`;
}

/** The highest figure that the plot has to hold, ms. */
export function mostAge({ ageMs, targetWaitMs }: LaneSeries): number {
  const oldest = ageMs.reduce<number>((most, ms) => Math.max(most, ms ?? 0), 0);
  return Math.max(1, oldest * 1.05, (targetWaitMs ?? 0) * 1.3);
}
