/**
 * `sluice plugins`: what may stand after `use`.
 *
 * @module
 */

import type { Command } from "commander";
import { call, type RemoteOptions } from "./client.ts";
import type { Io } from "./io.ts";
import { json, line, table } from "./print.ts";
import { type Tools, withRemote } from "./verb.ts";

/** Adds the verb. */
export function addPlugins(program: Command, tools: Tools): void {
  withRemote(program.command("plugins").description("list plugins that a config may name"))
    .option("--running", "list those that a running system uses instead")
    .action((options: RemoteOptions & { readonly running?: boolean }) =>
      options.running ? listRunning(tools.io, options) : listBuiltins(tools, options)
    );
}

function listBuiltins({ io, builtins }: Tools, options: RemoteOptions): void {
  const sorted = [...builtins].sort((a, b) =>
    a.kind.localeCompare(b.kind) || a.name.localeCompare(b.name)
  );
  if (options.json) return json(io, sorted.map(({ kind, name }) => ({ kind, name })));
  table(io, ["KIND", "NAME"], sorted.map(({ kind, name }) => [kind, name]));
  line(io);
  line(io, 'Your own: "use": "./file.ts#name"; "sluice schema" has the options of each');
}

async function listRunning(io: Io, options: RemoteOptions): Promise<void> {
  const plugins = await call(io, options, "GET /api/plugins", "list", {});
  if (options.json) return json(io, plugins);
  table(
    io,
    ["POOL", "KIND", "NAME", "OPTIONS"],
    plugins.map((plugin) => [
      plugin.pool,
      plugin.kind,
      plugin.type === undefined ? plugin.name : `${plugin.name} (${plugin.type})`,
      plugin.with === undefined ? "" : JSON.stringify(plugin.with),
    ]),
  );
}
