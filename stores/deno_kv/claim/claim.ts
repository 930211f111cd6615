/**
 * Claims: due jobs become leases of this process, whole parts of segments at a time.
 *
 * @module
 */

import type { StorePrefetch, Want } from "./store_prefetch.ts";
import { ContentionBackoff } from "./contention_backoff.ts";
import { bury, payloadFor } from "./bury.ts";
import { type Bytes, decode, decodeLines, encodeLines } from "../record/codec.ts";
import { parseLine, takeLines } from "../record/codec.ts";
import type { QueueContext } from "../context.ts";
import { expired } from "../end/ended.ts";
import { type HeldPart, KvJob, type StoredJob } from "../record/job.ts";
import { numberAt } from "../record/keys.ts";
import type { KvLane } from "../record/lanes.ts";
import { expireIn, hasExpired, promote } from "./promote.ts";
import { type ReadyPart, ReadyParts } from "./ready.ts";
import type { CommitParticipant, FreshPart } from "../commit_participant.ts";
import { Transaction } from "../transaction.ts";
import type { Membership } from "../members/membership.ts";

/** How often others may be quicker in a row. */
const MOST_TRIES = 30;

/** Parts of which all jobs have expired that a claim looks behind, at most. */
const MOST_PASSED = 60;

/** Parts whose expired jobs end with a claim that has leased nothing, at most. */
const MOST_EXPIRED = 2;

/** Commits of a claim that only end expired jobs, at most: it is asked for again. */
const MOST_BARREN = 2;

/** A claim of more than this has a commit of its own: read while the ends before it are stored. */
const MOST_RIDERS = 128;

/** One claim in the making. */
interface Claim {
  readonly membership: Membership;
  readonly transaction: Transaction;
  readonly parts: HeldPart[];
  readonly jobs: KvJob[];
  /** What the same commit puts down. */
  readonly fresh: Set<FreshPart>;
  /** How many are taken beyond what is wanted, by number of the lane. */
  readonly more: readonly number[];
  /** Parts that it changes. */
  taken: number;
  /** Those of them that were there before. */
  checked: number;
  /** True if nothing more is claimable than what is in it. */
  exhausted: boolean;
}

/** What was taken of a part. */
interface Taken {
  /** How many jobs were leased. */
  readonly leased: number;
  /** True if it has more. */
  readonly isCut: boolean;
}

/** A claim that may go with ends of jobs. */
export interface ClaimRider extends CommitParticipant {
  /** What was leased. `undefined`: it has not gone with any, and is to be made alone. */
  readonly jobs: Promise<readonly KvJob[] | undefined>;
}

/** Leases jobs. One call at a time. */
export class Claims {
  readonly #context: QueueContext;
  readonly #ready: ReadyParts;
  readonly #backoff: ContentionBackoff;
  readonly #prefetch: StorePrefetch;

  /** Claims for one queue. `ahead`: what is leased beyond what is wanted. */
  constructor(context: QueueContext, prefetch: StorePrefetch) {
    this.#context = context;
    this.#prefetch = prefetch;
    this.#backoff = new ContentionBackoff(context.db.random);
    this.#ready = new ReadyParts(context, this.#backoff);
  }

