/**
 * Jobs that are leased ahead of being asked for. Where jobs are short, a claim that shares a commit
 * takes along as many as will be asked for before the next one is made: fewer commits for more jobs.
 * Until they are asked for they count as ready, so that a pool chooses among lanes as if they were.
 *
 * @module
 */

import type { Settlement } from "../../../src/contract/store.ts";
import type { QueueContext } from "../context.ts";
import type { KvJob } from "../record/job.ts";
import type { KvLane } from "../record/lanes.ts";
import type { Transaction } from "../transaction.ts";
import { markOf, type Membership } from "../members/membership.ts";

/** What has not been asked for in so long goes back, at the latest after twice that, ms. */
const IDLE_MS = 250;

/** Most of them, whatever runs: they are charged with an attempt if their process is killed. */
const MOST = 128;

/** So many times as many as have ended in a commit: there may be more of them by the next one. */
const GROWTH = 4;

/** How many jobs of a lane are wanted. */
export type Want = readonly [lane: KvLane, count: number];

/** Those of one queue. */
export class StorePrefetch {
  readonly #context: QueueContext;
  readonly #settle: (settlements: readonly Settlement[]) => Promise<unknown>;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #going: Promise<unknown> | undefined;
  #lookedAt: ReadonlySet<KvJob> = new Set();
  #closed = false;

  /** Begins with none. `settle` ends the leases of those that go back. */
  constructor(
    context: QueueContext,
    settle: (settlements: readonly Settlement[]) => Promise<unknown>,
  ) {
    this.#context = context;
    this.#settle = settle;
  }

  /** Resolves once those that are on their way back are there. `undefined`: none is. */
  get going(): Promise<unknown> | undefined {
    return this.#going;
  }

  /** How many there are. */
  get size(): number {
    let size = 0;
    for (const { prefetch } of this.#context.counts.lanes) size += prefetch.length;
    return size;
  }

  /** True if it is one of them. */
  has(segment: string, index: number): boolean {
    return this.#context.counts.lanes.some(({ prefetch, back }) =>
      [...prefetch, ...back].some((job) => job.segment === segment && job.index === index)
    );
  }

  /** What is wanted of lanes that have jobs, and none of them here. Empty: what is here may be given at once. */
  lacking(wants: readonly Want[]): readonly Want[] {
    const { counts } = this.#context;
    return wants.filter(([{ ordinal }, want]) => {
      const live = counts.of(ordinal);
      return want > 0 && live !== undefined && live.free > 0 && live.prefetch.length === 0;
    });
  }

  /**
   * How many more than are wanted a claim takes of each lane, by its number: of lanes whose jobs are
   * short, as many as may end by the next commit, and of all lanes no more than start within what is
   * short. A job is charged with an attempt if its process is killed, started or not: so none of a
   * lane whose jobs have only one.
   */
  more(
    wants: readonly Want[],
    transaction: Transaction,
    membership: Membership,
  ): readonly number[] {
    const { size } = this;
    let running = -size; // they are among what is held
    for (const [, want] of wants) running += want;
    for (const { jobs } of membership.parts) {
      for (const { settling } of jobs) if (settling === undefined) running++;
    }
    let most = Math.min(MOST, running * transaction.shortRounds) - size;
    const more: number[] = [];
    for (const [{ ordinal, attempts, maxRunningPerKey }, want] of wants) {
      const isSuited = want > 0 && attempts > 1 && maxRunningPerKey === Infinity;
      const count = isSuited
        ? Math.max(0, Math.min(GROWTH * transaction.shortEnds(ordinal), most))
        : 0;
      more[ordinal] = count;
      most -= count;
    }
    return more;
  }

