/**
 * Adds what needs a look first: jobs with a dedupe key, with a limited key, with a claim, or with a large
 * payload.
 *
 * @module
 */

import type { Added, JobEntry } from "../../../src/store.ts";
import { ChangeStep } from "./change_step.ts";
import { chunksOf, dropChunks, writeChunks } from "./chunks.ts";
import { lineOf, parseLine } from "./codec.ts";
import type { QueueContext } from "./context.ts";
import { KvAdded, type StoredJob } from "./job.ts";
import { stateKey } from "./keys.ts";
import type { KvLane } from "./lanes.ts";
import { locate } from "./locate.ts";
import { type Expected, Step } from "./step.ts";
import type { Term } from "./term.ts";
import type { Ticket } from "./ticket.ts";

/** How often others may be quicker in a row. */
const MOST_TRIES = 50;

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
  /** Bytes of the payload, if it is stored apart; 0 if not. */
  readonly apart: number;
  /** When it was given, whole ms. */
  readonly atMs: number;
  /** True if it is not claimable at once. */
  readonly isDelayed: boolean;
  /** Told what becomes of it. */
  readonly ticket: Ticket<Added>;
  /** Its place among the entries of the ticket. */
  readonly place: number;
}

/** Who owns a dedupe key: id, and when that expires; 0 if never. */
export type Owner = readonly [id: string, expiresAtMs: number];

/** A job with its place. `chunk`: what its commit depends on once its payload is stored apart. */
interface Ready {
  readonly item: Item;
  readonly job: StoredJob;
  readonly term: Term;
  chunk: Expected | undefined;
  readonly added: KvAdded;
}

/** Adds jobs, and answers or fails each. */
export async function addCarefully(context: QueueContext, items: readonly Item[]): Promise<void> {
  let most = MOST_JOBS;
  for (let from = 0; from < items.length;) {
    const some = items.slice(from, from + most);
    try {
      const done = await context.gate.run(() => addSome(context, some));
      from += done;
      most = Math.min(MOST_JOBS, 2 * done);
    } catch (thrown) {
      for (const { ticket, place } of some) ticket.fail(place, thrown);
      from += some.length;
    }
  }
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
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      // What is stored apart is so in the name of a worker: with a lost term it is gone.
      ready = ready.map((one) => isOutdated(context, one) ? prepare(context, one.item) : one);
      const done = await attempt(context, ready);
      if (done > 0) {
        await leave(done);
        return done;
      }
      await leave(Math.max(1, ready.length >> 1)); // others are less often quicker where fewer keys count
      await context.db.pause(tries);
    }
    await leave(0);
  } catch (thrown) { // of what has been stored apart nothing is known
    if (items.some(({ apart }) => apart > 0)) {
      for (const term of [context.holder.term, ...ready.map(({ term }) => term)]) {
        term.strays = true;
      }
    }
    throw thrown;
  }
  const [{ ticket, place }] = items as readonly [Item]; // the one that was left in the end
  ticket.fail(place, new Error("The job could not be stored: others change its keys all the time"));
  return 1;
}

function prepare(context: QueueContext, item: Item): Ready {
  const { lane, entry, payload, apart, atMs, isDelayed } = item;
  const { term } = context.holder;
  const segment = term.names.next(atMs);
  const delayMs = isDelayed ? Math.ceil(entry.dueAtMs) - atMs : 0;
  const text = apart === 0
    ? lineOf(entry, payload)
    : lineOf(entry, "null", { chunks: chunksOf(apart), delayMs });
  const { ordinal } = lane;
  const line = parseLine(text);
  const job = { ordinal, segment, index: 0, dueMs: atMs + delayMs, line, text };
  return {
    item,
    job,
    term,
    chunk: undefined,
    added: new KvAdded(segment, ordinal, 0, delayMs, context.fates.total),
  };
}

