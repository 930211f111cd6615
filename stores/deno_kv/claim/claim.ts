/**
 * Claims: due jobs become leases of this process, whole parts of segments at a time.
 *
 * @module
 */

import { ContentionBackoff } from "./contention_backoff.ts";
import { type Bytes, decodeLines, parseLine } from "../record/codec.ts";
import type { QueueContext } from "../context.ts";
import { inLeaseOrder } from "./lease_order.ts";
import type { KvJob } from "../record/job.ts";
import { numberAt } from "../record/keys.ts";
import { Mutex } from "../io/mutex.ts";
import { expireIn, hasExpired, promote } from "./promote.ts";
import { addedTo, type ReadyPart, ReadyParts, type SharedClaim } from "./ready.ts";
import { beforeLast, type Claim, takePart, type Want } from "./take.ts";
import type { CommitParticipant, FreshPart } from "../commit_participant.ts";
import { Transaction } from "../transaction.ts";
import type { Membership } from "../members/membership.ts";

/** How long others may be quicker, ms: what is theirs by then is asked for again. */
const LOSING_MS = 500;

/** Parts of which all jobs have expired that a claim looks behind, at most. */
const MOST_PASSED = 60;

/** Parts whose expired jobs end with a claim that has leased nothing, at most. */
const MOST_EXPIRED = 2;

/** Commits of a claim that only end expired jobs, at most: it is asked for again. */
const MOST_BARREN = 2;

/** How many commits of one claim are under way at once where they do not wait for each other. */
const MOST_COMMITS = 6;

/** A claim that may go with ends of jobs. */
export interface ClaimRider extends CommitParticipant {
  /** What was leased. `undefined`: it has not gone with any, and is to be made alone. */
  readonly jobs: Promise<readonly KvJob[] | undefined>;
}

/** Leases jobs. */
export class Claims {
  readonly #context: QueueContext;
  readonly #ready: ReadyParts;
  readonly #backoff: ContentionBackoff;
  /** Names of parts that claims under way take. */
  readonly #tried = new Set<string>();
  /** One gathers at a time: what is known of the heads is read, and moved, by one. */
  readonly #gathering = new Mutex();

  /** Claims for one queue. */
  constructor(context: QueueContext) {
    this.#context = context;
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
    const claimed = await db.retry(async () => {
      if (membership.lost) return [];
      const claims = await this.#gathering.run(() => this.#gatherAll(membership, wants, nowMs));
      const { jobs, isLost } = await this.#commitAll(claims);
      if (isLost) {
        counts.forgetShelves();
        if (!member.alone) this.#backoff.steps(member.peers);
      }
      if (membership.lost) return []; // declared dead meanwhile: they are others' by now, or will be
      if (jobs.length > 0) return db.isSerial ? jobs : inLeaseOrder(jobs, wants);
      if (claims.every(({ taken }) => taken === 0)) return [];
      if (isLost) await membership.isAlive(db);
      const isBarren = claims.every((claim) => claim.jobs.length === 0);
      if (isBarren && ++barren === MOST_BARREN) return []; // what is wanted by now comes first
      return undefined;
    }, LOSING_MS);
    if (barren > 0 && !claimed?.length) this.#context.listener.wake();
    return claimed ?? [];
  }

