/**
 * `sluice doctor`: what is amiss with a pool, in numbers, and what to change.
 *
 * @module
 */

import type { Command } from "commander";
import type { PoolJson } from "../admin/api.ts";
import type { Finding } from "../diagnose.ts";
import { call, path, type RemoteOptions } from "./client.ts";
import type { Io } from "./io.ts";
import { bold, json, line } from "./print.ts";
import { type Tools, withRemote } from "./verb.ts";

/** Adds the verb. */
export function addDoctor(program: Command, { io }: Tools): void {
  withRemote(program.command("doctor").description("say what is amiss with a pool, and what to do"))
    .argument("<pool>")
    .action((pool: string, options: RemoteOptions) => doctor(io, pool, options));
}

async function doctor(io: Io, name: string, options: RemoteOptions): Promise<void> {
  const { diagnosis } = await call<PoolJson>(io, options, path("pools", name));
  if (options.json) return json(io, diagnosis);
  if (diagnosis.length === 0) return line(io, `${name}: nothing is amiss in its recent past`);
  for (const finding of diagnosis) showFinding(io, finding);
}

/** Shows one finding. */
export function showFinding(io: Io, { code, saw, change }: Finding): void {
  line(io, bold(io, code));
  line(io, `  ${saw}`);
  line(io, `  Change: ${change}`);
}
