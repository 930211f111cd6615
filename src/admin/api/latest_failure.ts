/**
 * The latest dead job of each pool, and what a failing pool fails with: for a page of all pools, which
 * asks each second and waits for no store.
 *
 * @module
 */

import { delay } from "../../base/async.ts";
import type { Show } from "../../config/redaction.ts";
import type { JobRecord } from "../../contract/job.ts";
import type { DeadLetters } from "../../explain/trouble.ts";
import type { PoolHandle } from "../../runtime/handles.ts";
import type { Clock } from "../../time/clock.ts";
import { groupOf } from "./failures.ts";
import type { ListLimit } from "./list_limit.ts";

/** A page waits for so long, ms; it is asked for again a second later. */
const SOON_MS = 200;

/** A look counts for so long, ms. */
const FRESH_MS = 2_000;

/** Longest error, characters. */
const LONGEST = 120;

/** What is known of a pool's failures. */
export interface LatestFailure {
  /** Its dead letters. `undefined`: its store does not say. */
  readonly dead: DeadLetters | undefined;
  /** The error of a job that failed of late, its first line, as it may be shown. `undefined`: none is known. */
  readonly error: string | undefined;
}

interface Look {
  /** Dead letters then. */
  readonly count: number;
  readonly atMs: number;
  readonly job: JobRecord | undefined;
  /** Of the first of those alike that have failed since, or it would change with each look. */
  readonly error: string | undefined;
}

/** Knows the latest failures of pools. */
export class LatestFailures {
  readonly #lists: ListLimit;
  readonly #show: Show;
  readonly #clock: Clock;
  readonly #looks = new WeakMap<PoolHandle, Look>();
  readonly #looking = new WeakMap<PoolHandle, Promise<void>>();

  /** Has looked at nothing. */
  constructor(
    { lists, show, clock }: {
      readonly lists: ListLimit;
      readonly show: Show;
      readonly clock: Clock;
    },
  ) {
    this.#lists = lists;
    this.#show = show;
    this.#clock = clock;
  }

  /** Of some pools, in their order: what is known within a moment. */
  async of(pools: readonly PoolHandle[]): Promise<readonly LatestFailure[]> {
    const looks = pools.filter((pool) => this.#isWanted(pool)).map((pool) => this.#look(pool));
    if (looks.length > 0) {
      const late = new AbortController();
      const timeout = delay(SOON_MS, { signal: late.signal }).catch(() => {});
      await Promise.race([Promise.all(looks), timeout]);
      late.abort();
    }
    return pools.map((pool) => this.#known(pool));
  }

  #known(pool: PoolHandle): LatestFailure {
    const count = pool.counts().dead;
    const { job, error } = this.#looks.get(pool) ?? {};
    const dead = count === undefined
      ? undefined
      : { count, lastAtMs: job?.state === "dead" ? job.endedAtMs : undefined };
    return { dead, error };
  }

  /** Not again while the number is the same, unless a pool fails without dead letters. */
  #isWanted(pool: PoolHandle): boolean {
    const count = pool.counts().dead ?? 0;
    const look = this.#looks.get(pool);
    const isRetrying = count === 0 && isFailing(pool);
    if (look === undefined) return count > 0 || isRetrying;
    if (this.#clock.nowMs() - look.atMs < FRESH_MS) return false;
    return look.count !== count || isRetrying;
  }

  #look(pool: PoolHandle): Promise<void> {
    let looking = this.#looking.get(pool);
    if (looking === undefined) {
      looking = this.#read(pool).catch(() => {}) // pages of jobs say why
        .finally(() => this.#looking.delete(pool));
      this.#looking.set(pool, looking);
    }
    return looking;
  }

  async #read(pool: PoolHandle): Promise<void> {
    const count = pool.counts().dead ?? 0;
    const { jobs: [job] } = await this.#lists.run(() =>
      count > 0
        ? pool.list({ state: "dead", order: "latest-end", limit: 1 })
        : pool.list({ state: "delayed", limit: 1 })
    );
    const before = this.#looks.get(pool);
    const isAlike = job !== undefined && before?.job !== undefined &&
      groupOf(job) === groupOf(before.job);
    const error = isAlike ? before.error : this.#errorOf(job);
    this.#looks.set(pool, { count, atMs: this.#clock.nowMs(), job, error });
  }

  #errorOf(job: JobRecord | undefined): string | undefined {
    if (job?.error === undefined) return undefined;
    return beginning(String(this.#show(job.error, job.payload)));
  }
}

function isFailing(pool: PoolHandle): boolean {
  return pool.diagnosis().some(({ code }) => code === "failing");
}

function beginning(error: string): string {
  const [line = ""] = error.split("\n", 1);
  return line.length <= LONGEST ? line : `${line.slice(0, LONGEST)}…`;
}