  /** Claims of disjoint parts: one where commits wait for each other, or else as many as the wants take. */
  async #gatherAll(
    membership: Membership,
    wants: readonly Want[],
    nowMs: number,
  ): Promise<readonly Claim[]> {
    const most = this.#context.db.isSerial ? 1 : MOST_COMMITS;
    const claims: Claim[] = [];
    try {
      for (let rest = wants; claims.length < most;) {
        const transaction = new Transaction(this.#context, nowMs);
        transaction.check(membership.fence);
        const claim = await this.#gather(membership, transaction, rest);
        if (claim.taken === 0 && claims.length > 0) break;
        claims.push(claim);
        rest = restOf(rest, claim);
        if (claim.exhausted || rest.every(([, want]) => want === 0)) break;
      }
    } catch (thrown) {
      for (const claim of claims) this.#leave(claim);
      throw thrown;
    }
    return claims;
  }

  /** Makes claims. What one has leased is given out though another fails. `isLost`: others were quicker. */
  async #commitAll(
    claims: readonly Claim[],
  ): Promise<{ readonly jobs: KvJob[]; readonly isLost: boolean }> {
    const made = await Promise.allSettled(claims.map((claim) => this.#commit(claim)));
    const jobs = claims.flatMap((claim, index) => {
      const { status, value } = made[index] as PromiseFulfilledResult<boolean>; // or it has no value
      return status === "fulfilled" && value ? claim.jobs : [];
    });
    const failed = made.find(({ status }) => status === "rejected");
    if (jobs.length === 0 && failed?.status === "rejected") throw failed.reason;
    const isLost = made.some((one) => one.status === "fulfilled" && !one.value);
    return { jobs, isLost };
  }

  /** Makes one claim. False: others were quicker. */
  async #commit(claim: Claim): Promise<boolean> {
    if (claim.taken === 0) {
      this.#backoff.settles();
      this.#note(claim, claim.moves);
      return true;
    }
    try {
      if (!await claim.transaction.commit()) return false;
    } finally {
      this.#leave(claim);
    }
    this.#backoff.settles();
    if (!claim.membership.lost) this.#keep(claim);
    return true;
  }

  /**
   * A claim that goes with ends of jobs, or with jobs that are added. `undefined`: it has to be made
   * alone, because delayed jobs are to be moved up first, or because others claim too, at whose claims the
   * commit would fail with it. Over a network, where it would wait for the commit on its way, it takes
   * what is added only, where no older job is its own: no one else has that.
   */
  participant(wants: readonly Want[], nowMs: number): ClaimRider | undefined {
    const { member, counts, db: { isSerial } } = this.#context;
    const isTried = (key: Deno.KvKey): boolean => this.#tried.has(textOf(key));
    for (const [lane, want] of wants) {
      if (counts.isDue(lane.ordinal, nowMs)) return undefined;
      if (!isSerial && want > 0 && !this.#ready.isDone(lane.ordinal, nowMs, isTried)) {
        return undefined;
      }
    }
    if (isSerial && !member.alone || member.untold) return undefined;
    const { promise, resolve } = Promise.withResolvers<readonly KvJob[] | undefined>();
    const { membership } = member;
    let claim: Claim | undefined;
    const back = (): void => {
      if (claim !== undefined) this.#leave(claim);
      if ((claim?.checked ?? 0) > 0) counts.forgetShelves(); // what it was to be made of may be gone
      resolve(undefined);
    };
    return {
      nowMs,
      membership,
      usesKeys: false,
      isShared: true,
      jobs: promise,
      board: async (transaction, fresh) => {
        if (membership !== member.membership || member.untold) return false;
        const gathered = await this.#gathering.run(() =>
          this.#gather(membership, transaction, wants, fresh)
        );
        if (gathered.taken > 0) claim = gathered;
        else if (gathered.exhausted) {
          this.#note(gathered, gathered.moves);
          resolve([]);
        }
        return claim !== undefined; // if there was no room for it, it is made alone
      },
      made: () => {
        const { jobs } = claim!; // it has boarded
        this.#leave(claim!);
        if (!membership.lost) this.#keep(claim!);
        if (membership.lost) resolve([]);
        else resolve(jobs.length > 0 ? jobs : undefined);
      },
      back,
      fail: back,
    };
  }

  /** Its parts may be tried by others. */
  #leave({ tries, takes }: Claim): void {
    for (const name of tries.splice(0)) this.#tried.delete(name);
    takes.forEach((count, ordinal) => this.#takes(ordinal, -count));
    takes.length = 0;
  }

  #takes(ordinal: number, more: number): void {
    const live = this.#context.counts.of(ordinal);
    if (live !== undefined) live.taking += more;
  }

  /** Holds what a commit has leased. */
  #keep(claim: Claim): void {
    for (const part of claim.parts) claim.membership.parts.add(part);
    this.#context.counts.leased(claim.parts);
    this.#note(claim, claim.moves + 1);
  }

  async #gather(
    membership: Membership,
    transaction: Transaction,
    wants: readonly Want[],
    fresh: Set<FreshPart> = new Set(),
  ): Promise<Claim> {
    const claim: Claim = {
      membership,
      transaction,
      parts: [],
      jobs: [],
      fresh,
      wants,
      moves: this.#context.counts.moves,
      tries: [],
      takes: [],
      left: new Set(),
      taken: 0,
      checked: 0,
      exhausted: true,
    };
    try {
      for (const want of wants) {
        if (want[1] > 0) await this.#gatherLane(claim, want);
      }
    } catch (thrown) {
      this.#leave(claim);
      throw thrown;
    }
    return claim;
  }

  async #gatherLane(claim: Claim, [lane, count, ahead]: Want): Promise<void> {
    const { transaction } = claim;
    const most = lane.attempts === 1 ? count - ahead : count; // each attempt is the last
    let room = most;
    let parts = 0;
    const passed: Deno.KvEntry<Bytes>[] = [];
    const leaves = (): boolean => claim.exhausted = false;
    const takesOthers = (): boolean => room > most - count + ahead || leaves(); // a worker waits
    const shared = { isUrgent: count > ahead, takesOthers, leaves };
    for await (const entry of this.#entries(claim, lane.ordinal, most, shared)) {
      if (numberAt(entry.key, 5) > transaction.atMs + 0.5) break; // by the clock of another process
      if (transaction.isFull || transaction.checksLeft < 3) {
        claim.exhausted = false;
        break;
      }
      const name = textOf(entry.key);
      if (this.#tried.has(name)) {
        claim.exhausted = false;
        continue;
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
      const wanted = Math.max(0, room - (most - count + ahead));
      const isNew = entry.versionstamp === null; // no job of it has had an attempt
      const fit = isNew || wanted >= room ? room : beforeLast(entry.value, lane, { wanted, room });
      let isCut = fit < room;
      if (fit > 0) {
        this.#tried.add(name);
        claim.tries.push(name);
        const taken = await takePart(this.#context, claim, { lane, entry, room: fit });
        room -= taken.leased;
        if (!isNew) {
          claim.takes[lane.ordinal] = (claim.takes[lane.ordinal] ?? 0) + taken.leased;
          this.#takes(lane.ordinal, taken.leased);
        }
        isCut ||= taken.isCut && room > 0;
        parts++;
      }
      if (isCut) {
        claim.exhausted = false;
        claim.left.add(lane.ordinal);
      }
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
    for (const entry of entries) {
      const { isFull, checksLeft } = claim.transaction;
      if (parts === MOST_EXPIRED || isFull || checksLeft < 3) break;
      const name = textOf(entry.key);
      if (this.#tried.has(name)) continue; // read twice, or another claim ends its jobs
      this.#tried.add(name);
      claim.tries.push(name);
      claim.checked++;
      parts++;
      await expireIn(this.#context, claim.transaction, entry);
    }
    return parts;
  }

  #entries(
    claim: Claim,
    ordinal: number,
    want: number,
    how: Omit<SharedClaim, "nowMs">,
  ): AsyncIterable<ReadyPart> | Iterable<ReadyPart> {
    const { db: { isSerial }, member } = this.#context;
    const { transaction: { atMs: nowMs }, fresh } = claim;
    if (!isSerial && fresh.size > 0) return addedTo(ordinal, fresh);
    if (member.alone || fresh.size > 0) return this.#ready.of(ordinal, want, fresh);
    return isSerial
      ? this.#ready.beside(ordinal, want, nowMs)
      : this.#ready.shared(ordinal, want, { nowMs, ...how });
  }

  /** Lanes that gave less than was wanted have nothing more to give: nobody need ask until jobs come. */
  #note(claim: Claim, moves: number): void {
    const { counts } = this.#context;
    if (!claim.exhausted || counts.moves !== moves || counts.inFlight > 0) return;
    const given: number[] = [];
    for (const { ordinal, left } of claim.parts) given[ordinal] = (given[ordinal] ?? 0) + left;
    for (const [{ ordinal }, want] of claim.wants) {
      const live = counts.of(ordinal);
      if (live === undefined || live.free === 0 || (given[ordinal] ?? 0) >= want) continue;
      live.free = 0;
      live.headAtMs = Infinity;
      counts.changes++;
    }
  }
}

/** What is wanted still, once a claim is made. */
function restOf(wants: readonly Want[], { parts, left }: Claim): readonly Want[] {
  return wants.map(([lane, want, ahead]) => {
    const given = parts.reduce(
      (sum, { ordinal, left }) => sum + (ordinal === lane.ordinal ? left : 0),
      0,
    );
    const rest = left.has(lane.ordinal) ? 0 : Math.max(0, want - given);
    return [lane, rest, Math.min(ahead, rest)];
  });
}

/** Name of a part. */
function textOf(key: Deno.KvKey): string {
  return key.join("/");
}

/** True if all jobs of a part have expired. */
function isOver({ value }: Deno.KvEntry<Bytes>, nowMs: number): boolean {
  return decodeLines(value).every((text) =>
    text === "" || (parseLine(text)[3]?.x ?? Infinity) <= nowMs
  );
}
