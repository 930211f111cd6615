/**
 * One heartbeat a queue and interval: shows that it lives, and takes back the jobs of those that do not.
 *
 * @module
 */

import type { Renewal } from "../../../src/contract/store.ts";
import type { QueueContext } from "../context.ts";
import { numberAt, SIGNAL_KEY } from "../record/keys.ts";
import { dropStrays } from "../add/chunks.ts";
import { declareDead, dropMarks, takeBackOrphans } from "./reaper.ts";
import { AHEAD_MS, stampAnew } from "./restamp.ts";
import { Transaction } from "../transaction.ts";
import { checkMarks } from "../change/marks.ts";
import { type Beat, leasesIn, markOf, marksIn, type Membership, worksIn } from "./membership.ts";

/** How many heartbeats fit into a lease. */
const BEATS = 3;

/** A pool that has not asked for jobs for so long is not counted on, ms. */
const UNASKED_MS = 60_000;

/** How often it is looked who else has come, ms. */
const LOOK_MS = 2000;

/** Owns the rhythm of one member. */
export class Heartbeat {
  readonly #context: QueueContext;
  #renewedAtMs: number;
  #faults: number;
  #looked = false;
  /** While it does, no other heartbeat goes out: they could overtake each other. */
  #isRenewing = false;
  #lookedAtMs = -Infinity;
  #stale: ReadonlySet<string> = new Set();
  #latestMs = -Infinity; // that was stamped with since the last renewal
  #mayBeAhead: boolean | undefined; // the clock of another was ahead that has ended, or its own was set back

  /** Its queue has just joined. */
  constructor(context: QueueContext, nowMs: number) {
    this.#context = context;
    this.#renewedAtMs = nowMs;
    this.#faults = context.db.file?.faults ?? 0;
    context.member.beatAtMs = nowMs;
  }