  /** Leases up to `wants[lane]` jobs of each lane. Empty once this member was declared dead, until its pool knows. */
  async lease(wants: readonly Want[], nowMs: number): Promise<readonly KvJob[]> {
    const { member, counts, db } = this.#context;
    for (const [lane, want] of wants) {
      if (want > 0 && counts.isDue(lane.ordinal, nowMs)) await promote(this.#context, lane, nowMs);
    }
    if (member.untold) return [];
    const { membership } = member;
    let barren = 0;
    for (let tries = 0; tries < MOST_TRIES && !membership.lost;) {
      const moves = counts.moves;
      const transaction = new Transaction(this.#context, nowMs);
      transaction.check(membership.fence);
      const claim = await this.#gather(membership, transaction, wants);
      if (claim.taken === 0) {
        this.#backoff.settles();
        this.#note(wants, claim, moves);
        return [];
      }
      if (!await transaction.commit()) {
        counts.forgetShelves();
        if (!member.alone) this.#backoff.steps(member.peers);
        if (await membership.isAlive(db)) await db.pause(tries++);
      } else {
        this.#backoff.settles();
        if (membership.lost) return []; // declared dead meanwhile: they are others' by now, or will be
        this.#keep(wants, claim, moves);
        if (claim.jobs.length > 0) return claim.jobs;
      }
      if (claim.jobs.length === 0 && ++barren === MOST_BARREN) break; // what is wanted by now comes first
    }
    if (barren > 0) this.#context.listener.wake();
    return [];
  }

  /**
   * A small claim that goes with ends of jobs. `undefined`: it has to be made alone, because delayed jobs
   * are to be moved up first, or because others claim too, at whose claims the ends would fail with it.
   */
  participant(wants: readonly Want[], nowMs: number): ClaimRider | undefined {
    const { member, counts } = this.#context;
    let sum = 0;
    for (const [lane, want] of wants) {
      if (counts.isDue(lane.ordinal, nowMs)) return undefined;
      sum += want;
    }
    if (!member.alone || member.untold || sum > MOST_RIDERS) return undefined;
    const { promise, resolve } = Promise.withResolvers<readonly KvJob[] | undefined>();
    let claim: Claim | undefined;
    let moves = 0;
    return {
      nowMs,
      jobs: promise,
      board: async (transaction, membership, fresh) => {
        if (membership !== member.membership || member.untold) return;
        moves = counts.moves;
        const more = this.#prefetch.more(wants, transaction, membership);
        const gathered = await this.#gather(membership, transaction, wants, fresh, more);
        if (gathered.taken > 0) {
          claim = gathered;
          return;
        }
        if (!gathered.exhausted) return; // there was no room for it: it is made alone
        this.#note(wants, gathered, moves);
        resolve([]);
      },
      arrive: () => {
        if (claim === undefined) return;
        const { membership, jobs } = claim;
        if (!membership.lost) this.#keep(wants, claim, moves);
        claim = undefined;
        if (membership.lost) resolve([]);
        else if (jobs.length > 0) resolve(this.#prefetch.sort(jobs, wants));
      },
      leave: () => {
        if ((claim?.checked ?? 0) > 0) counts.forgetShelves(); // what it was to be made of may be gone
        resolve(undefined);
      },
    };
  }

  /** Holds what a commit has leased. `moves`: own commits when it was gathered. */
  #keep(wants: readonly Want[], claim: Claim, moves: number): void {
    for (const part of claim.parts) claim.membership.parts.add(part);
    this.#context.counts.leased(claim.parts);
    this.#note(wants, claim, moves + 1);
  }

  async #gather(
    membership: Membership,
    transaction: Transaction,
    wants: readonly Want[],
    fresh: Set<FreshPart> = new Set(),
    more: readonly number[] = [],
  ): Promise<Claim> {
    const claim: Claim = {
      membership,
      transaction,
      parts: [],
      jobs: [],
      fresh,
      more,
      taken: 0,
      checked: 0,
      exhausted: true,
    };
    for (const [lane, want] of wants) {
      if (want > 0) await this.#gatherLane(claim, lane, want);
    }
    return claim;
  }

  async #gatherLane(claim: Claim, lane: KvLane, want: number): Promise<void> {
    const { transaction } = claim;
    const most = want + (claim.more[lane.ordinal] ?? 0);
    let room = most;
    let parts = 0;
    const passed: Deno.KvEntry<Bytes>[] = [];
    for await (const entry of this.#entries(claim, lane.ordinal, most)) {
      if (numberAt(entry.key, 5) > transaction.atMs + 0.5) break; // by the clock of another process
      if (transaction.isFull || transaction.checksLeft < 3) {
        claim.exhausted = false;
        break;
      }
      if (entry.versionstamp !== null && hasExpired(this.#context, entry, transaction.nowMs)) {
        claim.exhausted = false;
        if (passed.length < MOST_PASSED && isOver(entry, transaction.nowMs)) {
          passed.push(entry); // what is behind them need not wait until they have ended
          continue;
        }
        passed.push(entry);
        break;
      }
      const wanted = Math.max(0, room - (most - want));
      const isNew = entry.versionstamp === null; // no job of it has had an attempt
      const count = isNew || wanted >= room
        ? room
        : beforeLast(entry.value, lane, { wanted, room });
      let isCut = count < room;
      if (count > 0) {
        const taken = await this.#take(claim, lane, entry, count);
        room -= taken.leased;
        isCut ||= taken.isCut && room > 0;
        parts++;
      }
      if (isCut) claim.exhausted = false;
      if (isCut || room === 0) break; // a further one is not read
    }
    const isTidied = this.#context.counts.of(lane.ordinal)?.isExpiring === true;
    if (parts === 0 && !isTidied) parts = await this.#expire(claim, passed);
    claim.taken += parts;
    if (room < most) this.#ready.gave(lane.ordinal, most - room, parts);
  }

  /** Ends jobs that have expired, as many as fit: what stays of their parts is leased by the next commit. */
  async #expire(claim: Claim, entries: readonly Deno.KvEntry<Bytes>[]): Promise<number> {
    let parts = 0;
    for (const entry of entries.slice(0, MOST_EXPIRED)) {
      if (claim.transaction.isFull || claim.transaction.checksLeft < 3) break;
      claim.checked++;
      parts++;
      await expireIn(this.#context, claim.transaction, entry);
    }
    return parts;
  }

  #entries(claim: Claim, ordinal: number, want: number): AsyncGenerator<ReadyPart> {
    const isShared = !this.#context.member.alone && claim.fresh.size === 0;
    return isShared
      ? this.#ready.beside(ordinal, want, claim.transaction.atMs)
      : this.#ready.of(ordinal, want, claim.fresh);
  }

