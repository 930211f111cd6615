/**
 * Why jobs are dead, grouped by what their errors have in common. Looks at the latest of them only, and not
 * again before that has paid: pages ask each second.
 *
 * @module
 */

import { setImmediate } from "node:timers/promises";
import { delay } from "../../base/async.ts";
import { signatureOf } from "../../base/signature.ts";
import type { JobRecord } from "../../contract/job.ts";
import type { Show } from "../../config/redaction.ts";
import type { PoolHandle } from "../../runtime/handles.ts";
import type { Clock } from "../../time/clock.ts";
import type { FailureGroupJson, FailuresJson } from "../http/wire_failures.ts";
import { LIST_ORDER, MOST_LOOKED_AT } from "./job_list.ts";
import type { ListLimit } from "./list_limit.ts";

/** Dead jobs of a pool that are looked at, at least: the latest of them. */
const LEAST_LOOKED_AT = 500;

/** Jobs that are read at once. */
const PAGE = 250;

/** Most groups of a pool that are counted each, and of an answer that are listed. */
const MOST_GROUPS = 200;
const MOST_LISTED = 50;

/** Parts of the time that a group's series has. */
const PARTS = 12;

/** A page that shows groups beside other things waits for so long, ms. */
const SOON_MS = 200;

/** A look counts for this many ms, or for this many times as long as it took. */
const FRESH_MS = 2_000;
const FRESH_TIMES = 20;

/** What failures are looked at by. */
export interface FailureOptions {
  /** Reads lists, a few at once. */
  readonly lists: ListLimit;
  /** What may be shown. */
  readonly show: Show;
  /** Now, for how old a look is. */
  readonly clock: Clock;
}

interface Group {
  readonly endedAtMs: number[];
  /** The latest. */
  readonly example: JobRecord;
}

/** What one pool's latest dead jobs came to. */
interface Look {
  readonly groups: ReadonlyMap<string, Group>;
  readonly looked: number;
  /** Of groups that are not told apart. */
  readonly others: number;
  readonly hasMore: boolean;
}

interface Known {
  readonly look: Promise<Look>;
  /** Until then it counts. */
  untilMs: number;
}

/** Groups dead jobs by their errors. */
export class Failures {
  readonly #options: FailureOptions;
  readonly #known = new WeakMap<PoolHandle, Known>();

  /** Has looked at nothing. */
  constructor(options: FailureOptions) {
    this.#options = options;
  }

