/**
 * Adds what needs a look first: jobs with a dedupe or idempotency key, with a limited key, with a claim, or with a large
 * payload.
 *
 * @module
 */

import { keyUntil, replaces } from "../../../src/base/dedupe.ts";
import type { Added, JobEntry } from "../../../src/contract/store.ts";
import { checksum, chunksOf, dropChunks, writeChunks } from "./chunks.ts";
import { encode, lineOf, parseLine } from "../record/codec.ts";
import type { QueueContext } from "../context.ts";
import { KvAdded, type StoredJob } from "../record/job.ts";
import { stateKey } from "../record/keys.ts";
import type { KvLane } from "../record/lanes.ts";
import { answerOf, type Name, namesOf, own, type Owner } from "../limit/names.ts";
import { ownerOf } from "../limit/owners.ts";
import { Repeats } from "./repeats.ts";
import { Transaction } from "../transaction.ts";
import type { Membership } from "../members/membership.ts";
import type { BatchAnswers } from "./batch_answers.ts";
import { PATIENCE_MS } from "../io/db.ts";
import { type Expected, TooLarge } from "../io/atomic_operation.ts";

/** Most jobs looked at for one commit. */
const MOST_JOBS = 90;

/** A job on its way into the database. */
export interface Item {
  /** Its lane. */
  readonly lane: KvLane;
  /** What was given. */
  readonly entry: JobEntry;
  /** JSON of its payload. `undefined`: it has none. */
  readonly payload: string | undefined;
  /** Bytes of the payload. */
  readonly bytes: number;
  /** The same if it is stored apart; 0 if not. */
  readonly apart: number;
  /** When it was given, whole ms. */
  readonly atMs: number;
  /** True if it is not claimable at once. */
  readonly isDelayed: boolean;
  /** True: it is stored in no case. That it would be is answered with an empty id. */
  readonly isLook: boolean;
  /** Told what becomes of it. */
  readonly answers: BatchAnswers<Added>;
  /** Its place among the entries of the ticket. */
  readonly place: number;
}

/** A job with its place. `chunk`: what its commit depends on once its payload is stored apart. */
interface Ready {
  readonly item: Item;
  readonly job: StoredJob;
  readonly membership: Membership;
  chunk: Expected | undefined;
  readonly added: KvAdded;
}

/** Adds jobs, and answers or fails each. */
export async function addConditionally(
  context: QueueContext,
  items: readonly Item[],
): Promise<void> {
  let most = MOST_JOBS;
  for (let from = 0; from < items.length;) {
    const some = items.slice(from, from + most);
    try {
      const done = await context.mutex.run(() => addSome(context, some));
      from += done;
      most = Math.min(MOST_JOBS, 2 * done);
    } catch (thrown) {
      if (thrown instanceof TooLarge && some.length > 1) {
        most = 1; // which of them it is
        continue;
      }
      for (const item of some) failItem(item, thrown);
      from += some.length;
    }
  }
}

/** Tells that a job is not stored: the database failed, or it does not take this one. */
export function failItem({ answers, place }: Item, thrown: unknown): void {
  if (!(thrown instanceof TooLarge)) {
    answers.fail(place, thrown);
    return;
  }
  const message = `The job cannot be stored: ${thrown.message}`;
  answers.answer(place, { id: "", duplicate: false, error: new RangeError(message) });
}

/** Adds or fails the first of some jobs, as many as fit into a commit. How many those were. */
async function addSome(context: QueueContext, items: readonly Item[]): Promise<number> {
  let ready = items.map((item) => prepare(context, item));
  const leave = async (count: number): Promise<void> => {
    for (const { chunk, job } of ready.splice(count)) {
      if (chunk !== undefined) await dropChunks(context, job);
    }
  };
  try {
    const done = await context.db.retry(async () => {
      // What is stored apart is so in the name of a member: with a lost membership it is gone.
      ready = ready.map((one) => isOutdated(context, one) ? prepare(context, one.item) : one);
      const done = await attempt(context, ready);
      await leave(done ?? Math.max(1, ready.length >> 1)); // others are less often quicker where fewer keys count
      return done;
    });
    if (done !== undefined) return done;
    await leave(0);
    const [left] = items as readonly [Item]; // the one that was left in the end
    left.answers.fail(left.place, await refusal(context, left));
    return 1;
  } catch (thrown) { // of what has been stored apart nothing is known
    if (items.some(({ apart }) => apart > 0)) {
      for (
        const membership of [
          context.member.membership,
          ...ready.map(({ membership }) => membership),
        ]
      ) {
        membership.strays = true;
      }
    }
    throw thrown;
  }
}

/** Why a job could not be stored however often that was tried. */
async function refusal({ db, member }: QueueContext, { apart }: Item): Promise<Error> {
  const isLost = apart > 0 && !await member.membership.isAlive(db);
  const why = isLost
    ? "this process was declared dead, and has not rejoined yet"
    : `others changed its keys for ${PATIENCE_MS / 1000} s`;
  return new Error(`The job could not be stored: ${why}`);
}

