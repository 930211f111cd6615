/**
 * Starts and stops the pools of one config.
 *
 * @module
 */

import { type Clock, systemClock } from "../clock.ts";
import type { AuditEntry, Observer } from "../event.ts";
import type { JobRecord, Logger, NewJob } from "../job.ts";
import { silentLogger } from "../log.ts";
import type { Bound } from "../plugin.ts";
import { randomStream } from "../random.ts";
import type { Settings } from "../settings.ts";
import type { JobHandle, PoolHandle, Sluice, StopReport } from "../sluice.ts";
import { suggestion } from "../suggest.ts";
import { EventHub } from "./event_hub.ts";
import { openPool } from "./pool.ts";

/** How a supervisor is set up. */
export interface SupervisorOptions {
  /** Real or virtual time. @default {systemClock()} */
  readonly clock?: Clock | undefined;
  /** Where pools and handlers log. @default {nowhere} */
  readonly log?: Logger | undefined;
  /** Seed of all chance: jitter, ids, strategies. @default {drawn at random} */
  readonly seed?: number | undefined;
  /** Told of every event from the very first. */
  readonly observer?: Observer | undefined;
}

/** Opens the store and all pools. If one fails, what was opened is closed again. */
export async function supervise(
  settings: Settings,
  options: SupervisorOptions = {},
): Promise<Supervisor> {
  const { clock = systemClock(), log = silentLogger(), observer } = options;
  const seed = options.seed ?? crypto.getRandomValues(new Uint32Array(1))[0]!;
  const hub = new EventHub(log);
  if (observer !== undefined) hub.observe(observer);
  const store = await settings.store.create({
    pool: "",
    lanes: [],
    size: { min: 0, max: 0 },
    random: randomStream(seed, "store"),
    log,
  });
  const pools: PoolHandle[] = [];
  const stop = async (): Promise<StopReport> => {
    const reports = await Promise.all(pools.map((pool) => pool.drain()));
    await store.close();
    return {
      handedBack: reports.flatMap((report) => report.handedBack),
      stuck: reports.flatMap((report) => report.stuck),
      waiting: reports.reduce((sum, report) => sum + report.waiting, 0),
    };
  };
  try {
    for (const pool of settings.pools) {
      pools.push(await openPool(pool, { store, clock, hub, log, seed }));
    }
  } catch (thrown) {
    await stop();
    throw thrown;
  }
  return new Supervisor(settings, pools, { hub, clock }, stop);
}

/** A running config. */
export class Supervisor implements Sluice {
  readonly config: unknown;
  readonly store: Bound<"store">;
  readonly pools: readonly PoolHandle[];
  /** Set by whoever serves the admin API, with what stops it. */
  admin: { readonly url: string; stop(): Promise<void> } | undefined;
  readonly #byName: ReadonlyMap<string, PoolHandle>;
  readonly #hub: EventHub;
  readonly #clock: Clock;
  readonly #stop: () => Promise<StopReport>;
  #stopping: Promise<StopReport> | undefined;

  /** Holds what `supervise` opened. */
  constructor(
    settings: Settings,
    pools: readonly PoolHandle[],
    shared: { readonly hub: EventHub; readonly clock: Clock },
    stop: () => Promise<StopReport>,
  ) {
    this.config = settings.shown;
    this.store = settings.store;
    this.pools = pools;
    this.#byName = new Map(pools.map((pool) => [pool.name, pool]));
    this.#hub = shared.hub;
    this.#clock = shared.clock;
    this.#stop = stop;
  }

  get adminUrl(): string | undefined {
    return this.admin?.url;
  }

  pool(name: string): PoolHandle {
    const pool = this.#byName.get(name);
    if (pool !== undefined) return pool;
    throw new TypeError(
      `No pool is named "${String(name)}"${suggestion(String(name), this.#byName.keys())}`,
    );
  }

  async enqueue(pool: string, job: NewJob): Promise<JobHandle> {
    return await this.pool(pool).enqueue(job);
  }

  post(pool: string, job: NewJob): void {
    this.pool(pool).post(job);
  }

  async find(id: string): Promise<JobRecord | undefined> {
    for (const pool of this.pools) {
      const record = await pool.find(id);
      if (record !== undefined) return record;
    }
    return undefined;
  }

  observe(observer: Observer): () => void {
    return this.#hub.observe(observer);
  }

  audit(entry: AuditEntry): void {
    if (this.#hub.active) this.#hub.emit({ ...entry, kind: "audit", atMs: this.#clock.nowMs() });
  }

  stop(): Promise<StopReport> {
    this.#stopping ??= this.#end();
    return this.#stopping;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #end(): Promise<StopReport> {
    try {
      return await this.#stop();
    } finally {
      await this.admin?.stop();
    }
  }
}
