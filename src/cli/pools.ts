/**
 * `sluice pools`: look at pools, pause, resume, drain and scale them.
 *
 * @module
 */

import type { Command } from "commander";
import type { LaneJson, PoolJson } from "../admin/http/wire.ts";
import { counted, duration } from "../base/format.ts";
import { isoTime } from "../time/iso_time.ts";
import { shellWord } from "../base/shell_word.ts";
import { breakerText, whyOf } from "../explain/reason.ts";
import { call, type RemoteOptions, there } from "./client.ts";
import { drain, type DrainOptions } from "./drain.ts";
import { CliError } from "./failure.ts";
import type { Io } from "./io.ts";
import { type Column, prose, showTable } from "./fold.ts";
import { LANE_COLUMNS, POOL_COLUMNS, stateOf, targetOf, workersOf } from "./pool_rows.ts";
import { bold, json, line } from "./print.ts";
import { durationMs, type Tools, wholeNumber, withRemote, withYes } from "./verb.ts";

/** Adds the verb. */
export function addPools(program: Command, { io }: Tools): void {
  const pools = program.command("pools").description("list, pause, resume, drain and scale pools");
  withRemote(pools.command("ls", { isDefault: true }).description("list pools"))
    .action((options: RemoteOptions) => list(io, options));
  withRemote(pools.command("describe").description("show one pool").argument("<pool>"))
    .action((pool: string, options: RemoteOptions) => describe(io, pool, options));
  withRemote(
    pools.command("pause").description("pause a pool: no job starts; running jobs continue")
      .argument("<pool>"),
  )
    .option("--lane <lane>", "only this lane")
    .action((pool: string, options: LaneOptions) => setPaused(io, pool, "pause", options));
  withRemote(pools.command("resume").description("resume a pool").argument("<pool>"))
    .option("--lane <lane>", "only this lane")
    .action((pool: string, options: LaneOptions) => setPaused(io, pool, "resume", options));
  withRemote(
    pools.command("close-breaker").description("let jobs start again that a receiver refused")
      .argument("<pool>"),
  )
    .option("--key <key>", "only jobs of this key")
    .action((pool: string, options: KeyOptions) => closeBreaker(io, pool, options));
  withYes(
    withRemote(pools.command("drain").description("let running jobs end, then stop the pool")),
  )
    .argument("<pool>")
    .option(
      "--deadline <duration>",
      "deadline: jobs that have not ended by then go back to their lanes",
    )
    .action((pool: string, options: DrainOptions) => drain(io, pool, options));
  withRemote(pools.command("scale").description("override the bounds for a while"))
    .argument("<pool>")
    .option("--min <workers>", "instead of size.min")
    .option("--max <workers>", "instead of size.max, at most that")
    .option("--target <workers>", "fixed count, instead of the controller's")
    .option("--for <duration>", "how long", "10m")
    .option("--clear", "end the override")
    .action((pool: string, options: ScaleOptions) => scale(io, pool, options));
}

interface LaneOptions extends RemoteOptions {
  readonly lane?: string;
}

interface KeyOptions extends RemoteOptions {
  readonly key?: string;
}

interface ScaleOptions extends RemoteOptions {
  readonly min?: string;
  readonly max?: string;
  readonly target?: string;
  readonly for?: string;
  readonly clear?: boolean;
}

async function list(io: Io, options: RemoteOptions): Promise<void> {
  const pools = await call(io, options, "GET /api/pools", "list", {});
  if (options.json) return json(io, pools);
  showTable(io, POOL_COLUMNS, pools);
}

async function describe(io: Io, name: string, options: RemoteOptions): Promise<void> {
  const pool = await call(io, options, "GET /api/pools/:pool", "lanes", { at: { pool: name } });
  if (options.json) return json(io, pool);
  line(
    io,
    bold(pool.pool),
    `  ${workersOf(pool)} workers busy, target ${targetOf(pool)}, ${stateOf(pool)}`,
  );
  prose(io, whyOf(pool));
  prose(io, `jobs: ${jobsText(pool)}`);
  if (pool.override !== undefined) {
    const { untilMs, ...bounds } = pool.override;
    const shown = Object.entries(bounds).map(([key, value]) => `${key} ${value}`).join(", ");
    line(io, `Override: ${shown} until ${isoTime(untilMs)}`);
  }
  for (const breaker of pool.breakers) line(io, breakerText(breaker, pool.nowMs));
  line(io);
  showTable(io, [...LANE_COLUMNS, MEAN_RUN], pool.lanes);
}

function jobsText({ jobs }: PoolJson): string {
  const { ready, blocked, delayed, running, dead, done } = jobs;
  const open = `${ready} ready, ${blocked} blocked, ${delayed} delayed, ${running} running`;
  const ended = dead === undefined ? "" : `; ${counted(dead, "dead letter")}`;
  return done === undefined ? open + ended : `${open}${ended}, ${done} done or cancelled are kept`;
}

const MEAN_RUN: Column<LaneJson> = {
  title: "MEAN RUN",
  rank: 2,
  cell: ({ meanServiceMs }) => meanServiceMs === 0 ? "-" : duration(meanServiceMs),
};

async function setPaused(
  io: Io,
  pool: string,
  verb: "pause" | "resume",
  options: LaneOptions,
): Promise<void> {
  const body = options.lane === undefined ? {} : { lane: options.lane };
  const done = await call(io, options, `POST /api/pools/:pool/${verb}`, "paused", {
    at: { pool },
    body,
  });
  if (options.json) return json(io, done);
  const what = done.lane === null
    ? `Pool "${done.pool}"`
    : `Lane "${done.lane}" of pool "${done.pool}"`;
  const lane = done.lane === null ? "" : ` --lane ${shellWord(done.lane)}`;
  const next = `sluice pools resume ${shellWord(pool)}${lane}${there(options)}`;
  line(io, done.paused ? `${what} is paused; "${next}" resumes it` : `${what} is resumed`);
}

async function closeBreaker(io: Io, pool: string, options: KeyOptions): Promise<void> {
  const { key } = options;
  const done = await call(io, options, "POST /api/pools/:pool/close-breaker", "closed", {
    at: { pool },
    body: key === undefined ? {} : { key },
  });
  if (options.json) return json(io, done);
  const of = key === undefined ? `Pool "${pool}"` : `The key "${key}" of pool "${pool}"`;
  line(io, done.closed ? `${of}: jobs start again` : `${of}: no circuit breaker is open`);
}

async function scale(io: Io, pool: string, options: ScaleOptions): Promise<void> {
  const min = wholeNumber("--min", options.min);
  const max = wholeNumber("--max", options.max);
  const target = wholeNumber("--target", options.target);
  const expiresInMs = durationMs("--for", options.for) ?? 0; // commander has a default
  const given = min !== undefined || max !== undefined || target !== undefined;
  if (given === (options.clear === true)) {
    throw new CliError("Pass --min, --max or --target, or --clear to end the override", 2);
  }
  const at = { pool };
  const done = options.clear
    ? await call(io, options, "DELETE /api/pools/:pool/override", "override", { at })
    : await call(io, options, "PUT /api/pools/:pool/override", "override", {
      at,
      body: { min, max, target, expiresInMs },
    });
  if (options.json) return json(io, done);
  line(
    io,
    done.override === null
      ? `Pool "${pool}" has the bounds of its config`
      : `Pool "${pool}" has other bounds until ${
        isoTime(done.override.untilMs)
      }; "sluice pools scale ${shellWord(pool)} --clear${there(options)}" ends it`,
  );
}