  /** The groups of some pools, those with most jobs first. `all`: how many pools there are to share the work. */
  async of(pools: readonly PoolHandle[], all: number): Promise<FailuresJson> {
    const most = Math.max(LEAST_LOOKED_AT, Math.floor(MOST_LOOKED_AT / Math.max(1, all)));
    const looks = await Promise.all(
      pools.map(async (pool) => [pool.name, await this.#lookAt(pool, most)] as const),
    );
    return this.#merged(looks);
  }

  /** As `of` one pool, for a page that waits for no store: `undefined` if it is not known in time. */
  async soon(pool: PoolHandle, all: number): Promise<FailuresJson | undefined> {
    const late = new AbortController();
    try {
      return await Promise.race([
        this.of([pool], all),
        delay(SOON_MS, { signal: late.signal }).then(() => undefined),
      ]);
    } catch {
      return undefined; // the page of dead letters says why
    } finally {
      late.abort();
    }
  }

  /** Dead jobs of a pool were changed: the next question looks at them again. */
  forget(pool: PoolHandle): void {
    this.#known.delete(pool);
  }

  #lookAt(pool: PoolHandle, most: number): Promise<Look> {
    const { lists, clock } = this.#options;
    const fromMs = clock.nowMs();
    const known = this.#known.get(pool);
    if (known !== undefined && fromMs < known.untilMs) return known.look;
    const look = lists.run(() => latestOf(pool, most));
    const next: Known = { look, untilMs: Infinity };
    this.#known.set(pool, next);
    look.then(
      () => {
        const nowMs = clock.nowMs();
        next.untilMs = nowMs + Math.max(FRESH_MS, FRESH_TIMES * (nowMs - fromMs));
      },
      () => this.forget(pool),
    );
    return look;
  }

  #merged(looks: readonly (readonly [pool: string, look: Look])[]): FailuresJson {
    const all = new Map<string, [pool: string, group: Group][]>();
    let [looked, others] = [0, 0];
    for (const [pool, look] of looks) {
      looked += look.looked;
      others += look.others;
      for (const [name, group] of look.groups) {
        const parts = all.get(name);
        if (parts === undefined) all.set(name, [[pool, group]]);
        else parts.push([pool, group]);
      }
    }
    const groupsOfAll = looks.flatMap(([, { groups }]) => [...groups.values()]);
    const { fromMs, toMs } = spanOf(groupsOfAll);
    const groups = [...all].map(([name, parts]) => this.#shown(name, parts, { fromMs, toMs }))
      .sort((a, b) => b.count - a.count || b.lastAtMs - a.lastAtMs);
    const listed = groups.slice(0, MOST_LISTED);
    const unlisted = groups.slice(MOST_LISTED).reduce((sum, { count }) => sum + count, 0);
    return {
      groups: listed,
      looked,
      others: others + unlisted,
      hasMore: looks.some(([, { hasMore }]) => hasMore),
      ...(groupsOfAll.length === 0 ? {} : { fromMs, toMs }),
    };
  }

  #shown(
    name: string,
    parts: readonly (readonly [pool: string, group: Group])[],
    { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
  ): FailureGroupJson {
    const { show } = this.#options;
    const times = parts.flatMap(([, { endedAtMs }]) => endedAtMs);
    const span = spanOf(parts.map(([, group]) => group));
    const series = new Array<number>(PARTS).fill(0);
    for (const atMs of times) {
      const place = Math.floor(PARTS * (atMs - fromMs) / Math.max(1, toMs - fromMs));
      series[Math.min(PARTS - 1, place)]!++;
    }
    const [{ example }] = parts.map(([, group]) => group)
      .sort((a, b) => (b.endedAtMs[0] ?? 0) - (a.endedAtMs[0] ?? 0)) as [Group];
    const error = example.error === undefined
      ? {}
      : { error: String(show(example.error, example.payload)) };
    return {
      group: String(show(name)),
      count: times.length,
      firstAtMs: span.fromMs,
      lastAtMs: span.toMs,
      series,
      pools: Object.fromEntries(parts.map(([pool, { endedAtMs }]) => [pool, endedAtMs.length])),
      example: { id: example.id, pool: example.pool, ...error },
    };
  }
}

/** What a dead job's failure has in common with others. */
export function groupOf({ error, reason }: Pick<JobRecord, "error" | "reason">): string {
  return error === undefined ? `(${reason ?? "unknown"})` : signatureOf(error);
}

/** From the first to the last end of some groups. */
function spanOf(groups: readonly Group[]): { readonly fromMs: number; readonly toMs: number } {
  let [fromMs, toMs] = [Infinity, -Infinity];
  for (const { endedAtMs } of groups) {
    for (const atMs of endedAtMs) {
      fromMs = Math.min(fromMs, atMs);
      toMs = Math.max(toMs, atMs);
    }
  }
  return { fromMs, toMs };
}

async function latestOf(pool: PoolHandle, most: number): Promise<Look> {
  const groups = new Map<string, Group>();
  let [looked, others] = [0, 0];
  let cursor: string | undefined;
  do {
    const limit = Math.min(PAGE, most - looked);
    const page = await pool.list({ ...LIST_ORDER, state: "dead", limit, cursor });
    for (const job of page.jobs) {
      looked++;
      const name = groupOf(job);
      const known = groups.get(name);
      if (known !== undefined) known.endedAtMs.push(job.endedAtMs ?? 0);
      else if (groups.size >= MOST_GROUPS) others++;
      else {
        const { history: _, ...example } = job; // kept for a while: the rest of it is not needed
        groups.set(name, { endedAtMs: [job.endedAtMs ?? 0], example });
      }
    }
    cursor = page.cursor;
    await setImmediate(); // a store in memory answers at once: others have their turn between
  } while (cursor !== undefined && looked < most);
  return { groups, looked, others, hasMore: cursor !== undefined };
}
