/**
 * Payloads as they are leased: a job whose payload cannot be read is dead, and no handler gets another one.
 *
 * @module
 */

import { readChunks, type ReadPayload } from "../add/chunks.ts";
import { isUnreadable } from "../record/codec.ts";
import type { QueueContext } from "../context.ts";
import { damaged, UNREADABLE_END, UNREADABLE_JOB } from "../end/ended.ts";
import { payloadOf, type StoredJob } from "../record/job.ts";
import type { Transaction } from "../transaction.ts";

/** What to work on. Of a job that has expired it is not read. */
export async function payloadFor(
  context: QueueContext,
  job: StoredJob,
  { nowMs }: Transaction,
): Promise<ReadPayload> {
  const [, , inline, extra] = job.line;
  if (isUnreadable(job.line)) return { fault: UNREADABLE_JOB };
  if (extra?.b === undefined) return { value: payloadOf(inline, extra?.u) };
  return (extra.x ?? Infinity) <= nowMs ? {} : await readChunks(context, job);
}

/** Ends a job whose payload cannot be read. */
export async function bury(
  { counts }: QueueContext,
  transaction: Transaction,
  { job, fault }: { readonly job: StoredJob; readonly fault: string },
): Promise<undefined> {
  counts.doubt(job.ordinal); // whatever broke it may have broken more
  await transaction.slots.release(job);
  const [attempt, , , extra] = job.line;
  transaction.end(job, {
    ...UNREADABLE_END,
    attempt,
    startedAtMs: extra?.s,
    error: damaged(fault),
  });
}
