/**
 * What `sluice top` shows: pools, the lanes of one, its last decisions.
 *
 * @module
 */

import type { DecisionJson, LaneJson, PoolJson } from "../admin/http/wire.ts";
import { isOverTarget } from "../explain/diagnose.ts";
import { duration, rate } from "../base/format.ts";
import { whyOf } from "../explain/reason.ts";
import { LANE_COLUMNS, laneCells, POOL_COLUMNS, poolRow } from "./pools.ts";
import { type Cell, inLine, tableLines } from "./print.ts";

/** One look at a system. */
export interface TopReading {
  /** Its pools, in config order. */
  readonly pools: readonly PoolJson[];
  /** Latest decisions by pool, newest first: of those that were asked for. */
  readonly decisions: ReadonlyMap<string, readonly DecisionJson[]>;
}

/** A line of the picture. */
export interface TopLine {
  /** What is there. */
  readonly text: string;
  /** How it is shown, where colors are allowed. */
  readonly style?: "bold" | "red";
}

const COLUMNS = [...LANE_COLUMNS, "DONE/S", "WAIT P95", "RUN P95"];

/** The table of pools. `selected` marks one. */
export function poolLines(
  pools: readonly PoolJson[],
  selected?: string | undefined,
): readonly TopLine[] {
  if (pools.length === 0) return [{ text: "No pools" }];
  const [head = "", ...rows] = tableLines(POOL_COLUMNS, pools.map(poolRow));
  const mark = (pool: string | undefined): string =>
    selected === undefined ? "" : pool === selected ? "> " : "  ";
  return [
    { text: mark(undefined) + head, style: "bold" },
    ...rows.map((text, index): TopLine => {
      const pool = pools[index]?.pool;
      const line = mark(pool) + text;
      return pool === selected ? { text: line, style: "bold" } : { text: line };
    }),
  ];
}

/** One pool: what is wrong, its lanes, its decisions. */
export function poolPart(
  pool: PoolJson,
  decisions: readonly DecisionJson[] | undefined,
): readonly TopLine[] {
  const [head = "", ...rows] = tableLines(COLUMNS, pool.lanes.map(laneRow));
  return [
    { text: `${pool.pool}: ${whyOf(pool)}` },
    ...pool.diagnosis.map(({ code, saw }): TopLine => ({ text: `${code}: ${saw}`, style: "red" })),
    { text: "" },
    { text: head, style: "bold" },
    ...rows.map((text, index): TopLine => {
      const lane = pool.lanes[index];
      if (lane === undefined || !isOverTarget(lane)) return { text };
      return { text: `${text}  over target`, style: "red" }; // color alone is not enough
    }),
    { text: "" },
    { text: "DECISIONS", style: "bold" },
    ...decisions?.map(decisionLine) ?? [], // not read yet
  ];
}

/** Cuts a picture to a size. What does not fit is at the end, so that is what is left out. */
export function fit(
  lines: readonly TopLine[],
  { columns, rows }: { readonly columns: number; readonly rows: number },
): readonly TopLine[] {
  return lines.slice(0, rows).map((line) => {
    const text = inLine(line.text);
    return {
      ...line,
      text: text.length <= columns ? text : `${text.slice(0, Math.max(0, columns - 1))}…`,
    };
  });
}

function laneRow(lane: LaneJson): readonly Cell[] {
  const { waitMs, serviceMs } = lane.window;
  return [
    ...laneCells(lane),
    rate(lane.window.completionsPerSec),
    waitMs === undefined ? "-" : duration(waitMs.p95),
    serviceMs === undefined ? "-" : duration(serviceMs.p95),
  ];
}

function decisionLine({ atMs, from, to, boundBy, sentence }: DecisionJson): TopLine {
  const at = new Date(atMs).toISOString().slice(11, 19);
  const change = from === to ? `stays at ${to}` : `${from} -> ${to}`;
  return { text: `${at}  ${change}, bound by ${boundBy}: ${sentence}` };
}
