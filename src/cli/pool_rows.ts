/**
 * Pools and lanes as rows of tables.
 *
 * @module
 */

import type { LaneJson, PoolJson } from "../admin/http/wire.ts";
import { aimOf, lanesOverTarget, PRESSING_CODES } from "../explain/diagnose.ts";
import { counted, duration, rate } from "../base/format.ts";
import { middleOut } from "../base/middle_out.ts";
import type { Column } from "./fold.ts";
import type { Cell, Styled } from "./print.ts";

/** How a pool is: `bad` where jobs suffer, `warn` where jobs wait or something holds the pool. */
export type Tone = "bad" | "warn" | "good";

/** One thing to be said of a pool. */
interface State {
  readonly text: string;
  readonly tone: Tone;
}

/** Most characters of a name where the width is short: figures matter more. */
export const SHORT_NAME = 20;

/** How tones are shown. */
export const TONE_STYLES: Readonly<Record<Tone, Styled["style"]>> = {
  bad: "red",
  warn: "yellow",
  good: "green",
};

/** Columns of a table of pools. */
export const POOL_COLUMNS: readonly Column<PoolJson>[] = [
  {
    title: "POOL",
    rank: 0,
    cell: ({ pool }) => pool,
    short: ({ pool }) => middleOut(pool, SHORT_NAME),
  },
  {
    title: "STATE",
    rank: 0,
    cell: stateOf,
    short: shortStateOf,
    style: (pool) => TONE_STYLES[toneOf(pool)],
  },
  { title: "WORKERS", rank: 0, cell: workersOf },
  { title: "TARGET", rank: 4, cell: targetOf },
  { title: "READY", rank: 0, cell: readyOf },
  { title: "DEAD", rank: 2, cell: ({ jobs }) => jobs.dead ?? "-" },
  { title: "OLDEST", rank: 1, cell: (pool) => duration(oldestOf(pool)) },
  { title: "IN/S", rank: 3, cell: ({ window }) => rate(window.arrivalsPerSec) },
  { title: "DONE/S", rank: 2, cell: ({ window }) => rate(window.completionsPerSec) },
  { title: "FAILED/S", rank: 5, cell: ({ window }) => rate(window.failuresPerSec) },
  { title: "SHED/S", rank: 6, cell: ({ window }) => rate(window.shedPerSec) },
];

/** Head of a table of lanes, as far as all have the same. */
export const LANE_COLUMNS: readonly Column<LaneJson>[] = [
  { title: "LANE", rank: 0, cell: ({ name, paused }) => paused ? `${name} (paused)` : name },
  { title: "OLDEST", rank: 0, cell: (lane) => duration(lane.oldestWaitMs) },
  {
    title: "TARGET",
    rank: 0,
    cell: (lane) => aimOf(lane) ?? "none",
  },
  { title: "READY", rank: 0, cell: ({ ready }) => ready },
  { title: "BLOCKED", rank: 4, cell: blockedOf },
  { title: "DELAYED", rank: 5, cell: ({ delayed }) => delayed },
  { title: "RUNNING", rank: 0, cell: ({ running }) => running },
  { title: "IN/S", rank: 3, cell: ({ window }) => rate(window.arrivalsPerSec) },
];

/** Jobs of a pool that may start. */
export function readyOf({ lanes }: PoolJson): number {
  return lanes.reduce((sum, { ready }) => sum + ready, 0);
}

/** Wait of the oldest ready job of a pool, ms. */
export function oldestOf({ lanes }: PoolJson): number {
  return Math.max(...lanes.map(({ oldestWaitMs }) => oldestWaitMs));
}

/** Target of a pool in words. */
export function targetOf({ draining, worked, target }: PoolJson): Cell {
  return draining || !worked ? "none" : target;
}

/** Busy and live workers of a pool, and its limit. */
export function workersOf(pool: PoolJson): string {
  return `${pool.busy}/${pool.live}${pool.limit === null ? "" : ` of ${pool.limit}`}`;
}

/** What is to be said of a pool, most pressing first. */
export function stateOf(pool: PoolJson): string {
  const states = statesOf(pool);
  return states.length === 0 ? "ok" : states.map(({ text }) => text).join(", ");
}

/** The most pressing of what is to be said of a pool, and how much more there is. */
export function shortStateOf(pool: PoolJson): string {
  const [first, ...more] = statesOf(pool);
  if (first === undefined) return "ok";
  return more.length === 0 ? first.text : `${first.text} +${more.length}`;
}

/** How a pool is, by the worst that is to be said of it. */
export function toneOf(pool: PoolJson): Tone {
  const states = statesOf(pool);
  if (states.some(({ tone }) => tone === "bad")) return "bad";
  return states.length === 0 ? "good" : "warn";
}

function statesOf(pool: PoolJson): readonly State[] {
  const found = pool.diagnosis.filter(({ code }) => PRESSING_CODES.includes(code));
  return [
    pool.stopped ? bad("stopped") : pool.draining && warn("draining"),
    !pool.worked && warn("not worked here"),
    stuckOf(pool),
    ...[...new Set(found.map(({ code }) => code))].map(bad),
    pool.degraded && bad("degraded"),
    pool.stale && bad("stale"),
    lanesOverTarget(pool).length > 0 && warn("over target"),
    pool.paused && warn("paused"),
    pool.override !== undefined && warn("overridden"),
    pool.openKeys > 0 && warn(`${counted(pool.openKeys, "key")} held`),
    pool.holdUntilMs > 0 ? warn("cooling down") : pool.rateBound && warn("rate-bound"),
  ].filter((state) => state !== false);
}

/** `stuck` where no worker is left that could take a job. */
function stuckOf({ live, workers }: PoolJson): State | false {
  const stuck = workers.filter(({ state }) => state === "stuck").length;
  return stuck > 0 && bad(live === 0 ? "stuck" : `${stuck} stuck`);
}

function blockedOf({ blocked, oldestBlockedMs }: LaneJson): Cell {
  return blocked === 0 ? 0 : `${blocked} (${duration(oldestBlockedMs)})`;
}

function bad(text: string): State {
  return { text, tone: "bad" };
}

function warn(text: string): State {
  return { text, tone: "warn" };
}
