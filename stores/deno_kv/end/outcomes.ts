/**
 * Ends of jobs for those who wait. Jobs that end in this process answer at their commit; for those of
 * other processes the database is read, less and less often.
 *
 * @module
 */

import type { JobRecord, Outcome } from "../../../src/contract/job.ts";
import { outcomeOf } from "../../../src/contract/outcome.ts";
import type { QueueContext } from "../context.ts";
import { UNFINISHED } from "./completions.ts";

/** First wait before a look, ms; doubles up to the longest. */
const SHORTEST_MS = 20;

const LONGEST_MS = 1000;

/** Jobs looked for at once. */
const MOST_JOBS = 100;

/** Looks jobs up, and is who waits. */
interface Finder {
  find(id: string): Promise<JobRecord | undefined>;
}

/** Waits on behalf of one queue. */
export class Outcomes {
  readonly #context: QueueContext;
  readonly #queue: Finder;
  #waitMs = SHORTEST_MS;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #turn = 0;
  #isLooking = false;
  readonly #looks = new Set<Promise<void>>();
  readonly #missed = new Set<string>();
  #closed = false;

  /** `queue` is who waits. */
  constructor(context: QueueContext, queue: Finder) {
    this.#context = context;
    this.#queue = queue;
  }

  /** How the job ends. `since`: ends in this process when it was added here, if it was. */
  of(id: string, since: number | undefined): Promise<Outcome> {
    const { completions, member } = this.#context;
    const outcome = completions.wait(id, this.#queue);
    const isOpen = since !== undefined && completions.remembers(since) && member.alone;
    if (!isOpen) this.#look(id).catch(() => this.#schedule());
    this.#schedule();
    return outcome;
  }

  /** Something has changed: looks soon. */
  hurry(): void {
    this.#waitMs = SHORTEST_MS;
    if (this.#isLooking) return; // looks again by itself
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#schedule();
  }

  /** Looks no more. Resolves when the looks that are on their way have ended. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await Promise.allSettled(this.#looks);
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#closed) return;
    const { completions, member } = this.#context;
    // Alone, nobody else can end a job: only what was missed once is looked for again.
    const isIdle = completions.size === 0 || (member.alone && this.#missed.size === 0);
    if (isIdle) return;
    this.#timer = setTimeout(() => this.#lookAgain(), this.#waitMs);
    this.#waitMs = Math.min(LONGEST_MS, this.#waitMs * 2);
  }

  async #lookAgain(): Promise<void> {
    this.#isLooking = true;
    const ids = [...this.#context.member.alone ? this.#missed : this.#context.completions.ids];
    const from = this.#turn * MOST_JOBS < ids.length ? this.#turn : 0;
    this.#turn = from + 1;
    for (const id of ids.slice(from * MOST_JOBS, (from + 1) * MOST_JOBS)) {
      if (this.#closed) return;
      await this.#look(id).catch(() => {}); // looked for again; the pool's own calls tell of a fault
    }
    this.#isLooking = false;
    this.#timer = undefined;
    this.#schedule();
  }

  #look(id: string): Promise<void> {
    const look = this.#find(id).finally(() => this.#looks.delete(look));
    this.#looks.add(look);
    return look;
  }

  async #find(id: string): Promise<void> {
    const record = await this.#queue.find(id);
    const { completions } = this.#context;
    if (record === undefined) {
      // A job that is not kept may end here this very moment: its commit tells better.
      if (this.#missed.delete(id)) completions.tell(id, UNFINISHED);
      else this.#missed.add(id);
      this.#schedule();
      return;
    }
    this.#missed.delete(id);
    const { state } = record;
    if (state === "done" || state === "dead" || state === "cancelled") {
      completions.tell(id, outcomeOf({ ...record, state }));
    }
  }
}
