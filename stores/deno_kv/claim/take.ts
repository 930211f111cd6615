/**
 * How a claim takes jobs of a ready part.
 *
 * @module
 */

import { GIVEN_UP, UNTIL_LEASED } from "../../../src/base/dedupe.ts";
import { bury, payloadFor } from "./bury.ts";
import {
  changeLine,
  decode,
  decodeLines,
  encodeLines,
  parseLine,
  takeLines,
} from "../record/codec.ts";
import type { Bytes } from "../record/codec.ts";
import type { FreshPart } from "../commit_participant.ts";
import type { QueueContext } from "../context.ts";
import { expired } from "../end/ended.ts";
import type { Membership } from "../members/membership.ts";
import type { ReadyPart } from "./ready.ts";
import { type HeldPart, KvJob, type StoredJob } from "../record/job.ts";
import type { KvLane } from "../record/lanes.ts";
import type { Transaction } from "../transaction.ts";

/** How many jobs of a lane are wanted, and how many of them do not start at once. */
export type Want = readonly [lane: KvLane, count: number, ahead: number];

/** One claim in the making. */
export interface Claim {
  readonly membership: Membership;
  readonly transaction: Transaction;
  readonly parts: HeldPart[];
  readonly jobs: KvJob[];
  /** What the same commit puts down. */
  readonly fresh: Set<FreshPart>;
  /** What is wanted. */
  readonly wants: readonly Want[];
  /** Own commits when it was gathered. */
  readonly moves: number;
  /** Names of parts that it takes: no other claim does meanwhile. */
  readonly tries: string[];
  /** How many jobs of them, by number of the lane. */
  readonly takes: number[];
  /** Numbers of lanes of which it has left something: what is behind that is not for it. */
  readonly left: Set<number>;
  /** Parts that it changes. */
  taken: number;
  /** Those of them that were there before. */
  checked: number;
  /** True if nothing more is claimable than what is in it. */
  exhausted: boolean;
}

/** What was taken of a part. */
export interface Taken {
  /** How many jobs were leased. */
  readonly leased: number;
  /** True if it has more. */
  readonly isCut: boolean;
}

/** What is taken of a part. */
export interface Take {
  readonly lane: KvLane;
  readonly entry: ReadyPart;
  /** How many jobs at most. */
  readonly room: number;
}

/** Takes the first jobs of a part, up to `room` of them, or fewer where more is too much for a commit. */
export async function takePart(
  context: QueueContext,
  claim: Claim,
  { lane, entry, room }: Take,
): Promise<Taken> {
  const { keys } = context;
  const { transaction, membership } = claim;
  const place = keys.placeIn(entry.key);
  let cut = takeLines(entry.value, room);
  if (entry.versionstamp === null) claim.fresh.delete(entry);
  else {
    claim.checked++;
    transaction.check(entry);
    transaction.delete(entry.key);
  }
  const { dueMs, segment, first, ordinal } = place;
  const startedAtMs = transaction.atMs;
  const { memberId } = membership;
  const number = ++membership.leases;
  const lease = { memberId, number, segment, first, ordinal, dueMs, startedAtMs };
  const text = decode(cut.head);
  const part: HeldPart = {
    membership,
    key: keys.lease(lease),
    progressKey: keys.progress(lease),
    ordinal,
    lane: lane.name,
    lanes: context.lanes,
    segment,
    first,
    dueMs,
    startedAtMs,
    left: 0,
    jobs: [],
    bytes: undefined,
    isAscii: text.length === cut.head.length,
    ended: [],
    hasProgress: false,
  };
  const lines: (string | undefined)[] = text.split("\n");
  let taken = 0;
  let isChanged = false;
  for (const [line, text] of lines.entries()) {
    if (text === undefined || text === "") continue;
    const parsed = parseLine(text);
    if (parsed[3] === undefined) {
      taken++;
      const payload = parsed[2];
      part.jobs.push(new KvJob(part, first + line, parsed, text, payload));
      continue;
    }
    if (taken > 0 && (transaction.isFull || transaction.checksLeft < 3)) { // what it ends takes more than its line
      cut = takeLines(entry.value, taken);
      lines.length = line;
      break;
    }
    taken++;
    const job = { ordinal, segment, index: first + line, dueMs, line: parsed, text };
    const { value, fault } = await payloadFor(context, job, transaction);
    const admitted = fault === undefined
      ? await admit(context, transaction, job)
      : await bury(context, transaction, { job, fault });
    if (admitted !== job) {
      lines[line] = admitted?.text;
      isChanged = true;
    }
    if (admitted === undefined) continue;
    part.jobs.push(new KvJob(part, job.index, admitted.line, admitted.text, value));
  }
  if (cut.rest !== undefined) {
    transaction.setBytes(
      keys.part("r", { ...place, first: place.first + cut.skipped }),
      cut.rest,
    );
  }
  part.left = part.jobs.length;
  transaction.count(ordinal, "r", -taken);
  const isCut = cut.rest !== undefined;
  if (part.left === 0) return { leased: 0, isCut };
  transaction.count(ordinal, "l", part.left);
  part.bytes = isChanged ? encodeLines(lines) : cut.head;
  transaction.setBytes(part.key, part.bytes);
  claim.parts.push(part);
  for (const job of part.jobs) claim.jobs.push(job);
  return { leased: part.left, isCut };
}

/** The job as it may run. `undefined`: it has expired, or has to wait for others of its key. */
async function admit(
  { keys }: QueueContext,
  transaction: Transaction,
  job: StoredJob,
): Promise<StoredJob | undefined> {
  const extra = job.line[3];
  if ((extra?.x ?? Infinity) > transaction.nowMs) {
    const admitted = await transaction.slots.admit(job);
    const { d: dedupeKey, i: keyUntilMs } = admitted?.line[3] ?? {};
    if (keyUntilMs !== UNTIL_LEASED || dedupeKey === undefined) return admitted;
    transaction.delete(keys.of("i", dedupeKey)); // it is this job's: nobody takes it before
    const line = changeLine(admitted!.line, {}, { i: GIVEN_UP });
    return { ...admitted!, line, text: JSON.stringify(line) };
  }
  await transaction.slots.release(job);
  transaction.end(job, expired(job));
  return undefined;
}

/**
 * How many of the first `room` jobs may be taken where only `wanted` of them start now: none of the
 * others has its last attempt, with which it would die unstarted if its process were killed.
 */
export function beforeLast(
  bytes: Bytes,
  { attempts }: KvLane,
  { wanted, room }: { readonly wanted: number; readonly room: number },
): number {
  const jobs = decodeLines(takeLines(bytes, room).head).filter((text) => text !== "");
  const last = jobs.findIndex((text, place) =>
    place >= wanted && !text.startsWith("[0,") && parseLine(text)[0] >= attempts - 1
  );
  return last === -1 ? room : last;
}
