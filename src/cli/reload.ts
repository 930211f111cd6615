/**
 * `sluice reload`: reloads the config of a running system.
 *
 * @module
 */

import type { Command } from "commander";
import type { ReloadBody } from "../admin/http/wire.ts";
import type { ReloadReport } from "../runtime/handles.ts";
import { printChanges } from "./changes.ts";
import { call, type RemoteOptions } from "./client.ts";
import { CliError } from "./failure.ts";
import { json } from "./print.ts";
import type { Io } from "./io.ts";
import { type Tools, withRemote } from "./verb.ts";

/** Adds the verb. */
export function addReload(program: Command, { io }: Tools): void {
  withRemote(
    program.command("reload").description("reload the config of a running system"),
  )
    .option("--dry-run", "only print what would change")
    .action((options: ReloadVerbOptions) => reload(io, options));
}

interface ReloadVerbOptions extends RemoteOptions {
  readonly dryRun?: boolean;
}

async function reload(io: Io, options: ReloadVerbOptions): Promise<void> {
  const report = await requestReload(io, options, options.dryRun === true ? { dryRun: true } : {});
  if (options.json) json(io, report);
  else printChanges(io, report);
  requireAccepted(report);
}

/** What a running system is asked to load. */
export interface ReloadRequest {
  /** True: it only says what would change. @default {false} */
  readonly dryRun?: boolean;
  /** Instead of its own file. */
  readonly config?: unknown;
}

/** Asks a running system to reload its config. */
export async function requestReload(
  io: Io,
  options: RemoteOptions,
  { dryRun = false, config }: ReloadRequest,
): Promise<ReloadReport> {
  return await call(io, options, "POST /api/reload", "changes", {
    query: { dryRun: dryRun ? 1 : undefined },
    body: { config } as ReloadBody, // the API says what is wrong with it
  });
}

/** @throws {CliError} If a dry run has found what a reload would be refused for. */
export function requireAccepted({ changes }: ReloadReport): void {
  const refused = changes.filter((change) => change.refused).map(({ pointer }) => pointer);
  if (refused.length === 0) return;
  throw new CliError(`A reload would be refused for ${refused.join(", ")}`);
}
