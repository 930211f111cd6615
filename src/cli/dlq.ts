/**
 * `sluice dlq`: look at dead jobs, retry or discard them.
 *
 * @module
 */

import type { Command } from "commander";
import type { RemoteOptions } from "./client.ts";
import { CliError } from "./failure.ts";
import type { Io } from "./io.ts";
import { changeJobs, fetchPage, listJobs, type ListOptions, showJob } from "./jobs.ts";
import { counted, line } from "./print.ts";
import { confirmed, type Tools, withRemote, withYes } from "./verb.ts";

/** Jobs fetched at once for `--all`. */
const PAGE = 500;

interface ManyOptions extends ListOptions {
  readonly all?: boolean;
  readonly yes?: boolean;
}

/** Adds the verb. */
export function addDlq(program: Command, { io }: Tools): void {
  const dlq = program.command("dlq").description("look at dead jobs, retry or discard them");
  withRemote(dlq.command("ls").description("list dead jobs, oldest first").argument("<pool>"))
    .option("--lane <lane>", "only this lane")
    .option("--limit <count>", "most jobs", "50")
    .option("--cursor <cursor>", "go on where the last page ended")
    .action((pool: string, options: ListOptions) =>
      listJobs(io, pool, { ...options, state: "dead" })
    );
  withRemote(dlq.command("show").description("show one job").argument("<id>"))
    .action((id: string, options: RemoteOptions) => showJob(io, id, options));
  many(dlq.command("retry").description("make dead jobs ready again"))
    .action((pool: string, ids: readonly string[], options: ManyOptions) =>
      retry(io, pool, ids, options)
    );
  withYes(many(dlq.command("discard").description("forget dead jobs")))
    .action((pool: string, ids: readonly string[], options: ManyOptions) =>
      discard(io, pool, ids, options)
    );
}

function many(command: Command): Command {
  return withRemote(command)
    .argument("<pool>")
    .argument("[id...]", "which jobs")
    .option("--all", "all dead jobs of the pool")
    .option("--lane <lane>", "with --all: only this lane");
}

async function retry(
  io: Io,
  pool: string,
  given: readonly string[],
  options: ManyOptions,
): Promise<void> {
  const ids = await chosen(io, pool, given, options);
  await changeJobs(io, ids, { method: "POST", verb: "retry" }, options);
}

async function discard(
  io: Io,
  pool: string,
  given: readonly string[],
  options: ManyOptions,
): Promise<void> {
  const ids = await chosen(io, pool, given, options);
  if (ids.length > 0) {
    confirmed(io, options, `Discard ${counted(ids.length, "dead job")} of pool "${pool}"?`);
  }
  await changeJobs(io, ids, { method: "DELETE", verb: "remove" }, options);
}

async function chosen(
  io: Io,
  pool: string,
  given: readonly string[],
  options: ManyOptions,
): Promise<readonly string[]> {
  if ((given.length > 0) === (options.all === true)) {
    throw new CliError('Give the ids of jobs, or --all for all; "sluice dlq ls" lists them', 2);
  }
  if (given.length > 0) return given;
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await fetchPage(io, pool, { ...options, state: "dead", cursor }, PAGE);
    ids.push(...page.jobs.map((job) => job.id));
    cursor = page.cursor;
  } while (cursor !== undefined);
  if (ids.length === 0 && !options.json) line(io, `Pool "${pool}" has no dead jobs`);
  return ids;
}
