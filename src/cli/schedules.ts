/**
 * `sluice schedules`: when each comes next, how its latest job ended, run now, pause, resume.
 *
 * @module
 */

import type { Command } from "commander";
import type { ScheduledJobJson, ScheduleJson } from "../admin/http/wire.ts";
import { shellWord } from "../base/shell_word.ts";
import { isoTime } from "../time/iso_time.ts";
import { call, type RemoteOptions, there } from "./client.ts";
import type { Io } from "./io.ts";
import { oneLine } from "./jobs.ts";
import { timesText } from "../explain/schedule_times.ts";
import { type Column, showTable } from "./fold.ts";
import { json, line } from "./print.ts";
import { type Tools, withRemote } from "./verb.ts";

/** Adds the verb. */
export function addSchedules(program: Command, { io }: Tools): void {
  const schedules = program.command("schedules").description(
    "list schedules, run one now, pause and resume them",
  );
  withRemote(
    schedules.command("ls", { isDefault: true }).description("list schedules")
      .argument("[pool]", "only this pool; default: all"),
  ).action((pool: string | undefined, options: RemoteOptions) => list(io, pool, options));
  const one = (verb: Change, description: string): void => {
    withRemote(schedules.command(verb).description(description))
      .argument("<pool>")
      .argument("<id>", 'which, as "schedules ls" shows it')
      .action((pool: string, id: string, options: RemoteOptions) =>
        change(io, { pool, id }, verb, options)
      );
  };
  one("run", "add a job of a schedule now");
  one("pause", "let the times of a schedule pass without a job, in all processes");
  one("resume", "let the times of a schedule begin again");
}

type Change = "run" | "pause" | "resume";

async function list(io: Io, pool: string | undefined, options: RemoteOptions): Promise<void> {
  const schedules = await call(io, options, "GET /api/schedules", "list", { query: { pool } });
  if (options.json) return json(io, schedules);
  if (schedules.length === 0) return line(io, "No schedules");
  showTable(io, COLUMNS, schedules);
}

const COLUMNS: readonly Column<ScheduleJson>[] = [
  { title: "POOL", rank: 0, cell: ({ pool }) => pool },
  { title: "ID", rank: 0, cell: ({ id }) => id },
  { title: "LANE", rank: 3, cell: ({ lane }) => lane },
  {
    title: "CRON",
    rank: 0,
    cell: (schedule) =>
      `${timesText(schedule)}${schedule.timezone === "UTC" ? "" : ` (${schedule.timezone})`}`,
  },
  { title: "NEXT", rank: 1, cell: nextOf },
  {
    title: "LAST",
    rank: 2,
    cell: ({ lastAtMs }) => lastAtMs === undefined ? "-" : isoTime(lastAtMs),
  },
  {
    title: "OUTCOME",
    rank: 0,
    cell: (schedule) => `${jobOf(schedule.job)}${skippedOf(schedule)}`,
    below: true,
  },
];

function nextOf({ paused, nextAtMs }: ScheduleJson): string {
  if (paused) return "paused";
  return nextAtMs === undefined ? "never" : isoTime(nextAtMs);
}

/** What is said of a time that had no job. */
function skippedOf({ skippedAtMs }: ScheduleJson): string {
  if (skippedAtMs === undefined) return "";
  return `, none at ${isoTime(skippedAtMs)}: the one before had not ended`;
}

function jobOf(job: ScheduledJobJson | undefined): string {
  if (job === undefined) return "no job yet";
  return `${job.state} ${job.id}${job.error === undefined ? "" : `: ${oneLine(job.error)}`}`;
}

async function change(
  io: Io,
  at: { readonly pool: string; readonly id: string },
  verb: Change,
  options: RemoteOptions,
): Promise<void> {
  const route = `POST /api/pools/:pool/schedules/:id/${verb}` as const;
  const done = await call(io, options, route, "catchUp", { at });
  if (options.json) return json(io, done);
  const words = `${shellWord(at.pool)} ${shellWord(at.id)}${there(options)}`;
  const what = `Schedule ${timesText(done)} of pool "${done.pool}"`;
  if (verb === "run") {
    const id = done.job?.id ?? "";
    line(io, `Job ${id} is stored; "sluice jobs show ${shellWord(id)}${there(options)}" shows it`);
  } else if (verb === "pause") {
    line(io, `${what} is paused; "sluice schedules resume ${words}" resumes it`);
  } else line(io, `${what} is resumed: it comes next at ${nextOf(done)}`);
}
