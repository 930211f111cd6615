/**
 * What a page of jobs is asked for, read from its query, and the jobs that it asks for.
 *
 * @module
 */

import type { Context } from "hono";
import type { JobRecord, JobState } from "../../contract/job.ts";
import type { PoolHandle } from "../../runtime/handles.ts";
import { isState, JOB_STATES } from "../../base/states.ts";
import { suggestion } from "../../base/suggest.ts";
import type { AdminContext } from "./context.ts";
import { LONGEST_CURSOR, openCursor, sealCursor } from "./cursor.ts";
import { LIST_ORDER } from "./job_list.ts";
import { LONGEST_GROUP } from "./shape.ts";
import { shownJob } from "./jobs.ts";
import { matcher } from "./match.ts";
import { type ListPlace, pageOfPools, readPlace } from "./pools_list.ts";
import { queryFaults } from "../http/problem.ts";

/** Jobs of one page. */
const PAGE = 50;

/** Query parameters of such a page. */
const FIELDS = ["pool", "lane", "state", "match", "group", "cursor"];

/** What a page of jobs is asked for. */
export interface JobFilter {
  /** Name of a pool. Empty: all. */
  readonly pool: string;
  /** Name of a lane. Empty: all. */
  readonly lane: string;
  /** A state. `undefined`: all. */
  readonly state: JobState | undefined;
  /** Text in id, key, type, error or payload. Empty: any. */
  readonly match: string;
  /** A group of failures, as `Failures` names it. Empty: any. */
  readonly group: string;
  /** Where to go on. Empty: at the beginning. */
  readonly cursor: string;
}

/** Asks for all jobs. */
export const NO_FILTER: JobFilter = {
  pool: "",
  lane: "",
  state: undefined,
  match: "",
  group: "",
  cursor: "",
};

/** What a query came to. */
export interface JobSearch {
  /** What it asks for. */
  readonly filter: JobFilter;
  /** The pools that it is about. */
  readonly pools: readonly PoolHandle[];
  /** What is wrong with it, as sentences. */
  readonly faults: readonly string[];
}

/** What was found. */
export interface FoundJobs {
  /** As they may be shown, those that ended last first. */
  readonly jobs: readonly JobRecord[];
  /** Give it as `cursor` to go on. `undefined`: this was the last page. */
  readonly next: string | undefined;
  /** How many jobs were looked at for it. */
  readonly looked: number;
  /** When the last of those ended, or was enqueued. `undefined`: there was none. */
  readonly backToMs: number | undefined;
}

/** Reads what a page is asked for. `state` is fixed where a page is about one. */
export function readSearch(c: Context, context: AdminContext, state?: JobState): JobSearch {
  const all = context.sluice.pools;
  const read = (name: string, most = 2_048): string =>
    (c.req.query(name) ?? "").trim().slice(0, most);
  const faults = queryFaults(c, FIELDS).map(({ detail }) => detail);
  const pool = read("pool");
  const pools = pool === "" ? all : all.filter(({ name }) => name === pool);
  if (pools.length === 0 && all.length > 0) {
    const names = all.map(({ name }) => name);
    faults.push(`No pool is named ${quoted(pool)}${suggestion(pool, names)}`);
  }
  const lane = read("lane");
  const lanes = lanesOf(pools);
  if (lane !== "" && pools.length > 0 && !lanes.includes(lane)) {
    faults.push(`No lane is named ${quoted(lane)}${suggestion(lane, lanes)}`);
  }
  const given = read("state");
  if (state === undefined && given !== "" && !isState(given)) {
    faults.push(`No state is named ${quoted(given)}${suggestion(given, JOB_STATES)}`);
  }
  const filter = {
    pool,
    lane,
    state: state ?? (isState(given) ? given : undefined),
    match: read("match").slice(0, 200),
    group: read("group", LONGEST_GROUP),
    cursor: read("cursor", LONGEST_CURSOR + 1),
  };
  if (!isPlaced(filter)) {
    faults.push("The cursor belongs to another list: start from the first page");
  }
  return { filter, pools, faults };
}

/** Names of the lanes of some pools, each once. */
export function lanesOf(pools: readonly PoolHandle[]): readonly string[] {
  return [...new Set(pools.flatMap(({ settings }) => settings.lanes.map(({ name }) => name)))];
}

/** True if the cursor, where there is one, is of the list that the rest asks for. */
export function isPlaced(filter: JobFilter): boolean {
  return filter.cursor === "" || placeOf(filter) !== undefined;
}

/** Finds what is asked for. `limit`: most jobs. */
export async function findJobs(
  { filter, pools }: JobSearch,
  context: AdminContext,
  limit: number = PAGE,
): Promise<FoundJobs> {
  const { lane, state, match, group } = filter;
  const query = { ...LIST_ORDER, limit, lane: lane || undefined, state };
  const place = placeOf(filter);
  const matches = matcher({ match, group }, context.show);
  const { jobs, next, looked, last } = await context.lists.run(() =>
    pageOfPools(pools, query, place, matches)
  );
  return {
    jobs: jobs.map((job) => shownJob(job, context)),
    next: next && sealCursor(keyOf(filter), JSON.stringify(next)),
    looked,
    backToMs: last && (last.endedAtMs ?? last.createdAtMs),
  };
}

/** The query that asks for the same with some of it changed. */
export function queryOf(filter: JobFilter, changed: Partial<JobFilter> = {}): string {
  const { pool, lane, state, match, group, cursor } = { ...filter, cursor: "", ...changed };
  const entries = Object.entries({ pool, lane, state: state ?? "", match, group, cursor });
  const query = new URLSearchParams(entries.filter(([, value]) => value !== ""));
  return query.size === 0 ? "" : `?${query}`;
}

/** Now, as the pools have it. */
export function nowOf({ sluice, clock }: AdminContext): number {
  return sluice.pools[0]?.snapshot().nowMs ?? clock.nowMs();
}

function placeOf(filter: JobFilter): ListPlace | undefined {
  const opened = filter.cursor === "" ? undefined : openCursor(keyOf(filter), filter.cursor);
  return opened === undefined ? undefined : readPlace(opened);
}

function keyOf({ pool, lane, state, match, group }: JobFilter): readonly string[] {
  return ["pages", pool, lane, state ?? "", match, group];
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 60));
}
