/**
 * `sluice dlq`: dead letters. Lists dead jobs, retries or discards them.
 *
 * @module
 */

import { counted } from "../base/format.ts";
import type { Command } from "commander";
import type { RemoteOptions } from "./client.ts";
import { CliError } from "./failure.ts";
import type { Io } from "./io.ts";
import { changeJobs, type JobsOptions, listJobs, MATCHING, showJob } from "./jobs.ts";
import { operate } from "./operation.ts";
import { confirmed, type Tools, withRemote, withYes } from "./verb.ts";

interface ManyOptions extends JobsOptions {
  readonly all?: boolean;
  readonly yes?: boolean;
}

/** Adds the verb. */
export function addDlq(program: Command, { io }: Tools): void {
  const dlq = program.command("dlq").description(
    "dead letters: list dead jobs, retry or discard them",
  );
  withRemote(dlq.command("ls").description("list dead jobs, newest first").argument("<pool>"))
    .option("--lane <lane>", "only this lane")
    .option("--match <text>", MATCHING)
    .option("--limit <count>", "most jobs", "50")
    .option("--cursor <cursor>", "continue after the previous page")
    .action((pool: string, options: JobsOptions) =>
      listJobs(io, pool, { ...options, state: "dead" })
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
    .option("--match <text>", `with --all: ${MATCHING}`);
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
  const what = options.all ? `all dead jobs${narrowed(options)}` : counted(ids.length, "dead job");
  confirmed(io, options, `Discard ${what} of pool "${pool}"?`);
  if (options.all) return await operate(io, pool, { discard: true, ...filterOf(options) }, options);
  await changeJobs(io, ids, "remove", options);
}

function checkChoice(ids: readonly string[], options: ManyOptions): void {
  if ((ids.length > 0) === (options.all === true)) {
    throw new CliError('Pass the ids of jobs, or --all; "sluice dlq ls" lists them', 2);
  }
  if (!options.all && (options.lane !== undefined || options.match !== undefined)) {
    throw new CliError("--lane and --match need --all, and no ids", 2);
  }
}

function filterOf(
  { lane, match }: ManyOptions,
): { readonly lane?: string; readonly match?: string } {
  return { ...(lane === undefined ? {} : { lane }), ...(match === undefined ? {} : { match }) };
}

function narrowed({ lane, match }: ManyOptions): string {
  const inLane = lane === undefined ? "" : ` in lane "${lane}"`;
  return match === undefined ? inLane : `${inLane} with "${match}" in them`;
}