  /** Takes the first jobs of a part, up to `room` of them, or fewer where more is too much for a commit. */
  async #take(
    claim: Claim,
    lane: KvLane,
    entry: ReadyPart,
    room: number,
  ): Promise<Taken> {
    const { keys } = this.#context;
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
      lanes: this.#context.lanes,
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
      const { value, fault } = await payloadFor(this.#context, job, transaction);
      const admitted = fault === undefined
        ? await this.#admit(transaction, job)
        : await bury(this.#context, transaction, { job, fault });
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
  async #admit(transaction: Transaction, job: StoredJob): Promise<StoredJob | undefined> {
    const extra = job.line[3];
    if ((extra?.x ?? Infinity) > transaction.nowMs) {
      return await transaction.slots.admit(transaction, job);
    }
    await transaction.slots.release(transaction, job);
    transaction.end(job, expired(job));
    return undefined;
  }

  /** Lanes that gave less than was wanted have nothing more to give: nobody need ask until jobs come. */
  #note(wants: readonly Want[], claim: Claim, moves: number): void {
    const { counts } = this.#context;
    if (!claim.exhausted || counts.moves !== moves || counts.inFlight > 0) return;
    const given: number[] = [];
    for (const { ordinal, left } of claim.parts) given[ordinal] = (given[ordinal] ?? 0) + left;
    for (const [{ ordinal }, want] of wants) {
      const live = counts.of(ordinal);
      const most = want + (claim.more[ordinal] ?? 0);
      if (live === undefined || live.free === 0 || (given[ordinal] ?? 0) >= most) continue;
      live.free = 0;
      live.headAtMs = Infinity;
      counts.changes++;
    }
  }
}

/** True if all jobs of a part have expired. */
function isOver({ value }: Deno.KvEntry<Bytes>, nowMs: number): boolean {
  return decodeLines(value).every((text) =>
    text === "" || (parseLine(text)[3]?.x ?? Infinity) <= nowMs
  );
}

/**
 * How many of the first `room` jobs may be taken where only `wanted` of them start now: none of the
 * others has its last attempt, with which it would die unstarted if its process were killed.
 */
function beforeLast(
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
