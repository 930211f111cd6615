/**
 * What ends of a leased part in one commit.
 *
 * @module
 */

import type { Settlement } from "../../../src/contract/store.ts";
import { moreEntries } from "./done.ts";
import { type End, resultOf } from "./ended.ts";
import type { HeldPart, KvJob } from "../record/job.ts";
import { PART_LINES, type Transaction } from "../transaction.ts";

/** What ends of one part in one commit. */
export interface PartEnds {
  /** Lines of it, counted from its first. */
  readonly lines: number[];
  /** Those that are just done, and how, if there is more to say. */
  readonly done: KvJob[];
  readonly ends: (End | undefined)[];
  /** Bytes of their lines and of what there is to say. */
  size: number;
}

/** A job that is just done. */
export interface Done {
  /** The job. */
  readonly job: KvJob;
  /** What there is to say about it. */
  readonly end: End | undefined;
}

/** Which lines of a lease have ended. None where that cannot be read: those run again. */
export function endedLines(progress: unknown): ReadonlySet<number> {
  return new Set(progress instanceof Uint8Array ? progress : []);
}

/** Notes what has ended of a part. */
export function progress(part: HeldPart, lines: readonly number[]): void {
  part.left -= lines.length;
  part.ended.push(...lines);
  part.hasProgress = true;
  if (part.left === 0) part.membership.parts.delete(part);
}

/** What ends of the part of a job, that job included. */
export function endsOf(
  transaction: Transaction,
  parts: Map<HeldPart, PartEnds>,
  { part, index }: KvJob,
): PartEnds {
  let ends = parts.get(part);
  if (ends === undefined) {
    ends = { lines: [], done: [], ends: [], size: 0 };
    parts.set(part, ends);
    transaction.reserve(part.key);
    transaction.reserve(part.progressKey, PART_LINES);
  }
  ends.lines.push(index - part.first);
  return ends;
}

/** Notes a job that is just done. `size`: of its record. */
export function addDone(transaction: Transaction, ends: PartEnds, done: Done, size: number): void {
  const { job, end } = done;
  transaction.reserveEntries(job.segment, moreEntries(ends.size, size), size);
  ends.size += size;
  ends.done.push(job);
  ends.ends.push(end);
}

/** How a job was done. `undefined`: there is nothing to say about it. */
export function endOf(job: KvJob, settlement: Settlement): End | undefined {
  const { result, resultError, error } = settlement;
  if (result === undefined && resultError === undefined && error === undefined) return undefined;
  const { attempt, part } = job;
  const { startedAtMs } = part;
  return { state: "done", attempt, startedAtMs, ...resultOf(settlement), error, told: true };
}

/** What has ended of a part: all of it, or some. */
export function writeEnds(
  transaction: Transaction,
  part: HeldPart,
  { lines, done, ends }: PartEnds,
): void {
  const { startedAtMs, ordinal, jobs, first } = part;
  transaction.count(ordinal, "l", -lines.length);
  if (done.length > 0) {
    const order = done.map((_, place) => place).sort((a, b) => done[a]!.index - done[b]!.index);
    transaction.endPlain({
      startedAtMs,
      jobs: order.map((place) => done[place]!),
      ends: order.map((place) => ends[place]),
      // The lines are numbered from the first job: none may be empty before it.
      bytes: done.length === jobs.length && jobs[0]!.index === first ? part.bytes : undefined,
    });
  }
  if (part.left > lines.length) {
    transaction.setBytes(part.progressKey, Uint8Array.from([...part.ended, ...lines]));
    return;
  }
  transaction.delete(part.key);
  if (part.hasProgress) transaction.delete(part.progressKey);
}
