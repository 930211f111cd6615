/**
 * `sluice check`: every fault of a config, with its place.
 *
 * @module
 */

import type { Command } from "commander";
import { ConfigError, formatFault } from "../errors.ts";
import type { Settings } from "../settings.ts";
import { counted, json, line } from "./print.ts";
import { type Tools, withJson } from "./verb.ts";

/** Adds the verb. */
export function addCheck(program: Command, tools: Tools): void {
  withJson(program.command("check").description("find every fault of a config"))
    .argument("<file>")
    .action((file: string, options: { readonly json?: boolean }) => check(file, options, tools));
}

async function check(
  file: string,
  options: { readonly json?: boolean },
  { io, resolve }: Tools,
): Promise<void> {
  let settings: Settings;
  try {
    settings = await resolve(file);
  } catch (thrown) {
    if (options.json && thrown instanceof ConfigError) {
      json(io, {
        ok: false,
        faults: thrown.faults.map(({ pointer, message, file, line, column }) => ({
          pointer,
          message,
          file,
          line,
          column,
        })),
      });
    }
    throw thrown;
  }
  const lanes = settings.pools.reduce((sum, pool) => sum + pool.lanes.length, 0);
  if (options.json) return json(io, { ok: true, pools: settings.pools.length, lanes, faults: [] });
  line(
    io,
    `${file}: ${counted(settings.pools.length, "pool")}, ${counted(lanes, "lane")}, no faults`,
  );
}

/** All faults of a config, one a line. */
export function faultsOf(error: ConfigError): string {
  return error.faults.map((fault) => `${formatFault(fault)}\n`).join("");
}
