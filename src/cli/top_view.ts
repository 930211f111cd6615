/**
 * What `sluice top` shows: pools, trouble first, the lanes of one, its last decisions.
 *
 * @module
 */

import type { DecisionJson, LaneJson, PoolJson } from "../admin/http/wire.ts";
import { isOverTarget } from "../explain/diagnose.ts";
import { duration, rate } from "../base/format.ts";
import { whyOf } from "../explain/reason.ts";
import { type Column, fold, wrap } from "./fold.ts";
import { LANE_COLUMNS, oldestOf, POOL_COLUMNS, toneOf, workersOf } from "./pool_rows.ts";
import { inLine, type Styled } from "./print.ts";

/** A line of the picture, in parts. */
export type TopLine = readonly (string | Styled)[];

/** One look at a system. */
export interface TopReading {
  /** Its pools, in config order. */
  readonly pools: readonly PoolJson[];
  /** Latest decisions by pool, newest first: of those that were asked for. */
  readonly decisions: ReadonlyMap<string, readonly DecisionJson[]>;
}

/** How often the latest waits were how long, by pool: wait / target, oldest first. */
export type Trends = ReadonlyMap<string, readonly number[]>;

/** Waits that a trend has. */
export const TREND_LENGTH = 24;

/** The spark of a wait / target at or above which each bar is shown. From the fifth on it is over target. */
const BARS: readonly (readonly [from: number, bar: string])[] = [
  [8, "█"],
  [4, "▇"],
  [2, "▆"],
  [1, "▅"],
  [0.5, "▄"],
  [0.25, "▃"],
  [0.1, "▂"],
  [0, "▁"],
];

const LANES: readonly Column<LaneJson>[] = [
  ...LANE_COLUMNS.map((column) => column.title === "LANE" ? { ...column, cell: laneText } : column),
  { title: "DONE/S", rank: 1, cell: ({ window }) => rate(window.completionsPerSec) },
  {
    title: "WAIT P95",
    rank: 2,
    cell: ({ window: { waitMs } }) => waitMs === undefined ? "-" : duration(waitMs.p95),
  },
  {
    title: "RUN P95",
    rank: 3,
    cell: ({ window: { serviceMs } }) => serviceMs === undefined ? "-" : duration(serviceMs.p95),
  },
];

/** Pools with those that need someone first, in config order beside. */
export function troubleFirst(pools: readonly PoolJson[]): readonly PoolJson[] {
  const order = ["bad", "warn", "good"];
  return pools.toSorted((a, b) => order.indexOf(toneOf(a)) - order.indexOf(toneOf(b)));
}

/** The longest wait of a pool's lanes as a share of its target. 0: no lane has a target. */
export function waitOf(pool: PoolJson): number {
  return Math.max(0, ...pool.lanes.map(shareOf));
}

/** The head of a live table of pools, and its rows. */
export function poolTable(
  pools: readonly PoolJson[],
  { trends, width, sparks }: {
    readonly trends: Trends;
    readonly width: number;
    readonly sparks: number;
  },
): readonly TopLine[] {
  const waits: Column<PoolJson> = {
    title: "WAIT/TARGET",
    rank: 0,
    cell: (pool) => `${spark(trends.get(pool.pool) ?? [], sparks)} ${waitText(pool)}`,
    style: (pool) => waitOf(pool) > 1 ? "red" : undefined,
  };
  const columns: readonly Column<PoolJson>[] = POOL_COLUMNS.flatMap((column) => {
    if (column.title === "OLDEST") return [];
    if (column.title !== "WORKERS") return [column];
    return [{ ...column, cell: workersOf, short: ({ busy, live }) => `${busy}/${live}` }, waits];
  });
  const { head, rows } = fold(columns, pools, width);
  const used = Math.max(...[head, ...rows.map(textOf)].map((text) => text.length));
  // Where there is room, the sentence that says why the pool has its size.
  const has = width - used >= LEAST_WHY;
  const why = (text: string, used: number, most: number): TopLine =>
    has ? [" ".repeat(most - used + 2), { text, style: "dim" }] : [];
  return [
    [{ text: head, style: "bold" }, ...why("WHY", head.length, used)],
    ...rows.map((row, index) => [
      ...row,
      ...why(inLine(whyOf(pools[index]!)), textOf(row).length, used), // one for each
    ]),
  ];
}

