/**
 * Draws what became of one pool: workers, the age of each lane, and rates, below one another.
 *
 * @module
 */

import { duration } from "../../base/format.ts";
import type { PoolReport } from "../report.ts";
import { agePlot, mostAge } from "./age_plot.ts";
import { type Markup, markup } from "./markup.ts";
import { type Plot, timeAxis } from "./plot.ts";
import { isSome, mostRate, type Rates, ratesOf, ratesPlot } from "./rates_plot.ts";
import { workersPlot } from "./workers_plot.ts";

/** A drawing without the element around it. */
export interface Drawing {
  /** Its height, as wide as was asked. */
  readonly height: number;
  /** What is in it. */
  readonly content: Markup;
}

/** What is drawn is scaled so that other pools fit too. */
export interface Scales {
  /** End of time, ms. */
  readonly untilMs: number;
  /** Most workers. */
  readonly workers: number;
  /** Most jobs per second. */
  readonly perSec: number;
  /** Longest age by lane, ms. */
  readonly ageMs: Readonly<Record<string, number>>;
}

/** Scales that fit all of these pools. */
export function scalesOf(pools: readonly PoolReport[]): Scales {
  const ageMs: Record<string, number> = {};
  for (const { series } of pools) {
    for (const [name, lane] of Object.entries(series.lanes)) {
      ageMs[name] = Math.max(ageMs[name] ?? 0, mostAge(lane));
    }
  }
  const most = (read: (pool: PoolReport) => number): number => Math.max(...pools.map(read));
  return {
    untilMs: most(({ series }) => series.untilMs),
    workers: most(({ workers, series }) =>
      1.15 * Math.max(workers.peak, ...series.limit.map((limit) => finite(limit)), 1)
    ),
    perSec: most(({ series }) => mostRate(ratesOf(series))),
    ageMs,
  };
}

const LEFT = 58;
const RIGHT = 12;
const HEAD = 30;
const GAP = 26;

/** Draws one pool, `width` wide. */
export function drawPool(pool: PoolReport, width: number, scales: Scales): Drawing {
  const parts: Markup[] = [];
  let top = 0;
  const plot = (height: number, most: number, gap = GAP): Plot => {
    const begin = top + HEAD;
    top = begin + height + gap;
    const { untilMs } = scales;
    return { left: LEFT, right: width - RIGHT, top: begin, bottom: begin + height, untilMs, most };
  };

  parts.push(head(top, [["workers", "workers"], ["limit", "limit"], ["mark", "decision"]]));
  parts.push(workersPlot(plot(150, scales.workers), pool));
  for (const [name, lane] of Object.entries(pool.series.lanes)) {
    const { targetWaitMs } = lane;
    const key: Key[] = [["age", `age of ${name}`]];
    if (targetWaitMs !== null) key.push(["target", `target ${duration(targetWaitMs)}`]);
    parts.push(head(top, key));
    parts.push(agePlot(plot(72, scales.ageMs[name] ?? 1, 6), pool.series, lane));
  }
  const rates = ratesOf(pool.series);
  parts.push(head(top, keyOf(rates)));
  const last = plot(110, scales.perSec);
  parts.push(ratesPlot(last, rates), timeAxis(last));
  return { height: top, content: markup`${parts}` };
}

type Key = readonly [sort: string, name: string];

function keyOf({ shed, dead }: Rates): readonly Key[] {
  return [
    ["arrived", "arrived per sec"],
    ["done", "done"],
    ...isSome(shed) ? [["shed", "shed"] as const] : [],
    ...isSome(dead) ? [["dead", "dead"] as const] : [],
  ];
}

/** What the lines below are. */
function head(top: number, key: readonly Key[]): Markup {
  let left = 4;
  const middle = top + 16;
  return markup`${
    key.map(([sort, name]) => {
      const at = left;
      left += 36 + name.length * 7.3;
      return markup`${sample(sort, at, middle)}<text class="key" x="${at + 24}" y="${
        middle + 4
      }">${name}</text>`;
    })
  }`;
}

function sample(sort: string, left: number, middle: number): Markup {
  if (sort === "mark") {
    return markup`<path class="mark" d="M${left} ${middle + 4}h8l-4 -8ZM${left + 10} ${
      middle - 4
    }h8l-4 8Z"/>`;
  }
  if (sort === "arrived") {
    return markup`<path class="arrived" d="M${left} ${middle - 5}h18v10h-18Z"/>`;
  }
  return markup`<path class="${sort}" d="M${left} ${middle}h18"/>`;
}

function finite(limit: number | null): number {
  return limit !== null && Number.isFinite(limit) ? limit : 0;
}
