/**
 * `sluice jobs` over many: all pools at once, counts, a purge.
 *
 * @module
 */

import type { Command } from "commander";
import { counted, grouped } from "../base/format.ts";
import { isoTime } from "../time/iso_time.ts";
import type { JobRecord } from "../contract/job.ts";
import { call, type RemoteOptions } from "./client.ts";
import type { Column } from "./fold.ts";
import type { Io } from "./io.ts";
import { jobColumns, type JobsOptions, MATCHING, searched, showPage } from "./jobs.ts";
import { operate } from "./operation.ts";
import { json, line } from "./print.ts";
import { confirmed, type Tools, wholeNumber, withRemote, withYes } from "./verb.ts";

/** Adds `count` and `purge` below `jobs`. */
export function addJobsMany(jobs: Command, { io }: Tools): void {
  withRemote(jobs.command("count").description("count jobs of a pool").argument("<pool>"))
    .option("--state <state>", "delayed, ready, blocked, running, done, dead or cancelled")
    .option("--lane <lane>", "only this lane")
    .option("--match <text>", MATCHING)
    .action((pool: string, options: JobsOptions) => countJobs(io, pool, options));
  withYes(
    withRemote(
      jobs.command("purge").description("cancel all jobs of a pool that wait").argument("<pool>"),
    ),
  )
    .option("--state <state>", "only those that are delayed, ready or blocked")
    .option("--lane <lane>", "only this lane")
    .option("--match <text>", MATCHING)
    .action((pool: string, options: PurgeOptions) => purge(io, pool, options));
}

interface PurgeOptions extends RemoteOptions {
  readonly state?: "delayed" | "ready" | "blocked";
  readonly lane?: string;
  readonly match?: string;
  readonly yes?: boolean;
}

const POOL: Column<JobRecord> = { title: "POOL", rank: 0, cell: (job) => job.pool };

/** Prints a page of the jobs of all pools. */
export async function listAllJobs(io: Io, options: JobsOptions): Promise<void> {
  const limit = wholeNumber("--limit", options.limit, 1);
  const { state, lane, match } = options;
  const page = await searched(
    options.cursor,
    (cursor) =>
      call(io, options, "GET /api/jobs", "looked", {
        query: { state, lane, match, limit, cursor },
      }),
  );
  if (options.json) return json(io, page);
  const { backToMs } = page;
  showPage(io, page, {
    columns: [POOL, ...jobColumns(state)],
    looked: backToMs === undefined ? "" : `back to ${isoTime(backToMs)}`,
  });
}

async function countJobs(io: Io, pool: string, options: JobsOptions): Promise<void> {
  const { state, lane, match } = options;
  const found = await call(io, options, "GET /api/pools/:pool/jobs/count", "complete", {
    at: { pool },
    query: { state, lane, match },
  });
  if (options.json) return json(io, found);
  const { count, looked, complete } = found;
  const more = complete ? "" : ` or more: ${counted(looked, "job")} looked at`;
  line(io, `${grouped(count)}${more}`);
}

async function purge(io: Io, pool: string, options: PurgeOptions): Promise<void> {
  const { state, lane, match } = options;
  const which = [
    state === undefined ? "all jobs that wait" : `all jobs that are ${state}`,
    lane === undefined ? "" : ` in lane "${lane}"`,
    match === undefined ? "" : ` with "${match}" in them`,
  ].join("");
  confirmed(io, options, `Cancel ${which} of pool "${pool}"?`);
  await operate(io, pool, { purge: true, state, lane, match }, options);
}