/** Fewest characters that a sentence is worth having beside a table. */
const LEAST_WHY = 40;

/** The table of pools as it is printed. */
export function printedPools(pools: readonly PoolJson[]): readonly TopLine[] {
  if (pools.length === 0) return [["No pools"]];
  const { head, rows } = fold(POOL_COLUMNS, pools);
  return [[{ text: head, style: "bold" }], ...rows];
}

/** One pool: what is wrong, its lanes, its decisions. */
export function poolPart(
  pool: PoolJson,
  decisions: readonly DecisionJson[] | undefined,
  width = Infinity,
): readonly TopLine[] {
  const { head, rows } = fold(LANES, pool.lanes, width);
  return [
    ...wrap(`${pool.pool}: ${whyOf(pool)}`, width).map((text): TopLine => [text]),
    ...pool.diagnosis.flatMap(({ code, saw, change }): readonly TopLine[] => [
      ...wrap(`${code}: ${saw}`, width).map((text): TopLine => [{ text, style: "red" }]),
      ...wrap(`Change: ${change}`, width).map((text): TopLine => [text]),
    ]),
    [],
    [{ text: head, style: "bold" }],
    ...rows.map((row, index): TopLine => {
      const lane = pool.lanes[index];
      if (lane === undefined || !isOverTarget(lane)) return row;
      return [{ text: textOf(row), style: "red" }];
    }),
    [],
    [{ text: "DECISIONS", style: "bold" }],
    ...decisions?.map(decisionLine) ?? [], // not read yet
  ];
}

/** Cuts a picture to a size. What does not fit is at the end, so that is what is left out. */
export function fit(
  lines: readonly TopLine[],
  { columns, rows }: { readonly columns: number; readonly rows: number },
): readonly TopLine[] {
  return lines.slice(0, rows).map((line) => cut(line, columns));
}

/** A line without its styles. */
export function textOf(line: TopLine): string {
  return line.map((part) => typeof part === "string" ? part : part.text).join("");
}

/** A row of bars, as many as there are waits. */
export function spark(waits: readonly number[], length: number): string {
  const bars = waits.slice(-length).map((wait) => BARS.find(([from]) => wait >= from)?.[1] ?? "▁");
  return bars.join("").padStart(length);
}

function cut(line: TopLine, columns: number): TopLine {
  const shown: (string | Styled)[] = [];
  let left = columns;
  const length = inLine(textOf(line)).length;
  for (const part of line) {
    const text = inLine(typeof part === "string" ? part : part.text);
    const isLast = length > columns && text.length >= left;
    const kept = isLast ? `${text.slice(0, Math.max(0, left - 1))}…` : text;
    shown.push(typeof part === "string" ? kept : { ...part, text: kept });
    left -= kept.length;
    if (isLast) break;
  }
  return shown;
}

function shareOf({ paused, oldestWaitMs, targetWaitMs }: LaneJson): number {
  return paused || targetWaitMs === null ? 0 : oldestWaitMs / Math.max(1, targetWaitMs);
}

/** Name of a lane, with what its color says. */
function laneText(lane: LaneJson): string {
  if (lane.paused) return `${lane.name} (paused)`;
  return isOverTarget(lane) ? `${lane.name} (over target)` : lane.name;
}

/** The wait that a spark is about, and its target. */
function waitText(pool: PoolJson): string {
  const lanes = pool.lanes.filter(({ targetWaitMs, paused }) => targetWaitMs !== null && !paused);
  const worst = lanes.toSorted((a, b) => shareOf(b) - shareOf(a))[0];
  if (worst === undefined) return duration(oldestOf(pool));
  return `${duration(worst.oldestWaitMs)}/${duration(worst.targetWaitMs ?? 0)}`;
}

function decisionLine({ atMs, from, to, boundBy, sentence }: DecisionJson): TopLine {
  const at = new Date(atMs).toISOString().slice(11, 19);
  const change = from === to ? `stays at ${to}` : `${from} -> ${to}`;
  return [`${at}  ${change}, bound by ${boundBy}: ${sentence}`];
}
