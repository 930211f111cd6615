/**
 * `sluice run`: runs a config until it is asked to stop.
 *
 * @module
 */

import type { Command } from "commander";
import { isRecord } from "../config/faults.ts";
import type { Logger } from "../contract/job.ts";
import { jsonLogger, prettyLogger } from "../runtime/log.ts";
import type { AdminSettings } from "../config/settings.ts";
import type { Sluice } from "../runtime/handles.ts";
import { UnknownPoolError } from "../runtime/supervisor.ts";
import { eventLogger } from "./events.ts";
import { CliError } from "./failure.ts";
import { onInterrupt } from "./interrupt.ts";
import type { Io } from "./io.ts";
import { reportOf } from "./report.ts";
import { json, line } from "./print.ts";
import { reloadOn } from "./reload_on.ts";
import { watchStrays } from "./strays.ts";
import { type Tools, wholeNumber, withJson } from "./verb.ts";

interface RunOptions {
  readonly json?: boolean;
  readonly port?: string;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly watch?: boolean;
  readonly pools?: string;
}

/** The admin API of a config that says nothing about it. */
const LOOPBACK: AdminSettings = {
  hostname: "127.0.0.1",
  port: 8787,
  adminToken: undefined,
  viewerToken: undefined,
  allowedHosts: [],
};

/** Adds the verb. */
export function addRun(program: Command, tools: Tools): void {
  withJson(program.command("run").description("run a config until a signal ends it"))
    .argument("<file>")
    .option("--port <number>", "port of the admin API, in place of the config's; 0: a free one")
    .option("--quiet", "log only warnings and errors")
    .option("--verbose", "log every job too")
    .option("--watch", "reload the config when its file changes, as SIGHUP does")
    .option("--pools <names>", "run jobs of these pools only, by commas; the others take jobs")
    .action((file: string, options: RunOptions) => run(file, options, tools));
}

async function run(file: string, options: RunOptions, tools: Tools): Promise<void> {
  const log = logOf(tools.io, options);
  const adminPort = portOf(options.port);
  const unwatch = watchStrays(log);
  try {
    await using sluice = await tools.start(file, {
      log,
      observer: eventLogger(log),
      admin: LOOPBACK,
      adminPort,
      pools: namesIn(options.pools),
    }).catch(refused);
    const { json = false, watch = false } = options;
    const unreload = reloadOn(sluice, { file, watch, json, io: tools.io, log });
    try {
      await runUntilSignal(sluice, options, tools.io);
    } finally {
      await unreload();
    }
  } finally {
    unwatch();
  }
}

/** @throws What was thrown, as a fault of usage if it is one. */
function refused(thrown: unknown): never {
  if (!(thrown instanceof UnknownPoolError)) throw thrown;
  throw new CliError(`--pools: ${thrown.message}`, 2, { cause: thrown });
}

/** Names of pools; an empty text has none. */
function namesIn(text: string | undefined): readonly string[] | undefined {
  return text?.split(",").map((name) => name.trim()).filter((name) => name !== "");
}

async function runUntilSignal(sluice: Sluice, options: RunOptions, io: Io): Promise<void> {
  const signalled = untilSignal(io);
  announce(io, sluice, sluice.adminUrl ?? "", options);
  const unlisten = await signalled;
  if (!options.json) {
    line(io, "Draining; a second signal, half a second later or more, exits at once");
  }
  const report = await sluice.stop();
  unlisten();
  if (options.json) return json(io, { stopped: true, ...report });
  line(io, `Stopped: ${reportOf(report)}`);
  for (const id of report.handedBack) line(io, `  handed back ${id}`);
}

/** Resolves at the first signal, to what ends listening; a later one ends the process at once. */
function untilSignal(io: Io): Promise<() => void> {
  const stopped = Promise.withResolvers<() => void>();
  const unlisten = onInterrupt(io, () => stopped.resolve(unlisten));
  return stopped.promise;
}

function announce(io: Io, sluice: Sluice, url: string, options: RunOptions): void {
  if (options.json) return json(io, { url, pools: sluice.pools.map((pool) => pool.name) });
  const { running = [], taking = [] } = Object.groupBy(
    sluice.pools,
    (pool) => pool.snapshot().worked ? "running" : "taking",
  );
  line(io, `Running ${running.length === 0 ? "no pool" : namesOf(running)}`);
  if (taking.length > 0) line(io, `Not worked here: ${namesOf(taking)}`);
  line(io, `Admin   ${url}`);
  if (sluice.store.plugin?.durable === false) {
    const { name } = sluice.store;
    line(io, `Store   ${name}: jobs are lost when this process ends; a durable store keeps them`);
  }
  const curl = curlOf(sluice, url);
  if (curl !== undefined) line(io, `Try     ${curl}`);
}

function portOf(given: string | undefined): number | undefined {
  const port = wholeNumber("--port", given);
  if (port === undefined || port <= 65_535) return port;
  throw new CliError(`Expected --port to be at most 65535 but received "${given}"`, 2);
}

function namesOf(pools: Sluice["pools"]): string {
  return pools.map((pool) => pool.name).join(", ");
}

/** A command that posts a job to the first lane of the first pool. */
function curlOf(sluice: Sluice, url: string): string | undefined {
  const pool = sluice.pools[0];
  const lane = pool?.settings.lanes[0];
  if (pool === undefined || lane === undefined) return undefined;
  const [type = ""] = pool.settings.handlers.keys();
  const job = { lane: lane.name, ...(type === "" ? {} : { type }), payload: { hello: "world" } };
  const token = tokenVariable(sluice.config);
  const auth = token === undefined ? "" : ` -H "authorization: Bearer $${token}"`;
  const body = JSON.stringify(job).replaceAll("'", "'\\''");
  return `curl -s ${url}/api/pools/${encodeURIComponent(pool.name)}/jobs${auth} ` +
    `-H 'content-type: application/json' -d '${body}'`;
}

/** Variable that holds the admin token, as the config names it. */
function tokenVariable(config: unknown): string | undefined {
  const admin = isRecord(config) ? config["admin"] : undefined;
  const tokens = isRecord(admin) ? admin["tokens"] : undefined;
  const token = isRecord(tokens) ? tokens["admin"] : undefined;
  const name = isRecord(token) ? token["env"] : undefined;
  return typeof name === "string" ? name : undefined;
}

function logOf(io: Io, { quiet, verbose }: RunOptions): Logger {
  const level = quiet ? "error" : verbose ? "debug" : "info";
  const write = (text: string): void => io.err(`${text}\n`);
  return io.terminal
    ? prettyLogger({ level, write, color: io.color })
    : jsonLogger({ level, write });
}
