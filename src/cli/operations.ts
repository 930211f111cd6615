/**
 * `sluice operations`: bulk work that runs, or has ended.
 *
 * @module
 */

import type { Command } from "commander";
import type { OperationJson } from "../admin/http/wire.ts";
import { isoTime } from "../time/iso_time.ts";
import { call, type RemoteOptions } from "./client.ts";
import { type Column, showTable } from "./fold.ts";
import type { Io } from "./io.ts";
import { json, line } from "./print.ts";
import { type Tools, withRemote } from "./verb.ts";

const COLUMNS: readonly Column<OperationJson>[] = [
  { title: "ID", rank: 0, cell: ({ id }) => id },
  { title: "POOL", rank: 0, cell: ({ pool }) => pool },
  { title: "ACTION", rank: 0, cell: ({ action }) => action },
  { title: "STATUS", rank: 0, cell: ({ status }) => status },
  { title: "SEEN", rank: 2, cell: ({ seen }) => seen },
  { title: "CHANGED", rank: 1, cell: ({ changed }) => changed },
  { title: "STARTED", rank: 3, cell: ({ startedAtMs }) => isoTime(startedAtMs) },
];

/** Adds the verb. */
export function addOperations(program: Command, { io }: Tools): void {
  const operations = program.command("operations").description(
    "list bulk work, look at one, cancel it",
  );
  withRemote(
    operations.command("ls", { isDefault: true }).description("list operations, newest first"),
  ).action((options: RemoteOptions) => list(io, options));
  withRemote(operations.command("show").description("show one operation").argument("<id>"))
    .action((id: string, options: RemoteOptions) => one(io, "GET", id, options));
  withRemote(
    operations.command("cancel").description("cancel one; what it has done stays").argument("<id>"),
  ).action((id: string, options: RemoteOptions) => one(io, "DELETE", id, options));
}

async function list(io: Io, options: RemoteOptions): Promise<void> {
  const operations = await call(io, options, "GET /api/operations", "list", {});
  if (options.json) return json(io, operations);
  if (operations.length === 0) return line(io, "No operations");
  showTable(io, COLUMNS, operations);
}

async function one(
  io: Io,
  method: "GET" | "DELETE",
  id: string,
  options: RemoteOptions,
): Promise<void> {
  const found = await call(io, options, `${method} /api/operations/:id`, "action", { at: { id } });
  if (options.json) return json(io, found);
  showTable(io, COLUMNS, [found]);
}