  /** Jobs are stamped with a time by the wall clock, which may be set back later. */
  stamps(nowMs: number): void {
    if (nowMs > this.#latestMs) this.#latestMs = nowMs;
  }

  /** Its pool asks for jobs: where there are others, they are to know that it owns some. */
  asks(nowMs: number): Promise<void> | undefined {
    const { db, member } = this.#context;
    member.askedAtMs = nowMs;
    if (member.works || member.alone || db.isSerial || this.#isRenewing) return undefined;
    return this.#begins(nowMs);
  }

  async #begins(nowMs: number): Promise<void> {
    const { member } = this.#context;
    const { membership } = member;
    member.works = true;
    try {
      member.works = await this.#beat(membership, nowMs, true);
    } catch {
      member.works = false; // asked again, it is tried again
    }
    if (member.works) member.members = [...new Set([...member.members, membership.memberId])];
  }

  /** Beats, looks at the others, and takes back what the dead hold. */
  async renew(nowMs: number, steadyMs: number): Promise<Renewal> {
    this.#isRenewing = true;
    try {
      return await this.#renew(nowMs, steadyMs);
    } finally {
      this.#isRenewing = false;
    }
  }

  async #renew(nowMs: number, steadyMs: number): Promise<Renewal> {
    const { db, keys, member, counts } = this.#context;
    const sinceMs = Math.max(0, steadyMs - this.#renewedAtMs);
    this.#renewedAtMs = steadyMs;
    db.file?.checkAll();
    const { faults = 0 } = db.file ?? {};
    if (faults > this.#faults) {
      this.#faults = faults;
      member.membership.lost = true; // it was away: what was leased meanwhile nobody was told
    }
    if (this.#latestMs > nowMs + AHEAD_MS) this.#mayBeAhead = true;
    this.#latestMs = nowMs;
    member.works = Math.abs(nowMs - member.askedAtMs) < UNASKED_MS;
    if (member.membership.lost || !await this.#beat(member.membership, nowMs)) {
      member.membership.lost = true;
      member.untold = true;
      await member.join(db, keys);
    }
    member.beatAtMs = nowMs;
    await dropStrays(this.#context);
    const { memberId } = member.membership;
    const dead: { readonly memberId: number; readonly entry: Deno.KvEntry<Beat> }[] = [];
    const live = new Set([memberId]);
    const working = new Set(member.works ? [memberId] : []);
    let peers = 1;
    let isAhead = false;
    this.#mayBeAhead ??= ((await db.get<number>(keys.of("t"))).value ?? 0) > nowMs + AHEAD_MS;
    for (const entry of await db.list<Beat>({ prefix: keys.of("h") })) {
      const other = numberAt(entry.key, 4);
      if ((entry.value?.atMs ?? 0) > nowMs + AHEAD_MS) isAhead = true;
      const lives = other === memberId ||
        member.sees(other, entry.versionstamp, entry.value, sinceMs);
      if (!lives) dead.push({ memberId: other, entry });
      else live.add(other);
      if (lives && other !== memberId && leasesIn(entry.value)) peers++;
      if (lives && worksIn(entry.value)) working.add(other);
    }
    for (const { memberId, entry } of dead) await declareDead(this.#context, memberId, entry);
    const watched = new Set([...live, ...dead.map((other) => other.memberId)]);
    const isSilent = (other: number, fence: string): boolean => {
      if (watched.has(other)) return false; // by its heartbeat
      watched.add(other);
      return !member.sees(other, fence, undefined, sinceMs);
    };
    const reaped = await takeBackOrphans(this.#context, nowMs, isSilent);
    if (dead.length > 0 || !this.#looked) await dropMarks(this.#context, live);
    this.#looked = true;
    if (this.#mayBeAhead && !isAhead) await stampAnew(this.#context, nowMs); // nobody stamps so any more
    this.#mayBeAhead = isAhead;
    member.forgetBut(watched);
    await this.refreshMarks();
    await this.#dropStaleMarks(nowMs);
    member.peers = peers;
    member.members = [...working];
    if (live.size === 1 && !member.alone) counts.forgetShelves(); // others may have put something down
    member.alone = live.size === 1;
    const nextAtMs = steadyMs + member.leaseMs / BEATS;
    const alive = !member.untold; // a renewal that failed midway has not told it
    member.untold = false;
    return { alive, peers, reaped, nextAtMs };
  }

  /** Looks who else has come, without judging who lives. At most every other second. */
  async lookAround(nowMs: number): Promise<void> {
    if (Math.abs(nowMs - this.#lookedAtMs) < LOOK_MS) return;
    this.#lookedAtMs = nowMs;
    const { db, keys, member } = this.#context;
    const beats = await db.list({ prefix: keys.of("h") });
    const { memberId } = member.membership;
    const numbers = beats.flatMap(({ key, value }) => worksIn(value) ? [numberAt(key, 4)] : []);
    const others = numbers.filter((number) => number !== memberId);
    member.members = member.works ? [...others, memberId] : others; // its own may be on its way
  }

  /** Reads which of its jobs are to be cancelled, and tells the pool of those that it does not know of. */
  async refreshMarks(): Promise<void> {
    const { db, member, listener } = this.#context;
    const { membership } = member;
    const { key, versionstamp, value } = await db.get<unknown>(membership.marks.key);
    membership.marks = { key, versionstamp };
    membership.marked.clear();
    for (const [segment, index] of marksIn(value)) membership.marked.add(markOf(segment, index));
    for (const mark of membership.told) {
      if (!membership.marked.has(mark)) membership.told.delete(mark);
    }
    if (membership.marked.size === membership.told.size) return;
    for (const part of membership.parts) {
      for (const job of part.jobs) {
        const mark = markOf(job.segment, job.index);
        if (!membership.marked.has(mark) || membership.told.has(mark)) continue;
        membership.told.add(mark);
        listener.cancelled(job.id);
      }
    }
  }

  /** Drops requests to cancel jobs that were not held at the last look either: they had ended just before. */
  async #dropStaleMarks(nowMs: number): Promise<void> {
    const { membership } = this.#context.member;
    const stale = new Set(membership.marked);
    for (const { jobs } of stale.size > 0 ? membership.parts : []) {
      for (const { segment, index, settling } of jobs) {
        if (!settling) stale.delete(markOf(segment, index));
      }
    }
    const gone = new Set([...stale].filter((mark) => this.#stale.has(mark)));
    this.#stale = stale;
    if (gone.size === 0) return;
    const transaction = new Transaction(this.#context, nowMs);
    transaction.check(membership.fence);
    checkMarks(transaction, membership, gone);
    await transaction.commit(); // refused: there are others by now, and these are dropped next time
    await this.refreshMarks();
  }

  /** `isNews`: others are to hear of it at once. */
  async #beat(
    { fence, memberId }: Membership,
    nowMs: number,
    isNews = false,
  ): Promise<boolean> {
    const { db, keys, member } = this.#context;
    const beat = { ...member.beat, atMs: nowMs };
    const atomic = db.kv.atomic().check(fence).set(keys.of("h", memberId), beat);
    if (isNews) atomic.sum(SIGNAL_KEY, 1n);
    return await db.commit({ atomic, signals: isNews }) !== undefined;
  }
}
