/**
 * Lists of jobs over several pools: one order over all of them, in pages.
 *
 * @module
 */

import * as v from "valibot";
import { JOB_STATES } from "../../base/states.ts";
import type { JobRecord, JobState } from "../../contract/job.ts";
import type { PoolHandle } from "../../runtime/handles.ts";
import type { JobQuery } from "../../contract/store.ts";
import { MOST_LOOKED_AT } from "./job_list.ts";

/** Jobs that have not ended, in the order in which a store that keeps states apart lists them. */
const OPEN: readonly JobState[] = ["running", "ready", "blocked", "delayed"];

/** Fewest jobs that are read of a pool at once. */
const LEAST_READ = 5;

/**
 * Where the list of one pool goes on: cursor of its store, and the id of the last job behind that which
 * was shown. `null`: there is none. In place of both: the pool is at its end.
 */
type Spot = readonly [cursor: string | null, shown: string | null] | null;

/** What a job is sorted by. */
type Ranked = Pick<JobRecord, "state" | "createdAtMs" | "dueAtMs" | "endedAtMs">;

/** Where a list over several pools goes on. */
export interface ListPlace {
  /** By name of the pool. A pool that is left out is at its beginning. */
  readonly spots: Readonly<Record<string, Spot>>;
  /** The job that was looked at last. */
  readonly last: Ranked;
}

/** A page of a list over several pools. */
export interface PoolsPage {
  /** Records, those that ended last first. */
  readonly jobs: readonly JobRecord[];
  /** Where to go on. `undefined`: this was the last page. */
  readonly next: ListPlace | undefined;
  /** How many jobs were looked at for it. */
  readonly looked: number;
  /** The last of them. `undefined`: there was none. */
  readonly last: Ranked | undefined;
}

/**
 * Lists jobs of several pools in one order: those that ended last first, then the others, those that run
 * before those that wait, the longest due first. Each pool keeps its own order within that. A page may be
 * short and still have a next one.
 */
export async function pageOfPools(
  pools: readonly PoolHandle[],
  query: Omit<JobQuery, "cursor">,
  from: ListPlace | undefined,
  matches: (job: JobRecord) => boolean,
): Promise<PoolsPage> {
  const limit = Math.max(LEAST_READ, Math.ceil((2 * query.limit) / Math.max(1, pools.length)));
  const streams = pools.map((pool) => new Stream(pool, { ...query, limit }, from));
  const jobs: JobRecord[] = [];
  let last = from?.last;
  await Promise.all(streams.map((stream) => stream.fill()));
  for (let looked = 0;; looked++) {
    const next = firstOf(streams);
    if (next?.head === undefined) return { jobs, next: undefined, looked, last };
    if (last !== undefined && (jobs.length >= query.limit || looked >= MOST_LOOKED_AT)) {
      const spots = streams.flatMap(({ name, spot }) => spot === undefined ? [] : [[name, spot]]);
      return { jobs, next: { spots: Object.fromEntries(spots), last }, looked, last };
    }
    const { state, createdAtMs, dueAtMs, endedAtMs } = next.head;
    last = { state, createdAtMs, dueAtMs, endedAtMs };
    if (matches(next.head)) jobs.push(next.head);
    await next.take();
  }
}

/** Reads where a list goes on. `undefined`: it is no such place. */
export function readPlace(text: string): ListPlace | undefined {
  try {
    const place: unknown = JSON.parse(text);
    return v.is(PLACE, place) ? place : undefined;
  } catch {
    return undefined; // it was not sealed here
  }
}

const TEXT = v.nullable(v.string());

const PLACE = v.strictObject({
  spots: v.record(v.string(), v.nullable(v.tuple([TEXT, TEXT]))),
  last: v.strictObject({
    state: v.picklist(JOB_STATES),
    createdAtMs: v.number(),
    dueAtMs: v.number(),
    endedAtMs: v.exactOptional(v.number()),
  }),
});

/** The stream whose next job comes first. Of several, that of the first pool. */
function firstOf(streams: readonly Stream[]): Stream | undefined {
  let first: Stream | undefined;
  for (const stream of streams) {
    if (stream.head === undefined) continue;
    if (first?.head === undefined || isBefore(stream.head, first.head)) first = stream;
  }
  return first;
}

function isBefore(a: Ranked, b: Ranked): boolean {
  if (a.endedAtMs !== undefined && b.endedAtMs !== undefined) return a.endedAtMs > b.endedAtMs;
  if (a.endedAtMs !== undefined || b.endedAtMs !== undefined) return a.endedAtMs !== undefined;
  if (a.state !== b.state) return OPEN.indexOf(a.state) < OPEN.indexOf(b.state);
  return a.state === "running" ? a.createdAtMs < b.createdAtMs : a.dueAtMs < b.dueAtMs;
}

/** The jobs of one pool, in its own order, from where the last page ended. */
class Stream {
  readonly #pool: PoolHandle;
  readonly #query: Omit<JobQuery, "cursor">;
  readonly #last: Ranked | undefined;
  #jobs: readonly JobRecord[] = [];
  #at = 0;
  /** Where what was read last begins, and the last of it that was shown. */
  #cursor: string | undefined;
  #shown: string | undefined;
  /** Where the rest begins. `null`: there is none. */
  #rest: string | undefined | null;
  /** Shown by an earlier page: the list goes on behind it. */
  #skip: string | undefined;

  constructor(pool: PoolHandle, query: Omit<JobQuery, "cursor">, from: ListPlace | undefined) {
    this.#pool = pool;
    this.#query = query;
    this.#last = from?.last;
    const spot = from?.spots[pool.name];
    this.#rest = spot === null ? null : spot?.[0] ?? undefined;
    this.#skip = spot?.[1] ?? undefined;
  }

  get name(): string {
    return this.#pool.name;
  }

  /** The next job. `undefined`: there is none. */
  get head(): JobRecord | undefined {
    return this.#jobs[this.#at];
  }

  /** Where it goes on. `undefined`: at its beginning. */
  get spot(): Spot | undefined {
    if (this.head === undefined) return null;
    if (this.#cursor === undefined && this.#shown === undefined) return undefined;
    return [this.#cursor ?? null, this.#shown ?? null];
  }

  /** Goes on to the next job. */
  async take(): Promise<void> {
    this.#shown = this.head?.id;
    this.#at++;
    await this.fill();
  }

  /** Reads until there is a next job, or no other. */
  async fill(): Promise<void> {
    while (this.head === undefined && this.#rest !== null) {
      this.#cursor = this.#rest;
      const page = await this.#pool.list({ ...this.#query, cursor: this.#cursor });
      this.#rest = page.cursor ?? null;
      this.#shown = this.#skip;
      this.#jobs = this.#unseen(page.jobs);
      this.#at = 0;
    }
  }

  /** What no earlier page has shown, nor would have shown had it been there. */
  #unseen(jobs: readonly JobRecord[]): readonly JobRecord[] {
    const last = this.#last;
    if (last === undefined) return jobs;
    if (this.#skip !== undefined) {
      const at = jobs.findIndex(({ id }) => id === this.#skip);
      // It has moved, or is further back by now.
      const unseen = at === -1 ? jobs.filter((job) => isBefore(last, job)) : jobs.slice(at + 1);
      if (at !== -1 || unseen.length > 0) this.#skip = undefined;
      return unseen;
    }
    if (this.#cursor !== undefined) return jobs;
    return jobs.filter((job) => job.endedAtMs === undefined || !isBefore(job, last)); // ended since
  }
}
