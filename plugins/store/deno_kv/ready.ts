/**
 * What a claim takes from: ready parts of a lane, oldest first.
 *
 * @module
 */

import type { Bytes } from "./codec.ts";
import type { QueueContext } from "./context.ts";
import { numberAt } from "./keys.ts";
import type { FreshPart } from "./rider.ts";
import { Shelf } from "./shelf.ts";

/** Entries read at once, at most. */
const LARGEST_BATCH = 50;

/** Ready jobs: those that are there, or that the commit of their claim puts down. */
export type ReadyPart = Deno.KvEntry<Bytes> | FreshPart;

/** Finds ready parts; reads no more than it must. */
export class ReadyParts {
  readonly #context: QueueContext;
  /** Jobs in a part, as seen lately, by number of the lane: how much is read at once. */
  readonly #density: number[] = [];

  /** Those of one queue. */
  constructor(context: QueueContext) {
    this.#context = context;
  }

  /** The parts of a lane of which so many jobs are wanted. `fresh`: what the same commit puts down. */
  async *of(
    ordinal: number,
    want: number,
    fresh: ReadonlySet<FreshPart>,
  ): AsyncGenerator<ReadyPart> {
    const { counts, holder } = this.#context;
    const live = counts.of(ordinal);
    const shelf = live?.shelf ?? new Shelf();
    if (!holder.alone) shelf.forget();
    const known = [...shelf.parts];
    const added = [...fresh].filter(({ key }) => numberAt(key, 4) === ordinal);
    yield* known;
    const isAll = known.length + added.length > 0 || live?.ready === 0;
    if (!shelf.whole || !isAll) yield* this.#read(ordinal, want, shelf, known.at(-1));
    yield* added;
  }

  /** Notes how many jobs parts gave. */
  gave(ordinal: number, jobs: number, parts: number): void {
    this.#density[ordinal] = Math.max(1, jobs / parts);
  }

  /** What stands behind the parts that are known. */
  async *#read(
    ordinal: number,
    want: number,
    shelf: Shelf,
    latest: Deno.KvEntry<Bytes> | undefined,
  ): AsyncGenerator<Deno.KvEntry<Bytes>> {
    const { db, keys } = this.#context;
    const { puts } = shelf;
    const prefix = keys.of("r", ordinal);
    const guess = Math.ceil(want / (this.#density[ordinal] ?? 1));
    const limit = Math.min(guess + 1, LARGEST_BATCH); // one more tells whether there are others
    for (let last = latest;;) {
      const selector = last === undefined ? { prefix } : { prefix, start: [...last.key, 0] };
      const entries = await db.list<Bytes>(selector, { limit, batchSize: limit });
      const isLast = entries.length < limit;
      if (shelf.puts === puts) shelf.extend(entries, isLast);
      else shelf.forget(); // what was put down meanwhile may stand between
      yield* entries;
      if (isLast) return;
      last = entries.at(-1);
    }
  }
}
