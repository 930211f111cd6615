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
import { PartOwners, type SharedParts } from "./part_owners.ts";

/** Entries read at once, at most. */
const LARGEST_BATCH = 50;

/** What is known of a lane is read again after so long, ms: others take, cut and put back. */
const HEAD_MS = 500;

/** And after so long, ms, where others have put something down and no worker waits for it. */
const PAGE_MS = 100;

/** One page of a lane suffices for this many claims. */
const CLAIMS_A_PAGE = 3;

/** Parts of a page, at least. */
const LEAST_PAGE = 12;

/** Pages that one claim reads of a lane, at most. */
const MOST_PAGES = 4;

/** Ready jobs: those that are there, or that the commit of their claim puts down. */
export type ReadyPart = Deno.KvEntry<Bytes> | FreshPart;

/** How a claim looks for parts beside others. */
export interface SharedClaim {
  readonly nowMs: number;
  /** True: a worker waits. */
  readonly isUrgent: boolean;
  /** Asked before what is others'. */
  readonly takesOthers: () => boolean;
  /** Told that there may be more than it was given. */
  readonly leaves: () => void;
}

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
    const added = addedTo(ordinal, fresh);
    yield* known;
    const isAll = known.length + added.length > 0 || live?.free === 0;
    if (!headCache.whole || !isAll) yield* this.#read(ordinal, want, headCache, known.at(-1));
    yield* added;
  }

  /** True if no part of a lane is left for this process, as far as known, but those that it tries. */
  isDone(ordinal: number, nowMs: number, isTried: (key: Deno.KvKey) => boolean): boolean {
    const { counts, member } = this.#context;
    if (counts.isEmpty(ordinal)) return true;
    const headCache = counts.of(ordinal)?.headCache;
    if (headCache === undefined || Math.abs(nowMs - headCache.readAtMs) >= HEAD_MS) return false;
    if (headCache.isKnown && !headCache.whole) return false;
    return this.#owners.share(ordinal, headCache.parts, member).own.every(({ key }) =>
      isTried(key)
    );
  }

  /**
   * The same over a network while others claim too: first what is its own, of what is known of the lane,
   * which is read again only if that is not enough, or old.
   */
  async *shared(
    ordinal: number,
    want: number,
    { nowMs, isUrgent, takesOthers, leaves }: SharedClaim,
  ): AsyncGenerator<Deno.KvEntry<Bytes>> {
    const { counts, member } = this.#context;
    const live = counts.of(ordinal);
    const headCache = live?.headCache ?? new HeadCache();
    const ageMs = Math.abs(nowMs - headCache.readAtMs);
    const isEmpty = counts.isEmpty(ordinal);
    if (!isEmpty && (!headCache.isKnown || ageMs >= HEAD_MS)) {
      await this.#readPage(ordinal, { want, headCache, nowMs, anew: true });
    }
    const share = (): SharedParts => {
      const due = headCache.parts.filter(({ key }) => numberAt(key, 5) <= nowMs + 0.5); // by another's clock
      return this.#owners.share(ordinal, due, member);
    };
    let shared = share();
    const given = new Set<string>();
    const isNew = ({ key }: Deno.KvEntry<Bytes>): boolean => {
      const { size } = given;
      return given.add(key.join("/")).size > size;
    };
    yield* shared.own.filter(isNew);
    for (let page = 1; page < MOST_PAGES && !isEmpty; page++) {
      const anew = headCache.whole;
      const againMs = isUrgent ? 0 : PAGE_MS;
      const isNews = counts.isOutdated(headCache) &&
        Math.abs(nowMs - headCache.readAtMs) >= againMs;
      if (anew && !isNews) break;
      await this.#readPage(ordinal, { want, headCache, nowMs, anew });
      shared = share();
      yield* shared.own.filter(isNew);
    }
    if (shared.others.length > 0 && takesOthers()) yield* shared.others.filter(isNew);
    if (!isEmpty && (!headCache.whole || counts.isOutdated(headCache))) leaves();
  }

  /** Reads on behind what is known of a lane, or all of it again. */
  async #readPage(ordinal: number, { want, headCache, nowMs, anew }: {
    readonly want: number;
    readonly headCache: HeadCache;
    readonly nowMs: number;
    readonly anew: boolean;
  }): Promise<void> {
    const { db, keys, member, counts } = this.#context;
    const prefix = keys.of("r", ordinal);
    const claims = this.#guess(ordinal, want) * Math.max(2, member.peers) * CLAIMS_A_PAGE;
    const limit = Math.min(Math.max(claims, LEAST_PAGE), LARGEST_BATCH);
    if (anew) headCache.readsAnew(nowMs, counts.news);
    else headCache.reads();
    const last = headCache.parts.at(-1);
    const selector = last === undefined ? { prefix } : { prefix, start: [...last.key, 0] };
    const parts = await db.list<Bytes>(selector, { limit, batchSize: limit });
    headCache.extend(last?.key, parts, parts.length < limit);
    if (anew) this.#owners.looks(ordinal, parts, { nowMs, members: member.members });
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

/** What a commit puts down in a lane. */
export function addedTo(ordinal: number, fresh: ReadonlySet<FreshPart>): readonly FreshPart[] {
  return [...fresh].filter(({ key }) => numberAt(key, 4) === ordinal);
}
