/**
 * Ends that are to be handed on to another lane: noted with the commit of the end, in the shared state,
 * where the job that takes them over takes the note away.
 *
 * @module
 */

import type { HandOn } from "../../../src/contract/store.ts";
import { handOnKey } from "../../../src/base/hand_on_key.ts";
import { readChunks } from "../add/chunks.ts";
import type { QueueContext } from "../context.ts";
import {
  byteLength,
  type Bytes,
  decode,
  encode,
  type JobLine,
  type LineExtra,
} from "../record/codec.ts";
import { LARGEST_RECORD } from "./done.ts";
import { parseId } from "../record/id.ts";
import { idOf, type StoredJob } from "../record/job.ts";
import { stateKey, textAt } from "../record/keys.ts";
import type { Transaction } from "../transaction.ts";
import { type End, type EndedJob, parseRow, recordIn, rowText, unreadable } from "./ended.ts";

/** Notes read at once: each may have 64 KiB. */
const BATCH = 50;

/** Notes with the commit that ends a job that it is to be handed on, if its lane does that. */
export function noteHandOn(
  transaction: Transaction,
  { lanes, pool }: QueueContext,
  job: StoredJob,
  end: End,
): void {
  const { state } = end;
  const { handsOn } = lanes.of(job.ordinal) ?? {};
  if (handsOn === undefined || state === "cancelled" || !handsOn.includes(state)) return;
  const text = state === "dead"
    ? rowText(job, end, transaction.atMs)
    : doneText(job, end, transaction.atMs);
  transaction.setBytes(stateKey(handOnKey(pool, idOf(job))), encode(text));
}

/** Of a done job only its result is handed on. There is room for the largest, if not beside any key. */
function doneText(job: StoredJob, end: End, atMs: number): string {
  const { ordinal, segment, index, dueMs, line: [attempts, leases, , { t, k, p, o } = {}] } = job;
  const textWith = (extra: Readonly<LineExtra>): string => {
    const line: JobLine = [attempts, leases, null, extra];
    const row = rowText(
      { ordinal, segment, index, dueMs, line, text: JSON.stringify(line) },
      end,
      atMs,
    );
    return end.resultText === undefined ? row : `${row.slice(0, -1)},${end.resultText}]`;
  };
  // `o` is part of its id, by which the note is found.
  const own = { ...(t === undefined ? {} : { t }), ...(o === undefined ? {} : { o }) };
  const text = textWith({
    ...own,
    ...(k === undefined ? {} : { k }),
    ...(p === undefined ? {} : { p }),
  });
  return byteLength(text) <= LARGEST_RECORD ? text : textWith(own);
}

/** Ends of a pool that are to be handed on, those behind `after`. */
export async function readHandOns(
  context: QueueContext,
  limit: number,
  after?: string,
): Promise<readonly HandOn[]> {
  const { db, pool } = context;
  const prefix = handOnKey(pool, "");
  const start = stateKey(after === undefined ? prefix : `${after}\0`);
  const end = stateKey(`${prefix}\uffff`); // ids are plain letters and digits
  const entries = await db.list<Bytes>({ start, end }, { limit: Math.min(limit, BATCH) });
  return await Promise.all(entries.map((entry) => readHandOn(context, entry)));
}

async function readHandOn(
  context: QueueContext,
  { key: at, value, versionstamp }: Deno.KvEntry<Bytes>,
): Promise<HandOn> {
  const { lanes, pool, db, keys } = context;
  const key = textAt(at, 2);
  const ended = endedIn(key.slice(handOnKey(pool, "").length), value);
  const { id, row: [, state, , , , , line] } = ended;
  if (lanes.nameOf(id.ordinal) === "") await lanes.refresh(db, keys);
  const isApart = state === "dead" && line[3]?.b !== undefined;
  const { value: payload, fault } = isApart
    ? await readChunks(context, { segment: id.segment, index: id.index, line })
    : {};
  return {
    record: recordIn(ended, pool, lanes.nameOf(id.ordinal), payload),
    ...(fault === undefined ? {} : { payloadError: fault }),
    precondition: { key, version: versionstamp, value: undefined },
  };
}

/** Where a note cannot be read, its key tells which job it is about. */
function endedIn(id: string, value: Bytes): EndedJob {
  try {
    const ended = parseRow(decode(value));
    if (ended.row[0] === id) return ended;
  } catch {
    // As below.
  }
  return unreadable(parseId(id) ?? { segment: "", index: 0, ordinal: 0, delayMs: 0 }, 0);
}
