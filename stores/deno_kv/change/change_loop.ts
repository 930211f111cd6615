/**
 * Changes from outside on their way to the database: one commit in flight, what gathers meanwhile goes
 * into the next.
 *
 * @module
 */

import type { Change, Changed } from "../../../src/contract/store.ts";
import { ChangeTransaction } from "./change_transaction.ts";
import type { QueueContext } from "../context.ts";
import { parseId } from "../record/id.ts";
import { locate } from "../read/locate.ts";
import { SharedReads } from "../read/reads.ts";
import { TooLarge } from "../io/atomic_operation.ts";

/** How often others may be quicker in a row. */
const MOST_TRIES = 50;

/** Most jobs of one commit: whoever else commits waits no longer than for those. */
const MOST_JOBS = 100;

/** What is to be done to one job. */
interface Item {
  readonly id: string;
  readonly change: Change;
  readonly nowMs: number;
  readonly resolve: (changed: Changed) => void;
  readonly reject: (thrown: unknown) => void;
}

/** Changes jobs for one queue. */
export class ChangeLoop {
  readonly #context: QueueContext;
  readonly #prepare: () => Promise<void>;
  #waiting: Item[] = [];
  #isRunning = false;

  /** `prepare` is called before each commit. */
  constructor(context: QueueContext, prepare: () => Promise<void>) {
    this.#context = context;
    this.#prepare = prepare;
  }

  /** Cancels, revives or removes one job. */
  change(id: string, change: Change, nowMs: number): Promise<Changed> {
    const { promise, resolve, reject } = Promise.withResolvers<Changed>();
    this.#waiting.push({ id, change, nowMs, resolve, reject });
    if (!this.#isRunning) this.#run();
    return promise;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    await null; // what is asked for in this turn of the event loop goes together
    let most = MOST_JOBS;
    for (let tries = 0; this.#waiting.length > 0;) {
      const some = this.#waiting.slice(0, most);
      try {
        await this.#prepare();
        const done = await this.#context.mutex.run(() => changeSome(this.#context, some));
        this.#waiting.splice(0, done);
        if (done > 0) {
          tries = 0;
          most = Math.min(MOST_JOBS, 2 * most);
          continue;
        }
        if (tries++ === MOST_TRIES) {
          throw new Error(`Job ${some[0]!.id} could not be changed: others change it all the time`);
        }
        most = Math.max(1, most >> 1); // others are less often quicker where fewer jobs count
        await this.#context.db.pause(tries);
      } catch (thrown) {
        const failed = thrown instanceof TooLarge ? 1 : some.length;
        for (const { reject } of this.#waiting.splice(0, failed)) reject(thrown);
        tries = 0;
      }
    }
    this.#isRunning = false;
  }
}

/** Changes and answers the first of some jobs, as many as fit into a commit. How many those were. 0: someone else was quicker. */
async function changeSome(context: QueueContext, items: readonly Item[]): Promise<number> {
  const { db, keys } = context;
  const reads = new SharedReads(db);
  await reads.prefetch(items.flatMap(({ id }) => {
    const parts = parseId(id);
    return parts === undefined ? [] : [keys.of("m", parts.segment, parts.index)];
  }));
  const transaction = new ChangeTransaction(context, items[0]!.nowMs);
  const changed = new Map<string, Changed>();
  for (const { id, change } of items) {
    if (transaction.isFull || changed.has(id)) break;
    const found = await locate({ db: reads, keys }, id);
    const answer = found === undefined
      ? { ok: false, state: undefined } as const
      : await transaction.change(found, change);
    if (answer === undefined) break;
    changed.set(id, answer);
  }
  if (!await transaction.commit()) return 0;
  for (const { id, resolve } of items.slice(0, changed.size)) resolve(changed.get(id)!);
  return changed.size;
}
