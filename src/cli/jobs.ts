/**
 * `sluice jobs`: look up, cancel and retry jobs.
 *
 * @module
 */

import type { Command } from "commander";
import type { ChangedJson } from "../admin/http/wire.ts";
import type { JobPageJson } from "../admin/http/wire_lists.ts";
import { agreeing, counted, duration } from "../base/format.ts";
import { isoTime } from "../time/iso_time.ts";
import type { JobAttempt, JobRecord } from "../contract/job.ts";
import { call, type RemoteOptions } from "./client.ts";
import { CliError } from "./failure.ts";
import { addJobsMany, listAllJobs } from "./jobs_many.ts";
import { printTimeline } from "./job_timeline.ts";
import type { Io } from "./io.ts";
import { type Column, showTable } from "./fold.ts";
import { bold, json, line, note, red } from "./print.ts";
import { confirmed, type Tools, wholeNumber, withRemote, withYes } from "./verb.ts";

/** Which jobs to list. */
export interface JobsOptions extends RemoteOptions {
  /** Only this state. */
  readonly state?: string | undefined;
  /** Only this lane. */
  readonly lane?: string | undefined;
  /** Only those with this text in them. */
  readonly match?: string | undefined;
  /** Only those of this group of failures. */
  readonly group?: string | undefined;
  /** Most jobs. */
  readonly limit?: string | undefined;
  /** Where the last page ended. */
  readonly cursor?: string | undefined;
}

/** Calls of one search, of some 5,000 jobs each: then someone is asked whether to go on. */
const MOST_CALLS = 20;

/** Characters of an error in a row of little width. */
const SHORT_ERROR = 30;

/** What `--match` is for. */
export const MATCHING = "only jobs with this text in id, key, type, error or payload";

/** Adds the verb. */
export function addJobs(program: Command, tools: Tools): void {
  const { io } = tools;
  const jobs = program.command("jobs").description("look up, cancel and retry jobs");
  withRemote(
    jobs.command("ls").description("list jobs, those that ended most recently first")
      .argument("[pool]", "only this pool; default: all"),
  )
    .option("--state <state>", "delayed, ready, blocked, running, done, dead or cancelled")
    .option("--lane <lane>", "only this lane")
    .option("--match <text>", MATCHING)
    .option("--limit <count>", "most jobs", "50")
    .option("--cursor <cursor>", "continue after the previous page")
    .action((pool: string | undefined, options: JobsOptions) =>
      pool === undefined ? listAllJobs(io, options) : listJobs(io, pool, options)
    );
  addJobsMany(jobs, tools);
  withRemote(jobs.command("show").description("show one job").argument("<id>"))
    .action((id: string, options: RemoteOptions) => showJob(io, id, options));
  withYes(withRemote(jobs.command("cancel").description("cancel jobs").argument("<id...>")))
    .action((ids: readonly string[], options: RemoteOptions & { readonly yes?: boolean }) => {
      confirmed(io, options, `Cancel ${counted(ids.length, "job")}?`);
      return changeJobs(io, ids, "cancel", options);
    });
  withRemote(
    jobs.command("retry").description("retry dead jobs, with all their attempts").argument(
      "<id...>",
    ),
  )
    .action((ids: readonly string[], options: RemoteOptions) =>
      changeJobs(io, ids, "retry", options)
    );
}

/** Prints a page of the jobs of a pool. */
export async function listJobs(io: Io, pool: string, options: JobsOptions): Promise<void> {
  const limit = wholeNumber("--limit", options.limit, 1);
  const { state, lane, match, group } = options;
  const page = await searched(
    options.cursor,
    (cursor) =>
      call(io, options, "GET /api/pools/:pool/jobs", "jobs", {
        at: { pool },
        query: { state, lane, match, group, limit, cursor },
      }),
  );
  if (options.json) return json(io, page);
  const looked = match === undefined ? "" : `${counted(page.looked, "job")} looked at`;
  showPage(io, page, { columns: jobColumns(state), looked });
}

/** Shows jobs, and how to go on. `looked`: how far that was looked, if it is to be said. */
export function showPage(
  io: Io,
  { jobs, cursor }: JobPageJson,
  { columns, looked }: {
    readonly columns: readonly Column<JobRecord>[];
    readonly looked: string;
  },
): void {
  const far = looked === "" ? "" : `, ${looked}`;
  const more = cursor === undefined ? undefined : `add --cursor ${cursor}`;
  if (jobs.length === 0) {
    const none = `No such jobs${far}`;
    return line(io, more === undefined ? none : `${none} so far: to continue, ${more}`);
  }
  showTable(io, columns, jobs);
  if (more !== undefined) line(io, `More jobs${far}: ${more}`);
}

/** Columns of a table of jobs, of one state or of any. */
export function jobColumns(state: string | undefined): readonly Column<JobRecord>[] {
  const dead = state === "dead"; // listed by when they died
  return [
    { title: "ID", rank: 0, cell: ({ id }) => id },
    { title: "LANE", rank: 1, cell: ({ lane }) => lane },
    {
      title: "STATE",
      rank: 0,
      cell: ({ state, reason }) => reason === undefined ? state : `${state} (${reason})`,
      style: (job) => job.state === "dead" ? "red" : undefined,
    },
    { title: "ATTEMPT", rank: 3, cell: ({ attempt }) => attempt },
    {
      title: dead ? "DIED" : "CREATED",
      rank: 2,
      cell: (job) => isoTime((dead ? job.endedAtMs : undefined) ?? job.createdAtMs),
    },
    {
      title: "LAST ERROR",
      rank: 0,
      cell: ({ state, error = "" }) => state === "done" ? "" : oneLine(error),
      short: ({ state, error = "" }) => state === "done" ? "" : oneLine(error, SHORT_ERROR),
      below: true,
    },
  ];
}

