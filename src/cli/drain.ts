/**
 * `sluice pools drain`: drains a pool, and says each second how far it is.
 *
 * @module
 */

import { delay } from "../base/async.ts";
import { drainingText } from "../explain/reason.ts";
import { call, type RemoteOptions } from "./client.ts";
import type { Io } from "./io.ts";
import { inLine, json, line, note } from "./print.ts";
import { reportOf } from "./report.ts";
import { confirmed, durationMs } from "./verb.ts";

/** Options of the verb. */
export interface DrainOptions extends RemoteOptions {
  readonly yes?: boolean;
  readonly deadline?: string;
}

/** Time between two lines, ms. */
const EVERY_MS = 1_000;

/** Asks, drains, and prints what came of it. How far it is goes to standard error. */
export async function drain(io: Io, pool: string, options: DrainOptions): Promise<void> {
  const deadlineMs = durationMs("--deadline", options.deadline);
  confirmed(
    io,
    options,
    `Drain pool "${pool}"? It accepts no more jobs until the process restarts`,
  );
  const ended = new AbortController();
  const following = options.json ? undefined : follow(io, pool, options, ended.signal);
  const report = await call(io, options, "POST /api/pools/:pool/drain", "waiting", {
    at: { pool },
    body: deadlineMs === undefined ? {} : { deadlineMs },
  }).finally(() => ended.abort());
  await following;
  if (options.json) return json(io, report);
  line(io, `Pool "${pool}" is drained: ${reportOf(report)}`);
}

async function follow(
  io: Io,
  pool: string,
  options: RemoteOptions,
  signal: AbortSignal,
): Promise<void> {
  while (true) {
    await delay(EVERY_MS, { signal }).catch(() => {}); // the end of the drain ends the wait
    if (signal.aborted) return;
    try {
      const shown = await call(io, options, "GET /api/pools/:pool", "lanes", {
        at: { pool },
        signal,
      });
      const text = drainingText(shown);
      if (text !== undefined && !signal.aborted) note(io, inLine(text));
    } catch {
      // The answer to the drain itself says what is wrong.
    }
  }
}
