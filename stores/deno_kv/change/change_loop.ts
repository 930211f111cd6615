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
import { PATIENCE_MS } from "../io/db.ts";
import { TooLarge } from "../io/atomic_operation.ts";

/** Most jobs of one commit: other commits wait no longer than for those. */
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
  #waiting: Item[] = [];
  #isRunning = false;

  /** Changes nothing yet. */
  constructor(context: QueueContext) {
    this.#context = context;
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
    while (this.#waiting.length > 0) {
      let some = this.#waiting.slice(0, most);
      try {
        const done = await this.#context.db.retry(async () => {
          some = this.#waiting.slice(0, most);
          const done = await this.#context.mutex.run(() => changeSome(this.#context, some));
          // Others are less often quicker where fewer jobs count.
          if (done === undefined) most = Math.max(1, most >> 1);
          return done;
        });
        if (done === undefined) {
          const { id } = some[0]!; // the only one by now
          throw new Error(
            `Job ${id} could not be changed: others changed it for ${PATIENCE_MS / 1000} s`,
          );
        }
        this.#waiting.splice(0, done);
        most = Math.min(MOST_JOBS, 2 * most);
      } catch (thrown) {
        const failed = thrown instanceof TooLarge ? 1 : some.length;
        for (const { reject } of this.#waiting.splice(0, failed)) reject(thrown);
      }
    }
    this.#isRunning = false;
  }
}

/**
 * Changes and answers the first of some jobs, as many as fit into a commit. How many those were.
 * `undefined`: someone else was quicker.
 */
async function changeSome(
  context: QueueContext,
  items: readonly Item[],
): Promise<number | undefined> {
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
  if (!await transaction.commit()) return undefined;
  for (const { id, resolve } of items.slice(0, changed.size)) resolve(changed.get(id)!);
  return changed.size;
}