/** Whether the payload of a job was to be stored in the name of a worker that is dead by now. */
function isOutdated({ holder }: QueueContext, { item, term }: Ready): boolean {
  return item.apart > 0 && term !== holder.term;
}

/** One try. 0: a check failed, or an owner had to be ended first. */
async function attempt(context: QueueContext, ready: readonly Ready[]): Promise<number> {
  const { db, keys } = context;
  const step = new Step(context, ready[0]!.item.atMs);
  const owners = new Map<string, string>();
  const claimed = new Set<string>();
  const answers: (() => void)[] = [];
  let changes = false;
  for (const one of ready) {
    const { item, job, added } = one;
    if (step.isFull || step.checksLeft < 4) break;
    const { dedupeKey, expiresAtMs, claim } = item.entry;
    const claimable = claim === undefined ? undefined : await db.get(stateKey(claim.key));
    if (claim !== undefined && claimable !== undefined) {
      const isLost = claimable.versionstamp !== (claim.version ?? null);
      if (isLost || claimed.has(claim.key)) {
        if (one.chunk !== undefined) await dropChunks(context, job);
        answers.push(() => item.ticket.answer(item.place, { id: "", duplicate: true }));
        continue;
      }
    }
    if (dedupeKey !== undefined) {
      let ownerId = owners.get(dedupeKey);
      if (ownerId === undefined) {
        const key = keys.of("i", dedupeKey);
        let { entry, owner } = await ownerOf(context, key, step.nowMs);
        if (owner === "ended") ({ entry, owner } = await ownerOf(context, key, step.nowMs));
        if (owner === "ended") return 0; // others are at it too
        ownerId = owner;
        if (owner === undefined) {
          step.check(entry);
          step.set(entry.key, [added.id, Number.isFinite(expiresAtMs) ? expiresAtMs : 0]);
          owners.set(dedupeKey, added.id);
        }
      }
      if (ownerId !== undefined) {
        const id = ownerId;
        if (one.chunk !== undefined) await dropChunks(context, job);
        answers.push(() => item.ticket.answer(item.place, { id, duplicate: true }));
        continue;
      }
    }
    changes = true;
    if (claim !== undefined && claimable !== undefined) {
      claimed.add(claim.key);
      step.check(claimable);
      step.set(claimable.key, claim.value);
    }
    if (item.apart > 0) {
      one.chunk ??= await writeChunks(
        context,
        one.term.fence,
        job.segment,
        item.payload ?? "null",
      );
      if (one.chunk === undefined) return 0;
      step.check(one.chunk);
    }
    if (item.isDelayed) step.put("z", job, job.dueMs);
    else await step.places.enter(step, job, job.dueMs);
    answers.push(() => item.ticket.answer(item.place, added));
  }
  step.signals = true;
  if (changes && !await step.commit()) return 0;
  for (const answer of answers) answer();
  return answers.length;
}

/** What stands at a dedupe key, and who owns it. */
async function ownerOf(
  context: QueueContext,
  key: Deno.KvKey,
  nowMs: number,
): Promise<{ readonly entry: Deno.KvEntryMaybe<Owner>; readonly owner: string | undefined }> {
  const entry = await context.db.get<Owner>(key);
  return { entry, owner: await ownerIn(context, entry, nowMs) };
}

/**
 * Who owns a dedupe key. `undefined`: nobody does. `"ended"`: someone did who had expired and has been
 * ended just now.
 */
async function ownerIn(
  context: QueueContext,
  { value }: Deno.KvEntryMaybe<Owner>,
  nowMs: number,
): Promise<string | undefined> {
  if (value === null) return undefined;
  const [id, expiresAtMs] = value;
  if (expiresAtMs === 0 || expiresAtMs > nowMs) return id;
  const found = await locate(context, id);
  if (found === undefined || "ended" in found) return undefined;
  if (found.kind === "l") return id;
  const step = new ChangeStep(context, nowMs);
  step.end(found, "expired");
  await step.commit(); // refused: others have ended it
  return "ended";
}
