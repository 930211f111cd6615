/**
 * Looks a job up: everything that is known about it, wherever it is.
 *
 * @module
 */

import type { JobRecord } from "../../../src/contract/job.ts";
import { readChunks } from "../add/chunks.ts";
import type { QueueContext } from "../context.ts";
import { recordIn } from "../end/ended.ts";
import { recordOf } from "../record/job.ts";
import { locate, stateOf } from "./locate.ts";

/** Looks a job up. `undefined`: it is not known. */
export async function findRecord(
  context: QueueContext,
  id: string,
): Promise<JobRecord | undefined> {
  const found = await locate(context, id);
  if (found === undefined) return undefined;
  const { pool, lanes, db, keys } = context;
  const job = "ended" in found ? { ...found.ended.id, line: found.ended.row[6] } : found.job;
  if (lanes.nameOf(job.ordinal) === "") await lanes.refresh(db, keys);
  const lane = lanes.nameOf(job.ordinal);
  const isApart = job.line[3]?.b !== undefined;
  const payload = isApart ? (await readChunks(context, job)).value : undefined;
  if ("ended" in found) return recordIn(found.ended, pool, lane, payload);
  const startedAtMs = found.kind === "l" ? found.place.startedAtMs : undefined;
  return recordOf(found.job, { pool, lane, payload, state: stateOf(found.kind), startedAtMs });
}
