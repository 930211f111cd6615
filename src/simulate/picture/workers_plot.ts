/**
 * Draws the worker count over time between its bounds, and where decisions changed it.
 *
 * @module
 */

import type { PoolReport, SeriesReport } from "../report.ts";
import { changesOf } from "./changes.ts";
import { type Markup, markup } from "./markup.ts";
import { grid, type Plot, type PlotStep, stepArea, stepLine, x, y } from "./plot.ts";
import { short } from "./words.ts";

/** Draws it. */
export function workersPlot(plot: Plot, pool: PoolReport): Markup {
  const { workers, series } = pool;
  const limit = stepsOf(series, series.limit);
  const last = series.limit.findLast((figure) => figure !== null) ?? 0;
  const band = stepArea(plot, limit, stepsOf(series, series.min));
  return markup`<path class="band" d="${band}"/>${grid(plot, 4)}<path class="workers-area" d="${
    stepArea(plot, workers.timeline)
  }"/><path class="workers" d="${stepLine(plot, workers.timeline)}"/><path class="limit" d="${
    stepLine(plot, limit)
  }"/><text class="note" x="${plot.right - 4}" y="${y(plot, last) - 5}" text-anchor="end">limit ${
    short(last)
  }</text>${marks(plot, pool)}`;
}

/** A figure of the series as steps. */
export function stepsOf(
  { bucketMs }: SeriesReport,
  figures: readonly (number | null)[],
): readonly PlotStep[] {
  return figures.map((figure, index) => [index * bucketMs, figure]);
}

/** Marks closer than so are one. */
const APART = 9;

/** A triangle for each change, pointing up or down; where many are, for what they came to. */
function marks(plot: Plot, pool: PoolReport): Markup {
  const places = new Map<number, { from: number; to: number }>();
  for (const { fromMs, from, to } of changesOf(pool)) {
    const place = Math.max(plot.left, Math.round(x(plot, fromMs) / APART) * APART);
    const known = places.get(place);
    if (known === undefined) places.set(place, { from, to });
    else known.to = to;
  }
  const at = plot.bottom + 8;
  return markup`${
    [...places].map(([place, { from, to }]) => {
      if (from === to) return markup`<path class="mark" d="M${place - 4} ${at - 1.5}h8v3h-8Z"/>`;
      const [base, tip] = to > from ? [4, -4] : [-4, 4];
      return markup`<path class="mark" d="M${place - 4} ${at + base}h8L${place} ${at + tip}Z"/>`;
    })
  }`;
}
