/**
 * One plot: an area with a time axis below it, on which figures over time are drawn.
 *
 * @module
 */

import { nice } from "../nice.ts";
import { type Markup, markup } from "./markup.ts";
import { short } from "./words.ts";

/** Where a plot is and what it spans. */
export interface Plot {
  /** Left edge. */
  readonly left: number;
  /** Right edge. */
  readonly right: number;
  /** Upper edge. */
  readonly top: number;
  /** Lower edge. */
  readonly bottom: number;
  /** End of time, ms since the beginning. */
  readonly untilMs: number;
  /** The highest figure. */
  readonly most: number;
}

/** A figure that holds from a time on. `null`: there is none. */
export type PlotStep = readonly [fromMs: number, figure: number | null];

/** Where a time is. */
export function x(plot: Plot, atMs: number): number {
  return tenth(plot.left + (plot.right - plot.left) * Math.min(1, atMs / plot.untilMs));
}

/** Where a figure is. */
export function y(plot: Plot, figure: number): number {
  return tenth(plot.bottom - (plot.bottom - plot.top) * Math.min(1, figure / plot.most));
}

/** The path of a figure that holds until it changes. */
export function stepLine(plot: Plot, steps: readonly PlotStep[]): string {
  let path = "";
  let last: number | undefined;
  for (const [atMs, figure] of steps) {
    const to = figure === null ? undefined : y(plot, figure);
    if (to === last) continue;
    const here = x(plot, atMs);
    if (last === undefined) path += `M${here} ${to}`;
    else path += `H${here}` + (to === undefined ? "" : `V${to}`);
    last = to;
  }
  return last === undefined ? path : `${path}H${plot.right}`;
}

/** The path of the area between two figures, the lower one 0 if there is none. */
export function stepArea(
  plot: Plot,
  steps: readonly PlotStep[],
  low: readonly PlotStep[] = [],
): string {
  return steps.map(([fromMs, figure], index) => {
    if (figure === null) return "";
    const [left, right] = [x(plot, fromMs), x(plot, steps[index + 1]?.[0] ?? plot.untilMs)];
    const [upper, lower] = [y(plot, figure), y(plot, low[index]?.[1] ?? 0)];
    return upper === lower ? "" : `M${left} ${lower}V${upper}H${right}V${lower}Z`;
  }).join("");
}

/** Round figures from 0 to below the highest. */
export function ticks(most: number, count: number): readonly number[] {
  const step = nice(most / count);
  const list: number[] = [];
  for (let index = 0; index * step <= most * (1 + 1e-9); index++) {
    list.push(Number((index * step).toPrecision(6)));
  }
  return list;
}

/** The grid with its figures, at the left. */
export function grid(plot: Plot, count: number, say: (figure: number) => string = short): Markup {
  return markup`${
    ticks(plot.most, count).map((figure) => {
      const at = y(plot, figure);
      return markup`<path class="${
        figure === 0 ? "axis" : "grid"
      }" d="M${plot.left} ${at}H${plot.right}"/><text class="tick" x="${plot.left - 6}" y="${
        at + 4
      }" text-anchor="end">${say(figure)}</text>`;
    })
  }`;
}

/** Times below a plot. */
export function timeAxis(plot: Plot): Markup {
  const [unitMs, unit] = plot.untilMs < 180_000
    ? [1000, "s"]
    : plot.untilMs < 3 * 3_600_000
    ? [60_000, "min"]
    : [3_600_000, "h"];
  const count = Math.max(2, Math.floor((plot.right - plot.left) / 90));
  return markup`${
    ticks(plot.untilMs / unitMs, count).map((time) => {
      const at = x(plot, time * unitMs);
      return markup`<path class="grid" d="M${at} ${plot.bottom}v4"/><text class="tick" x="${at}" y="${
        plot.bottom + 17
      }" text-anchor="${at > plot.right - 12 ? "end" : "middle"}">${short(time)} ${unit}</text>`;
    })
  }`;
}

function tenth(value: number): number {
  return Math.round(value * 10) / 10;
}
