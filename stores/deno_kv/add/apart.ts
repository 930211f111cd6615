/**
 * A payload that leaves its job's line: beside it and a large result there is no room in one value.
 *
 * @module
 */

import { chunksIn } from "./chunks.ts";
import { changeLine, encode } from "../record/codec.ts";
import { tagIn } from "../record/id.ts";
import { delayOf, type StoredJob } from "../record/job.ts";
import type { PoolKeys } from "../record/keys.ts";
import type { Transaction } from "../transaction.ts";

/** Stores the payload of a job apart, with the commit that ends it. The job as it is written from then on. */
export function setApart(transaction: Transaction, keys: PoolKeys, job: StoredJob): StoredJob {
  const { ordinal, segment, index, dueMs } = job;
  const [attempts, leases, payload, extra = {}] = job.line;
  const chunks = chunksIn(encode(JSON.stringify(payload)));
  for (const [chunk, bytes] of chunks.entries()) {
    transaction.setBytes(keys.of("b", tagIn(segment), segment, index, chunk), bytes);
  }
  const apart = { b: chunks.length, o: delayOf(job) };
  const line = changeLine([attempts, leases, null, extra], {}, apart);
  return { ordinal, segment, index, dueMs, line, text: JSON.stringify(line) };
}