  /** Takes in what was leased. What is wanted of it. */
  sort(jobs: readonly KvJob[], wants: readonly Want[]): readonly KvJob[] {
    const wanted: number[] = [];
    for (const [{ ordinal }, want] of wants) wanted[ordinal] = want;
    const given = jobs.filter(({ ordinal }) => (wanted[ordinal] = (wanted[ordinal] ?? 0) - 1) >= 0);
    if (given.length === jobs.length) return jobs;
    const isGiven = new Set(given);
    for (const job of jobs) {
      if (!isGiven.has(job)) this.#context.counts.of(job.ordinal)?.prefetch.push(job);
    }
    this.#watch();
    return given;
  }

  /** Takes out what is wanted. What is cancelled or has expired meanwhile goes back, and ends there. */
  take(wants: readonly Want[], nowMs: number): readonly KvJob[] {
    const { counts, member } = this.#context;
    const { membership } = member;
    if (!member.isSure(nowMs)) {
      this.clear().catch(() => {}); // others may have taken them back: the commit tells
      return [];
    }
    const taken: KvJob[] = [];
    for (const [{ ordinal }, want] of wants) {
      const prefetch = counts.of(ordinal)?.prefetch;
      if (want > 0 && prefetch !== undefined) taken.push(...prefetch.splice(0, want));
    }
    if (taken.length === 0) return taken;
    const isOver = ({ segment, index, expiresAtMs }: KvJob): boolean =>
      (expiresAtMs ?? Infinity) <= nowMs ||
      (membership.marked.size > 0 && membership.marked.has(markOf(segment, index)));
    const over: KvJob[] = [];
    const mine: KvJob[] = [];
    for (const job of taken) {
      if (job.part.membership === membership) (isOver(job) ? over : mine).push(job); // or it is others' by now
    }
    this.#back(over).catch(() => {}); // tried again: the pool's own calls tell of the fault
    return mine;
  }

  /** Gives all of them back. If that fails, they are here as before. */
  async clear(): Promise<void> {
    const before = this.#going; // some may be on their way back
    await this.#back(this.#context.counts.lanes.flatMap(({ prefetch }) => prefetch.splice(0)));
    await before;
  }

  /** Forgets them: whoever leaves hands back all that it has leased. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const { prefetch } of this.#context.counts.lanes) prefetch.length = 0;
  }

  async #back(jobs: readonly KvJob[]): Promise<void> {
    if (jobs.length === 0) return;
    for (const job of jobs) this.#context.counts.of(job.ordinal)?.back.add(job);
    const going = this.#settle(jobs.map(unstarted));
    const all = Promise.allSettled([this.#going, going]).then(() => {
      if (this.#going === all) this.#going = undefined;
    });
    this.#going = all;
    const isBack = going.finally(() => {
      for (const job of jobs) this.#context.counts.of(job.ordinal)?.back.delete(job);
    });
    try {
      await isBack;
      this.#context.listener.wake();
    } catch (thrown) {
      for (const job of jobs.toReversed()) {
        const { ordinal, part, untold } = job; // untold: it has gone back, though others have not
        const isHere = !untold && !part.membership.lost && !this.#closed;
        if (isHere) this.#context.counts.of(ordinal)?.prefetch.unshift(job);
      }
      this.#watch();
      throw thrown;
    }
  }

  #watch(): void {
    if (this.#timer !== undefined || this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#look();
    }, IDLE_MS);
  }

  /** Gives back what was here at the last look too. */
  #look(): void {
    const { lanes } = this.#context.counts;
    const old: KvJob[] = [];
    for (const { prefetch } of lanes) {
      const count = prefetch.findIndex((job) => !this.#lookedAt.has(job)); // the oldest come first
      old.push(...prefetch.splice(0, count === -1 ? prefetch.length : count));
    }
    this.#lookedAt = new Set(lanes.flatMap(({ prefetch }) => prefetch));
    this.#back(old).catch(() => {}); // tried again: the pool's own calls tell of the fault
    if (this.size > 0) this.#watch();
  }
}

/** How a job ends its lease that has not been started. */
function unstarted(job: KvJob): Settlement {
  const rest = { dueAtMs: 0, result: undefined, reason: undefined, error: undefined };
  return { job, fence: job.fence, to: "back", charged: false, ...rest };
}
