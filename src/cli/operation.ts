/**
 * Long work on many jobs: starts it, shows how far it is, cancels it at a signal.
 *
 * @module
 */

import { counted, grouped } from "../base/format.ts";
import type { OperationJson, OperationRequest } from "../admin/http/wire.ts";
import { delay } from "../base/async.ts";
import { call, type RemoteOptions } from "./client.ts";
import { CliError, INTERRUPTED } from "./failure.ts";
import { onInterrupt } from "./interrupt.ts";
import type { Io } from "./io.ts";
import { json, line } from "./print.ts";
import { progressBar } from "./progress.ts";

/** Time between looks: short at first, so that short work ends at once. */
const FIRST_LOOK_MS = 20;
const LATER_LOOK_MS = 500;

const DONE: Readonly<Record<OperationJson["action"], string>> = {
  retry: "made ready again",
  discard: "forgotten",
  purge: "cancelled",
};

/**
 * Does it and prints what came of it.
 *
 * @throws {CliError} If it failed, or was cancelled: by a signal here, or by someone else.
 */
export async function operate(
  io: Io,
  pool: string,
  request: OperationRequest,
  options: RemoteOptions,
): Promise<void> {
  const started = await start(io, pool, request, options);
  const { ended, interrupted } = await follow(io, started, options);
  if (options.json) json(io, ended);
  else if (ended.matched === 0 && ended.status === "done") {
    line(io, `Pool "${pool}" has no such jobs`);
  } else line(io, `Pool "${pool}": ${sentenceOf(ended)}`);
  if (ended.status === "failed") {
    throw new CliError("The operation failed: the log of the system says why");
  }
  if (ended.status !== "cancelled") return;
  if (interrupted) throw new CliError("Interrupted: the operation was cancelled", INTERRUPTED);
  throw new CliError("Another user cancelled the operation, or the system is stopping");
}

async function start(
  io: Io,
  pool: string,
  request: OperationRequest,
  options: RemoteOptions,
): Promise<OperationJson> {
  const route = "POST /api/pools/:pool/operations";
  return await call(io, options, route, "action", { at: { pool }, body: request });
}

/** Looks until it has ended. The first signal cancels it. */
async function follow(
  io: Io,
  started: OperationJson,
  options: RemoteOptions,
): Promise<{ readonly ended: OperationJson; readonly interrupted: boolean }> {
  const stop = new AbortController();
  const unlisten = onInterrupt(io, () => stop.abort());
  const bar = progressBar(io);
  let seen = started;
  try {
    for (let waitMs = FIRST_LOOK_MS; seen.status === "running"; waitMs *= 2) {
      const lookMs = Math.min(waitMs, LATER_LOOK_MS);
      await delay(lookMs, { signal: stop.signal }).catch(() => {}); // a signal ends the wait
      const route = stop.signal.aborted ? "DELETE /api/operations/:id" : "GET /api/operations/:id";
      seen = await call(io, options, route, "action", { at: { id: started.id } });
      if (seen.total === undefined) {
        bar.count(`${grouped(seen.seen)} looked at, ${grouped(seen.changed)} changed`);
      } else if (seen.total > 0) bar.show(Math.min(1, seen.seen / seen.total));
    }
  } finally {
    bar.clear();
    unlisten();
  }
  return { ended: seen, interrupted: stop.signal.aborted };
}

function sentenceOf({ action, changed, matched }: OperationJson): string {
  const others = matched - changed;
  const rest = others === 0 ? "" : `; ${counted(others, "other")} had changed meanwhile`;
  return `${counted(changed, "job")} ${DONE[action]}${rest}`;
}
