/**
 * Lists jobs, page by page: by age, or those that ended last first.
 *
 * @module
 */

import type { JobRecord } from "../../src/contract/job.ts";
import type { JobPage, JobQuery } from "../../src/contract/store.ts";
import { endOf } from "./ended.ts";
import { DONE, type MemoryJob } from "./job.ts";
import type { MemoryPool } from "./pool.ts";

/** Lists jobs. */
export function listJobs(pool: MemoryPool, query: JobQuery): JobPage {
  const jobs: JobRecord[] = [];
  const all = query.order === "latest-end" ? byEnd(pool, query) : byAge(pool, query);
  for (const job of all) {
    if (query.state !== undefined && query.state !== job.state) continue;
    if (query.lane !== undefined && query.lane !== job.lane) continue;
    if (jobs.length >= query.limit) return { jobs, cursor: cursorOf(job, query) };
    jobs.push(job.record());
  }
  return { jobs, cursor: undefined };
}

function byAge(pool: MemoryPool, { cursor = "0" }: JobQuery): Iterable<MemoryJob> {
  return pool.jobs.from(Number(cursor));
}

function* byEnd(pool: MemoryPool, { cursor }: JobQuery): Generator<MemoryJob> {
  const [atMs, sequence] = cursor === undefined
    ? [Infinity, Infinity]
    : cursor.split("/").map(Number);
  if (atMs === undefined || sequence === undefined) return; // it is no cursor of such a list
  if (!Number.isNaN(atMs)) {
    for (const job of pool.latest(atMs)) {
      if (endOf(job) < atMs || job.sequence <= sequence) yield job;
    }
  }
  for (const job of pool.jobs.from(Number.isNaN(atMs) ? sequence : 0)) {
    if (job.code < DONE) yield job;
  }
}

/** Where a list goes on: with this very job. */
function cursorOf(job: MemoryJob, { order }: JobQuery): string {
  if (order !== "latest-end") return `${job.sequence}`;
  return `${job.code < DONE ? NaN : endOf(job)}/${job.sequence}`;
}
