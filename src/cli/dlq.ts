/**
 * `sluice dlq`: dead letters. Lists dead jobs, retries or discards them.
 *
 * @module
 */

import { counted } from "../base/format.ts";
import type { Command } from "commander";
import type { FailureGroupJson } from "../admin/http/wire_failures.ts";
import { call, type RemoteOptions } from "./client.ts";
import { type Column, showTable } from "./fold.ts";
import { json, line } from "./print.ts";
import { isoTime } from "../time/iso_time.ts";
import { shellWord } from "../base/shell_word.ts";
import { CliError } from "./failure.ts";
import type { Io } from "./io.ts";
import { changeJobs, type JobsOptions, listJobs, MATCHING, showJob } from "./jobs.ts";
import { operate } from "./operation.ts";
import { confirmed, type Tools, withRemote, withYes } from "./verb.ts";

interface ListOptions extends Omit<JobsOptions, "group"> {
  readonly group?: string | true;
}

interface ManyOptions extends JobsOptions {
  readonly all?: boolean;
  readonly yes?: boolean;
}

const GROUP_COLUMNS: readonly Column<FailureGroupJson>[] = [
  { title: "JOBS", rank: 0, cell: ({ count }) => count },
  { title: "FIRST", rank: 2, cell: ({ firstAtMs }) => isoTime(firstAtMs) },
  { title: "LAST", rank: 1, cell: ({ lastAtMs }) => isoTime(lastAtMs) },
  { title: "LATEST JOB", rank: 0, cell: ({ example }) => example.id },
  { title: "ERROR", rank: 0, cell: ({ group }) => group, below: true },
];

/** Prints why jobs are dead, those with most jobs first. */
async function listGroups(
  io: Io,
  pool: string,
  options: Omit<ListOptions, "group">,
): Promise<void> {
  const { lane, match, cursor } = options;
  if (lane !== undefined || match !== undefined || cursor !== undefined) {
    throw new CliError("--group without an error takes neither --lane, --match nor --cursor", 2);
  }
  const failures = await call(io, options, "GET /api/failures", "groups", { query: { pool } });
  if (options.json) return json(io, failures);
  const { groups, looked, hasMore, others } = failures;
  if (looked === 0) return line(io, `No job of pool "${pool}" is dead`);
  showTable(io, GROUP_COLUMNS, groups);
  if (others > 0) line(io, `${counted(others, "job")} in other groups`);
  const older = hasMore ? ": there are older ones" : "";
  line(io, `${hasMore ? "The latest " : ""}${counted(looked, "dead job")} looked at${older}`);
  const [first] = groups;
  if (first === undefined) return;
  line(
    io,
    `Retry a group: sluice dlq retry ${shellWord(pool)} --all --group ${shellWord(first.group)}`,
  );
}

/** Adds the verb. */
export function addDlq(program: Command, { io }: Tools): void {
  const dlq = program.command("dlq").description(
    "dead letters: list dead jobs, retry or discard them",
  );
  withRemote(dlq.command("ls").description("list dead jobs, newest first").argument("<pool>"))
    .option("--lane <lane>", "only this lane")
    .option("--match <text>", MATCHING)
    .option("--group [error]", "groups by what errors have in common; with one: its jobs")
    .option("--limit <count>", "most jobs", "50")
    .option("--cursor <cursor>", "continue after the previous page")
    .action((pool: string, { group, ...options }: ListOptions) =>
      group === true
        ? listGroups(io, pool, options)
        : listJobs(io, pool, { ...options, group, state: "dead" })
    );
  withRemote(dlq.command("show").description("show one job").argument("<id>"))
    .action((id: string, options: RemoteOptions) => showJob(io, id, options));
  many(dlq.command("retry").description("retry dead jobs, with all their attempts"))
    .action((pool: string, ids: readonly string[], options: ManyOptions) =>
      retry(io, pool, ids, options)
    );
  withYes(many(dlq.command("discard").description("delete dead jobs")))
    .action((pool: string, ids: readonly string[], options: ManyOptions) =>
      discard(io, pool, ids, options)
    );
}

function many(command: Command): Command {
  return withRemote(command)
    .argument("<pool>")
    .argument("[id...]", "which jobs")
    .option("--all", "all dead jobs of the pool")
    .option("--lane <lane>", "with --all: only this lane")
    .option("--match <text>", `with --all: ${MATCHING}`)
    .option("--group <error>", 'with --all: only those of this group of "sluice dlq ls --group"');
}

async function retry(
  io: Io,
  pool: string,
  ids: readonly string[],
  options: ManyOptions,
): Promise<void> {
  checkChoice(ids, options);
  if (options.all) return await operate(io, pool, { retry: true, ...filterOf(options) }, options);
  await changeJobs(io, ids, "retry", options);
}

async function discard(
  io: Io,
  pool: string,
  ids: readonly string[],
  options: ManyOptions,
): Promise<void> {
  checkChoice(ids, options);
  const all = options.all && !options.yes ? await countedDead(io, pool, options) : "all dead jobs";
  const what = options.all ? `${all}${narrowed(options)}` : counted(ids.length, "dead job");
  confirmed(io, options, `Discard ${what} of pool "${pool}"?`);
  if (options.all) return await operate(io, pool, { discard: true, ...filterOf(options) }, options);
  await changeJobs(io, ids, "remove", options);
}

/** How many dead jobs it is about, or at least how many where there are too many to look at. */
async function countedDead(io: Io, pool: string, options: ManyOptions): Promise<string> {
  const { count, complete } = await call(io, options, "GET /api/pools/:pool/jobs/count", "count", {
    at: { pool },
    query: { state: "dead", ...filterOf(options) },
  });
  return complete ? counted(count, "dead job") : `at least ${counted(count, "dead job")}`;
}

function checkChoice(ids: readonly string[], options: ManyOptions): void {
  if ((ids.length > 0) === (options.all === true)) {
    throw new CliError('Pass the ids of jobs, or --all; "sluice dlq ls" lists them', 2);
  }
  const { lane, match, group } = options;
  if (!options.all && (lane ?? match ?? group) !== undefined) {
    throw new CliError("--lane, --match and --group need --all, and no ids", 2);
  }
}

function filterOf(
  { lane, match, group }: ManyOptions,
): { readonly lane?: string; readonly match?: string; readonly group?: string } {
  return {
    ...(lane === undefined ? {} : { lane }),
    ...(match === undefined ? {} : { match }),
    ...(group === undefined ? {} : { group }),
  };
}

function narrowed({ lane, match, group }: ManyOptions): string {
  const inLane = lane === undefined ? "" : ` in lane "${lane}"`;
  const having = match === undefined ? inLane : `${inLane} with "${match}" in them`;
  return group === undefined ? having : `${having} with the error "${group}"`;
}
