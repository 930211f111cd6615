/**
 * The commits of one queue: what gathers while one is in flight goes into the next. On a file, where
 * commits are made one after the other anyway and each takes a flush of its own, small ones are shared: by
 * jobs that are added, ends of leases and a claim. Each alone takes 2.6 times as many commits (bench/README.md).
 *
 * @module
 */

import type { PendingAdds } from "./add/pending_adds.ts";
import type { CommitParticipant, CommitSource, FreshPart } from "./commit_participant.ts";
import type { QueueContext } from "./context.ts";
import type { PendingEnds } from "./end/pending_ends.ts";
import { TooLarge } from "./io/atomic_operation.ts";
import { Mutex } from "./io/mutex.ts";
import { PATIENCE_MS } from "./io/db.ts";
import { Transaction } from "./transaction.ts";

/** A commit of more jobs than this waits for none: it is made ready while another is stored. */
const MOST_SMALL = 128;

/** Makes commits of what waits. */
export class CommitLoop {
  readonly #context: QueueContext;
  readonly #adds: PendingAdds;
  readonly #ends: PendingEnds;
  /** Small commits of a file, and all that have ends: two at once could overtake each other over a network. */
  readonly #turns = new Mutex(eventLoop);
  readonly #running = new Map<CommitSource, Promise<void>>();
  #claim: CommitParticipant | undefined;

  /** Commits for one queue. */
  constructor(context: QueueContext, adds: PendingAdds, ends: PendingEnds) {
    this.#context = context;
    this.#adds = adds;
    this.#ends = ends;
  }

  /** Begins with what waits in a source, unless that has begun. */
  start(source: CommitSource): void {
    if (source.waiting === 0 || this.#running.has(source)) return;
    this.#running.set(source, this.#run(source));
  }

  /**
   * Takes a claim along with what waits. False: nothing does, or another claim is taken along. Over a
   * network it goes with jobs that are added, while they wait for it.
   */
  carry(claim: CommitParticipant): boolean {
    if (this.#claim !== undefined) return false;
    const { isSerial } = this.#context.db;
    const waits = this.#adds.waiting > 0 && (isSerial || this.#adds.isAsking) ||
      this.#ends.waiting > 0 && isSerial;
    if (waits) this.#claim = claim;
    return waits;
  }

  /** Runs an operation while no end is on its way. */
  between<T>(operation: () => Promise<T>): Promise<T> {
    return this.#turns.run(operation);
  }

  /** Resolves once nothing is on its way. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  async #run(source: CommitSource): Promise<void> {
    const { db, member } = this.#context;
    await null; // what is given in this turn of the event loop goes together,
    await null; // and what the pool then asks for
    while (source.waiting > 0) {
      if (source === this.#adds && !db.isSerial) await this.#adds.ask();
      const isSmall = db.isSerial && member.alone && source.waiting <= MOST_SMALL;
      if (isSmall || source === this.#ends) {
        await this.#turns.run(() => this.#next(source, isSmall));
      } else await this.#next(source, false);
    }
    this.#running.delete(source);
  }

  /** Commits the first that wait. What goes along the first time has a commit of its own if that fails. */
  async #next(source: CommitSource, isSmall: boolean): Promise<void> {
    const { db, mutex } = this.#context;
    let lead: CommitParticipant | undefined;
    let other: CommitSource | undefined;
    if (isSmall) other = source === this.#adds ? this.#ends : this.#adds;
    try {
      const isDone = await db.retry(async () => {
        lead = source.take();
        if (lead === undefined) return true;
        const one = lead;
        const along = this.#takeAlong(source, one, other);
        const attempt = (): Promise<boolean> => this.#attempt(one, along);
        const usesKeys = one.usesKeys || along.some((each) => each.usesKeys);
        if (await (usesKeys ? mutex.run(attempt) : attempt())) return true;
        await source.refresh?.();
        await other?.refresh?.();
        other = undefined;
        lead = undefined;
        one.back();
        return undefined;
      });
      if (isDone) return;
      const why = `others changed the same keys for ${PATIENCE_MS / 1000} s`;
      source.take()?.fail(new Error(`Ends of jobs could not be stored: ${why}`));
    } catch (thrown) {
      lead?.fail(thrown);
    } finally {
      if (this.#adds.waiting + this.#ends.waiting === 0) this.#takeClaim()?.back();
      this.start(this.#adds); // what went along and could not
      this.start(this.#ends);
    }
  }

  /** What goes along: what waits in another source, and last of all the claim. */
  #takeAlong(
    source: CommitSource,
    { isShared }: CommitParticipant,
    other: CommitSource | undefined,
  ): readonly CommitParticipant[] {
    const isFar = !this.#context.db.isSerial && source === this.#ends;
    const taken = [
      other !== undefined && other.waiting <= MOST_SMALL ? other.take() : undefined,
      isFar ? undefined : this.#takeClaim(),
    ].filter((one) => one !== undefined);
    const along = taken.filter((one) => isShared && one.isShared);
    for (const one of taken) if (!along.includes(one)) one.back();
    return along;
  }

  #takeClaim(): CommitParticipant | undefined {
    const claim = this.#claim;
    this.#claim = undefined;
    return claim;
  }

  /** One try. False: nothing was changed. What goes along learns what has come of it in any case. */
  async #attempt(lead: CommitParticipant, along: readonly CommitParticipant[]): Promise<boolean> {
    const { db } = this.#context;
    const all = [lead, ...along];
    const nowMs = Math.max(...all.map((one) => one.nowMs));
    const transaction = new Transaction(this.#context, nowMs);
    const membership = all.find((one) => one.membership !== undefined)?.membership;
    if (membership !== undefined) transaction.check(membership.fence);
    const fresh = new Set<FreshPart>();
    const aboard: CommitParticipant[] = [];
    const back = (): void => along.forEach((one) => one.back());
    try {
      await lead.board(transaction, fresh);
    } catch (thrown) {
      back();
      throw thrown;
    }
    try {
      for (const one of along) {
        const fits = one.membership === undefined || one.membership === membership;
        if (fits && await one.board(transaction, fresh)) aboard.push(one);
      }
    } catch {
      back(); // made alone, it tells of its fault itself
      return await this.#attempt(lead, []);
    }
    for (const { key, value } of fresh) transaction.setBytes(key, value);
    if (!db.isSerial && along.length > 0) transaction.signals = transaction.adds; // others find nothing
    let isMade = false;
    let failed: readonly CommitParticipant[] = [];
    let told: void | Promise<void> = undefined;
    try {
      isMade = await transaction.commit();
      if (isMade) told = lead.made();
    } catch (thrown) {
      // Which of them is too large is not known.
      if (!(thrown instanceof TooLarge)) failed = aboard;
      for (const one of failed) one.fail(thrown);
      throw thrown;
    } finally {
      for (const one of along) {
        if (isMade && aboard.includes(one)) one.made();
        else if (!failed.includes(one)) one.back();
      }
    }
    await told;
    return isMade;
  }
}

/** Lets the event loop run once: those who were answered have their say, and what they give goes along. */
function eventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
