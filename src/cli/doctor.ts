/**
 * `sluice doctor`: what is wrong with a pool, in numbers, and what to change.
 *
 * @module
 */

import type { Command } from "commander";
import type { PoolJson } from "../admin/http/wire.ts";
import type { Finding } from "../explain/diagnose.ts";
import { call, type RemoteOptions } from "./client.ts";
import { doctorAll, printReport } from "./doctor_all.ts";
import { doctorStore, type StoreDoctorOptions } from "./doctor_store.ts";
import { CliError } from "./failure.ts";
import { prose } from "./fold.ts";
import type { Io } from "./io.ts";
import { toneOf } from "./pool_rows.ts";
import { bold, json, line } from "./print.ts";
import { agreeing, counted } from "../base/format.ts";
import { type Tools, withRemote, withYes } from "./verb.ts";

/** Most pools in whose past nothing is wrong that are named. */
const MOST_NAMES = 10;

/** Adds the verb. */
export function addDoctor(program: Command, tools: Tools): void {
  const { io } = tools;
  const text =
    "diagnose all pools, or one, or a database that no process uses: what is wrong and " +
    "what to do; exits 1 if something is wrong";
  withYes(withRemote(program.command("doctor").description(text)))
    .argument("[pool]", "only this pool; default: all")
    .option("--md", "print a report for a chat, as Markdown: of this pool, or of those in trouble")
    .option("--store <file>", "examine the database of a durable store; no process may work on it")
    .option("--repair", "repair what is wrong in it")
    .action(async (pool: string | undefined, options: DoctorOptions) => {
      const { store } = options;
      if (store !== undefined && pool === undefined) {
        return await doctorStore(tools, { ...options, store });
      }
      if (store !== undefined) {
        throw new CliError("Expected the name of a pool, or --store with a file, not both", 2);
      }
      if (options.repair) throw new CliError("--repair needs --store with the file", 2);
      if (pool === undefined) return await doctorAll(io, options, (all) => showAll(io, all));
      await doctor(io, pool, options);
    });
}

type DoctorOptions = RemoteOptions & Partial<StoreDoctorOptions> & { readonly md?: boolean };

async function doctor(io: Io, name: string, options: DoctorOptions): Promise<void> {
  const pool = await call(io, options, "GET /api/pools/:pool", "diagnosis", { at: { pool: name } });
  if (options.json) json(io, pool.diagnosis);
  else if (options.md) await printReport(io, name, options);
  else show(io, pool);
  if (toneOf(pool) === "bad") throw new CliError(`Something is wrong with pool "${name}"`);
}

/** Shows what is wrong with each pool, and in one line those that are well. */
function showAll(io: Io, pools: readonly PoolJson[]): void {
  const isSound = (pool: PoolJson): boolean =>
    pool.catchUp === undefined && amissNow(pool).length + pool.diagnosis.length === 0;
  for (const pool of pools) if (!isSound(pool)) show(io, pool);
  const sound = pools.filter(isSound);
  if (sound.length === 0) return;
  const names = sound.length > MOST_NAMES ? "" : `: ${sound.map(({ pool }) => pool).join(", ")}`;
  prose(io, `Nothing is wrong in the recent past of ${counted(sound.length, "pool")}${names}`);
}

function show(io: Io, pool: PoolJson): void {
  const { pool: name, diagnosis } = pool;
  const now = amissNow(pool);
  for (const sentence of now) prose(io, `${name}: ${sentence}`);
  if (now.length + diagnosis.length === 0) line(io, `${name}: nothing is wrong in its recent past`);
  for (const finding of diagnosis) showFinding(io, finding, name);
  if (pool.catchUp !== undefined) prose(io, `${name}: it ${pool.catchUp.text}`);
}

/** What no figures show. */
function amissNow(
  { stopped, degraded, stale, paused, lanes, override }: PoolJson,
): readonly string[] {
  const texts = [
    stopped && "it was drained and accepts no jobs: restart the process to use it again",
    degraded &&
    "a strategy fails, its last answer stays in use: the log says why, explain says which",
    stale && "the store cannot be read, counts are the last known: the log says why",
    paused && !stopped && "it is paused: no job starts until it is resumed (sluice pools resume)",
    ...lanes.map((lane) =>
      lane.paused && lane.ready > 0 && !stopped &&
      `lane "${lane.name}" is paused, and ${counted(lane.ready, "job")} of it ${
        agreeing(lane.ready, "waits", "wait")
      } (sluice pools resume --lane)`
    ),
    override !== undefined && "its bounds are overridden (sluice pools scale --clear ends that)",
  ];
  return texts.filter((text) => text !== false);
}

/** Shows one finding. `pool`: its name, where others are beside it. */
export function showFinding(io: Io, { code, saw, change }: Finding, pool?: string): void {
  line(io, bold(pool === undefined ? code : `${pool}: ${code}`));
  prose(io, `  ${saw}`);
  prose(io, `  Change: ${change}`);
}
