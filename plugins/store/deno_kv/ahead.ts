/**
 * Jobs that are leased ahead of being asked for. Where jobs are short, a claim that shares a commit
 * takes along as many as will be asked for before the next one is made: one commit for twice as many.
 * Until they are asked for they count as ready, so that a pool chooses among lanes as if they were.
 *
 * @module
 */

import type { QueueContext } from "./context.ts";
import type { KvJob } from "./job.ts";
import type { KvLane } from "./lanes.ts";
import type { Step } from "./step.ts";
import { markOf, type Term } from "./term.ts";

/** What nobody has asked for in so long goes back, ms. */
const IDLE_MS = 250;

/** How many jobs of a lane are wanted. */
export type Want = readonly [lane: KvLane, count: number];

/** Those of one queue. */
export class Ahead {
  readonly #context: QueueContext;
  readonly #giveBack: (jobs: readonly KvJob[]) => Promise<unknown>;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #going: Promise<unknown> = Promise.resolve();
  #asked = false;
  #closed = false;

  /** Begins with none. `giveBack` ends leases of jobs that have not been started. */
  constructor(context: QueueContext, giveBack: (jobs: readonly KvJob[]) => Promise<unknown>) {
    this.#context = context;
    this.#giveBack = giveBack;
  }

  /** How many there are. */
  get size(): number {
    let size = 0;
    for (const { ahead } of this.#context.counts.lanes) size += ahead.length;
    return size;
  }

  /** True if it is one of them. */
  has(segment: string, index: number): boolean {
    return this.#context.counts.lanes.some(({ ahead }) =>
      ahead.some((job) => job.segment === segment && job.index === index)
    );
  }

  /**
   * How many more than are wanted a claim takes of each lane, by its number: as many short jobs as end
   * in the same commit, and of all lanes no more than would run then. A job is charged with an attempt
   * if its process is killed, started or not: so none of a lane whose jobs have only one.
   */
  more(wants: readonly Want[], step: Step, term: Term): readonly number[] {
    let most = -2 * this.size; // they are among what is held
    for (const [, want] of wants) most += want;
    for (const { jobs } of term.parts) for (const { settling } of jobs) if (!settling) most++;
    const more: number[] = [];
    for (const [{ ordinal, attempts, maxRunningPerKey }, want] of wants) {
      const isSuited = want > 0 && attempts > 1 && maxRunningPerKey === Infinity;
      const count = isSuited ? Math.max(0, Math.min(step.shortEnds(ordinal), most)) : 0;
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
      if (!isGiven.has(job)) this.#context.counts.of(job.ordinal)?.ahead.push(job);
    }
    this.#watch();
    return given;
  }

  /** Takes out what is wanted. What is cancelled or has expired meanwhile goes back, and ends there. */
  take(wants: readonly Want[], nowMs: number): readonly KvJob[] {
    const { counts, holder } = this.#context;
    const { term } = holder;
    if (!holder.isSure(nowMs)) {
      this.clear().catch(() => {}); // others may have taken them back: the commit tells
      return [];
    }
    const taken: KvJob[] = [];
    for (const [{ ordinal }, want] of wants) {
      const ahead = counts.of(ordinal)?.ahead;
      if (want > 0 && ahead !== undefined) taken.push(...ahead.splice(0, want));
    }
    if (taken.length === 0) return taken;
    this.#asked = true;
    const isOver = ({ segment, index, line: [, , , extra] }: KvJob): boolean =>
      (extra?.x ?? Infinity) <= nowMs ||
      (term.marked.size > 0 && term.marked.has(markOf(segment, index)));
    const over: KvJob[] = [];
    const mine: KvJob[] = [];
    for (const job of taken) {
      if (job.part.term === term) (isOver(job) ? over : mine).push(job); // or it is others' by now
    }
    this.#back(over).catch(() => {}); // tried again: the pool's own calls tell of the fault
    return mine;
  }

  /** Gives all of them back. If that fails, they are here as before. */
  async clear(): Promise<void> {
    const before = this.#going; // some may be on their way back
    await this.#back(this.#context.counts.lanes.flatMap(({ ahead }) => ahead.splice(0)));
    await before;
  }

  /** Forgets them: whoever leaves hands back all that it has leased. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const { ahead } of this.#context.counts.lanes) ahead.length = 0;
  }

  async #back(jobs: readonly KvJob[]): Promise<void> {
    if (jobs.length === 0) return;
    const going = this.#giveBack(jobs);
    this.#going = Promise.allSettled([this.#going, going]);
    try {
      await going;
      this.#context.listener.wake();
    } catch (thrown) {
      for (const job of jobs.toReversed()) {
        const { ordinal, part, untold } = job; // untold: it has gone back, though others have not
        const isHere = !untold && !part.term.lost && !this.#closed;
        if (isHere) this.#context.counts.of(ordinal)?.ahead.unshift(job);
      }
      this.#watch();
      throw thrown;
    }
  }

  #watch(): void {
    if (this.#timer !== undefined || this.#closed) return;
    this.#asked = false;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.size === 0) return;
      if (this.#asked) this.#watch();
      else this.clear().catch(() => {}); // tried again: the pool's own calls tell of the fault
    }, IDLE_MS);
  }
}
