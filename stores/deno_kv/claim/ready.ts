/**
 * What a claim takes from: ready parts of a lane, oldest first.
 *
 * @module
 */

import type { ContentionBackoff } from "./contention_backoff.ts";
import type { Bytes } from "../record/codec.ts";
import type { QueueContext } from "../context.ts";
import { numberAt } from "../record/keys.ts";
import type { FreshPart } from "../commit_participant.ts";
import { HeadCache } from "./head_cache.ts";
import { PartOwners } from "./part_owners.ts";

/** Entries read at once, at most. */
const LARGEST_BATCH = 50;

/** Ready jobs: those that are there, or that the commit of their claim puts down. */
export type ReadyPart = Deno.KvEntry<Bytes> | FreshPart;

/** Pages of ready parts that were read, by number of the lane. */
export type Pages = Map<number, (readonly Deno.KvEntry<Bytes>[])[]>;

/** Finds ready parts; reads no more than it must. */
export class ReadyParts {
  readonly #context: QueueContext;
  readonly #backoff: ContentionBackoff;
  readonly #owners = new PartOwners();
  /** Jobs in a part, as last seen, by number of the lane: how much is read at once. */
  readonly #density: number[] = [];

  /** Those of one queue. */
  constructor(context: QueueContext, backoff: ContentionBackoff) {
    this.#context = context;
    this.#backoff = backoff;
  }

  /** The parts of a lane to claim `want` jobs from. `fresh`: what the same commit writes. */
  async *of(
    ordinal: number,
    want: number,
    fresh: ReadonlySet<FreshPart>,
  ): AsyncGenerator<ReadyPart> {
    const { counts, member } = this.#context;
    const live = counts.of(ordinal);
    const headCache = live?.headCache ?? new HeadCache();
    if (!member.alone) headCache.forget();
    const known = [...headCache.parts];
    const added = [...fresh].filter(({ key }) => numberAt(key, 4) === ordinal);
    yield* known;
    const isAll = known.length + added.length > 0 || live?.free === 0;
    if (!headCache.whole || !isAll) yield* this.#read(ordinal, want, headCache, known.at(-1));
    yield* added;
  }

  /**
   * The same over a network while others claim too: first what is its own. `pages`: what was read for
   * this call already; `takesOthers`: asked before what is others'.
   */
  async *shared(
    ordinal: number,
    want: number,
    { nowMs, pages, takesOthers }: {
      readonly nowMs: number;
      readonly pages: Pages;
      readonly takesOthers: () => boolean;
    },
  ): AsyncGenerator<Deno.KvEntry<Bytes>> {
    const { db, keys, member } = this.#context;
    const prefix = keys.of("r", ordinal);
    const { members, membership: { memberId }, peers } = member;
    const limit = Math.min(this.#guess(ordinal, want) * Math.max(2, peers) + 1, LARGEST_BATCH);
    let known = pages.get(ordinal);
    if (known === undefined) pages.set(ordinal, known = []);
    for (let page = 0;; page++) {
      const last: Deno.KvEntry<Bytes> | undefined = known[page - 1]?.at(-1);
      const selector = last === undefined ? { prefix } : { prefix, start: [...last.key, 0] };
      const parts = known[page] ??= await db.list<Bytes>(selector, { limit, batchSize: limit });
      const due = parts.filter(({ key }) => numberAt(key, 5) <= nowMs + 0.5); // by another's clock
      const { own, others } = this.#owners.share(due, { member: memberId, members, nowMs });
      yield* own;
      if (others.length > 0 && takesOthers()) yield* others;
      if (due.length < limit) return;
    }
  }

  /**
   * The same on a file while others claim too: what this process leaves to them, or has left behind,
   * comes last.
   */
  async *beside(ordinal: number, want: number, atMs: number): AsyncGenerator<Deno.KvEntry<Bytes>> {
    const { db, keys } = this.#context;
    const { skips } = this.#backoff;
    const prefix = keys.of("r", ordinal);
    const from = this.#backoff.of(ordinal, atMs);
    const ranges = from === undefined
      ? [{ prefix }]
      : [{ prefix, start: from }, { prefix, end: from }];
    const batchSize = Math.min(this.#guess(ordinal, want) + skips, LARGEST_BATCH);
    const left: Deno.KvEntry<Bytes>[] = [];
    let kept = skips === 0;
    for (const range of ranges) {
      for await (const entry of db.entries<Bytes>(range, { batchSize })) {
        if (numberAt(entry.key, 5) > atMs + 0.5) break; // by the clock of another process
        if (left.length < skips) {
          left.push(entry);
          continue;
        }
        if (!kept) this.#backoff.keeps(ordinal, entry.key, atMs);
        kept = true;
        yield entry;
      }
    }
    yield* left;
  }

  /** Notes how many jobs parts gave. */
  gave(ordinal: number, jobs: number, parts: number): void {
    this.#density[ordinal] = Math.max(1, jobs / parts);
  }

  /** In how many parts this many jobs may be. */
  #guess(ordinal: number, want: number): number {
    return Math.ceil(want / (this.#density[ordinal] ?? 1));
  }

  /** The parts behind those that are known. */
  async *#read(
    ordinal: number,
    want: number,
    headCache: HeadCache,
    latest: Deno.KvEntry<Bytes> | undefined,
  ): AsyncGenerator<Deno.KvEntry<Bytes>> {
    const { db, keys } = this.#context;
    const prefix = keys.of("r", ordinal);
    const limit = Math.min(this.#guess(ordinal, want) + 1, LARGEST_BATCH); // one more tells whether there are others
    for (let last = latest;;) {
      const selector = last === undefined ? { prefix } : { prefix, start: [...last.key, 0] };
      headCache.reads();
      const entries = await db.list<Bytes>(selector, { limit, batchSize: limit });
      const isLast = entries.length < limit;
      headCache.extend(last?.key, entries, isLast);
      yield* entries;
      if (isLast) return;
      last = entries.at(-1);
    }
  }
}