function prepare(context: QueueContext, item: Item): Ready {
  const { lane, entry, payload, apart, atMs, isDelayed } = item;
  const { membership } = context.member;
  const segment = membership.names.next(atMs);
  const keyUntilMs = keyUntil(entry, atMs);
  const delayMs = isDelayed ? Math.ceil(entry.dueAtMs) - atMs : 0;
  const note = apart === 0
    ? undefined
    : { chunks: chunksOf(apart), sum: checksum(encode(payload!)), delayMs };
  const text = lineOf(entry, apart === 0 ? payload : "null", note, keyUntilMs);
  const { ordinal } = lane;
  const line = parseLine(text);
  const job = { ordinal, segment, index: 0, dueMs: atMs + delayMs, line, text };
  return {
    item,
    job,
    membership,
    chunk: undefined,
    added: new KvAdded(segment, ordinal, 0, delayMs, context.completions.total),
  };
}

/** Whether the payload of a job was to be stored in the name of a member that is dead by now. */
function isOutdated({ member }: QueueContext, { item, membership }: Ready): boolean {
  return item.apart > 0 && membership !== member.membership;
}

/** One try: how many are done. `undefined`: a check failed. */
async function attempt(
  context: QueueContext,
  ready: readonly Ready[],
): Promise<number | undefined> {
  const { db } = context;
  const transaction = new Transaction(context, ready[0]!.item.atMs);
  const owned = new Map<string, Owner>();
  const claimed = new Set<string>();
  const repeats = new Repeats(context, transaction);
  const answers: (() => void)[] = [];
  let changes = false;
  for (const one of ready) {
    const { item, job, added } = one;
    if (transaction.isFull || transaction.checksLeft < 5 || repeats.isAlone) break;
    const { precondition: claim } = item.entry;
    const claimable = claim === undefined ? undefined : await db.get(stateKey(claim.key));
    if (claim !== undefined && claimable !== undefined) {
      const isLost = claimable.versionstamp !== (claim.version ?? null);
      if (isLost || claimed.has(claim.key)) {
        if (one.chunk !== undefined) await dropChunks(context, job);
        answers.push(() => item.answers.answer(item.place, { id: "", duplicate: true }));
        continue;
      }
    }
    const known = await nameJob(context, transaction, one, owned);
    if (known !== undefined) {
      const { answer, repeated } = known;
      if (repeated === "new") break; // it is stored first
      const isFirst = answers.length === 0;
      const how = repeated === undefined ? "kept" : await repeats.note(item, repeated, isFirst);
      if (how === "lost") return undefined;
      if (how === "alone") break;
      if (one.chunk !== undefined) await dropChunks(context, job);
      answers.push(() => item.answers.answer(item.place, answer));
      continue;
    }
    changes = true;
    if (claim !== undefined && claimable !== undefined) {
      claimed.add(claim.key);
      transaction.check(claimable);
      if (claim.value === undefined) transaction.delete(claimable.key);
      else transaction.set(claimable.key, claim.value, sizeOfValue(claim.value));
    }
    if (item.apart > 0) {
      one.chunk ??= await writeChunks(
        context,
        one.membership.fence,
        job.segment,
        item.payload ?? "null",
      );
      if (one.chunk === undefined) return undefined;
      transaction.check(one.chunk);
    }
    if (item.isDelayed) transaction.put("z", job, job.dueMs);
    else await transaction.slots.enter(job, job.dueMs);
    answers.push(() => item.answers.answer(item.place, added));
  }
  repeats.write();
  transaction.signals = true;
  if ((changes || repeats.any) && !await transaction.commit()) return undefined;
  for (const answer of answers) answer();
  return answers.length;
}

/** Bytes of a value as the database keeps it, no fewer than there are. */
function sizeOfValue(value: unknown): number {
  return 64 + 3 * (JSON.stringify(value)?.length ?? 0);
}

/** An entry one of whose names is taken. */
interface Known {
  readonly answer: Added;
  /**
   * Who has its dedupe key, where it replaces that one's payload. `new`: a job of the same commit.
   * `undefined`: it replaces none.
   */
  readonly repeated?: Deno.KvEntryMaybe<Owner> | "new" | undefined;
}

/**
 * Gives a job its names with the commit, unless one of them is taken. `owned`: what this commit gives
 * already.
 */
async function nameJob(
  context: QueueContext,
  transaction: Transaction,
  { item: { entry, isLook, atMs }, added }: Ready,
  owned: Map<string, Owner>,
): Promise<Known | undefined> {
  const free: [Name, Deno.KvEntryMaybe<Owner>][] = [];
  for (const name of namesOf(entry)) {
    const isRepeat = replaces(entry) && name.key === entry.dedupeKey;
    const here = owned.get(name.key);
    if (here !== undefined) {
      return { answer: answerOf(name, here), repeated: isRepeat ? "new" : undefined };
    }
    const there = await ownerOf(context, name, transaction.nowMs);
    if (there.owner !== undefined) {
      const answer = answerOf(name, there.owner);
      return { answer, repeated: isRepeat ? there.entry : undefined };
    }
    free.push([name, there.entry]);
  }
  if (isLook) return { answer: { id: "", duplicate: false } };
  const job = { id: added.id, expiresAtMs: entry.expiresAtMs, keyUntilMs: keyUntil(entry, atMs) };
  for (const [name, at] of free) owned.set(name.key, own(transaction, at, name, job));
}