/** Asks for pages until one has a job, or it is time to ask whether to go on. */
export async function searched<Page extends JobPageJson>(
  from: string | undefined,
  ask: (cursor: string | undefined) => Promise<Page>,
): Promise<Page> {
  let cursor = from;
  let looked = 0;
  for (let calls = 1;; calls++) { // one call looks through some jobs only
    const page = await ask(cursor);
    looked += page.looked;
    cursor = page.cursor;
    if (page.jobs.length > 0 || cursor === undefined || calls === MOST_CALLS) {
      return { ...page, looked };
    }
  }
}

/** Prints one job. */
export async function showJob(io: Io, id: string, options: RemoteOptions): Promise<void> {
  const job = await call(io, options, "GET /api/jobs/:id", "state", { at: { id } });
  if (options.json) return json(io, job);
  line(
    io,
    bold(job.id),
    `  ${job.state}${job.reason === undefined ? "" : ` (${job.reason})`}${
      job.cancelling ? ", asked to stop" : ""
    }`,
  );
  line(
    io,
    `pool ${job.pool}, lane ${job.lane}${
      job.type === "" ? "" : `, type ${job.type}`
    }, attempt ${job.attempt}`,
  );
  line(io, `created ${isoTime(job.createdAtMs)}, due ${isoTime(job.dueAtMs)}`);
  if (job.startedAtMs !== undefined) line(io, `started ${isoTime(job.startedAtMs)}${ranFor(job)}`);
  if (job.key !== undefined) line(io, `key ${job.key}`);
  if (job.dedupeKey !== undefined) line(io, `dedupe key ${job.dedupeKey}`);
  line(io, `payload ${JSON.stringify(job.payload)}`);
  if (job.result !== undefined) line(io, `result ${JSON.stringify(job.result)}`);
  if (job.resultError !== undefined) line(io, red(`no result: ${job.resultError}`));
  if (job.error !== undefined) line(io, red(`error ${job.error}`));
  printTimeline(
    io,
    job,
    await call(io, options, "GET /api/jobs/:id/waiting", "waiting", { at: { id } }),
  );
  if (job.revived !== undefined) {
    const { attempts, atMs } = job.revived;
    line(io, `retried by hand ${isoTime(atMs)}, after ${counted(attempts, "attempt")}`);
  }
  for (const attempt of job.history ?? []) showAttempt(io, attempt, job.error);
}

/** Prints an attempt. `known`: the error that was printed already. */
function showAttempt(io: Io, attempt: JobAttempt, known: string | undefined): void {
  const { end, error, stack, log = [], progress, times = 1 } = attempt;
  const often = times === 1 ? "" : ` ${times} times in a row`;
  line(
    io,
    bold(`attempt ${attempt.attempt}`),
    ` ${end}${often} after ${duration(attempt.ms)}, ${attempt.worker}, started ${
      isoTime(attempt.startedAtMs)
    }`,
  );
  const indented = (text: string): void =>
    text.split("\n").forEach((each) => line(io, `  ${each}`));
  if (error !== undefined && error !== known) line(io, "  ", red(error));
  if (stack !== undefined) indented(stack);
  if (progress !== undefined) indented(`progress ${JSON.stringify(progress)}`);
  for (const { afterMs, level, text } of log) {
    indented(`+${duration(afterMs).padEnd(8)} ${level.padEnd(5)} ${text}`);
  }
}

/** Endpoints that change a job. */
const CHANGES = {
  cancel: "POST /api/jobs/:id/cancel",
  retry: "POST /api/jobs/:id/retry",
  remove: "DELETE /api/jobs/:id",
} as const;

/** Changes jobs one after another and prints what came of each. @throws {CliError} If one could not be changed. */
export async function changeJobs(
  io: Io,
  ids: readonly string[],
  change: keyof typeof CHANGES,
  options: RemoteOptions,
): Promise<void> {
  const results: (ChangedJson | { readonly id: string; readonly error: string })[] = [];
  let failed = 0;
  for (const id of ids) {
    try {
      const done = await call(io, options, CHANGES[change], "state", { at: { id } });
      results.push(done);
      if (!options.json) {
        line(io, `Job ${id} ${done.cancelling ? "was asked to stop" : `is ${done.state}`}`);
      }
    } catch (thrown) {
      if (!(thrown instanceof CliError) || ids.length === 1) throw thrown;
      failed++;
      results.push({ id, error: thrown.message });
      if (!options.json) note(io, `${id}: ${thrown.message}`);
    }
  }
  if (options.json) json(io, results);
  if (failed > 0) {
    throw new CliError(
      `${failed} of ${counted(ids.length, "job")} ${agreeing(failed, "was", "were")} not changed`,
    );
  }
}

function ranFor(job: JobRecord): string {
  if (job.endedAtMs === undefined || job.startedAtMs === undefined) return "";
  return `, ended ${isoTime(job.endedAtMs)} after ${duration(job.endedAtMs - job.startedAtMs)}`;
}

/** The beginning of a text, in one line of a table. */
export function oneLine(text: string, most = 60): string {
  const flat = text.replaceAll(/\s+/g, " ");
  return flat.length > most ? `${flat.slice(0, most)}…` : flat;
}
