/**
 * Starts, reloads and stops the pools of one config.
 *
 * @module
 */

import { type Clock, systemClock } from "../time/clock.ts";
import { Wall } from "../time/wall.ts";
import { poolOf } from "../config/diff.ts";
import type { ConfigSource, Resolver } from "../config/resolver.ts";
import { messageOf } from "../contract/errors.ts";
import type { AuditEntry, ConfigChange, Observer } from "../contract/event.ts";
import type { JobRecord, Logger, NewJob } from "../contract/job.ts";
import { silentLogger } from "./log.ts";
import type { Bound } from "../contract/plugin.ts";
import { randomStream } from "../base/random.ts";
import type { Settings } from "../config/settings.ts";
import type {
  JobHandle,
  PoolHandle,
  ReloadOptions,
  ReloadReport,
  RunOptions,
  SliceReport,
  Sluice,
  StopReport,
} from "./handles.ts";
import { suggestion } from "../base/suggest.ts";
import { checkAudit, checkedNames, checkFunction, checkMs, checkReload } from "./called.ts";
import { EventHub } from "./event_hub.ts";
import { closeStore, openPool } from "./open_pool.ts";
import type { Pool } from "./pool.ts";
import { ProcessSeats } from "./process_seats.ts";
import { SharedBreakers } from "./shared_breaker.ts";
import { changesTo, countRemoved, prepareReload, type Reloaded, type Running } from "./reload.ts";
import { Redaction } from "../config/redaction.ts";
import { Takers } from "./takers.ts";
import type { Telemetry } from "./telemetry.ts";

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
  /**
   * Names of the pools whose jobs this process runs; `[]`: none. The others take jobs here all the same:
   * they run in processes that share the store. @default {all}
   */
  readonly pools?: readonly string[] | undefined;
}

/** How a supervisor is set up by the one that puts it together. */
export interface Supervision extends SupervisorOptions {
  /** Traces jobs and exports figures. `undefined`: none. */
  readonly telemetry?: Telemetry | undefined;
}

/**
 * Opens the store and all pools. If one fails, what was opened is closed again.
 *
 * @param settings What to run.
 * @param options How.
 * @param resolve Resolves the config of a reload. `undefined`: there is no reload.
 */
export async function supervise(
  settings: Settings,
  options: Supervision = {},
  resolve?: Resolver,
): Promise<Supervisor> {
  const { clock = systemClock(), observer, telemetry } = options;
  const worked = workedOf(options.pools, settings);
  const redaction = new Redaction(settings.redact, settings.shown);
  const log = redaction.logger(options.log ?? silentLogger());
  const seed = options.seed ?? crypto.getRandomValues(new Uint32Array(1))[0]!;
  const hub = new EventHub(log, redaction, clock.wall);
  if (observer !== undefined) hub.observe(observer);
  const store = await settings.store.create({
    pool: "",
    lanes: [],
    size: { min: 0, max: 0 },
    random: randomStream(seed, "store"),
    log,
  });
  const seats = new ProcessSeats();
  const breakers = new SharedBreakers({
    store,
    now: () => clock.nowMs(),
    wall: clock.wall ?? new Wall(),
    random: randomStream(seed, "breakers"),
  });
  const takers = new Takers();
  const { durable = true } = settings.store.plugin ?? {};
  const shared = { seats, breakers, takers, worked };
  const context = { store, durable, clock, hub, log, seed, telemetry, redaction, ...shared };
  if (worked !== undefined && !durable && worked.size < settings.pools.length) {
    log.warn("The store is in memory: jobs of pools that are not worked here run nowhere");
  }
  const pools: Pool[] = [];
  try {
    for (const pool of settings.pools) pools.push(await openPool(pool, context));
  } catch (thrown) {
    await Promise.all(pools.map((pool) => pool.drain()));
    await closeStore(context);
    throw thrown;
  }
  return new Supervisor({ settings, pools, context }, resolve);
}

/** A pool that is to be worked is not there. */
export class UnknownPoolError extends TypeError {
  /** Says what may be meant. */
  constructor(name: string, known: readonly string[]) {
    super(`No pool is named "${name}"${suggestion(name, known)}`);
  }
}

/** Names of pools that are to be worked. @throws {UnknownPoolError} If there is no such pool. */
function workedOf(
  names: readonly string[] | undefined,
  { pools }: Settings,
): ReadonlySet<string> | undefined {
  if (names === undefined) return undefined;
  const known = pools.map(({ name }) => name);
  const wrong = checkedNames(names).find((name) => !known.includes(name));
  if (wrong === undefined) return new Set(names);
  throw new UnknownPoolError(wrong, known);
}

/** A running config. */
export class Supervisor implements Sluice {
  /** Set by the one that serves the admin API, with what stops it. */
  admin: { readonly url: string; stop(): Promise<void> } | undefined;
  readonly #resolve: Resolver | undefined;
  readonly #leaving = new Map<Pool, Promise<StopReport>>();
  #running: Running;
  #byName: ReadonlyMap<string, Pool>;
  #reloads: Promise<unknown> = Promise.resolve();
  #stopping: Promise<StopReport> | undefined;
  readonly #stopped = new AbortController();
  readonly #unwatch: (() => Promise<void>) | undefined;
  readonly #unheard: (() => void) | undefined;

  /** Holds what `supervise` opened. */
  constructor(running: Running, resolve: Resolver | undefined) {
    this.#running = running;
    this.#byName = byName(running.pools);
    this.#resolve = resolve;
    this.#unheard = running.context.clock.wall?.onStep((byMs) => this.#stepped(byMs));
    this.#unwatch = running.context.telemetry?.watch(() => this.pools);
  }

  get config(): unknown {
    return this.#running.settings.shown;
  }

  get store(): Bound<"store"> {
    return this.#running.settings.store;
  }

  get stopped(): AbortSignal {
    return this.#stopped.signal;
  }

  get pools(): readonly PoolHandle[] {
    return this.#running.pools;
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

  run(pool: string, job: NewJob, options?: RunOptions): Promise<unknown> {
    try {
      return this.pool(pool).run(job, options);
    } catch (thrown) {
      return Promise.reject(thrown);
    }
  }

  post(pool: string, job: NewJob): void {
    this.pool(pool).post(job);
  }

  async find(id: string): Promise<JobRecord | undefined> {
    for (const pool of [...this.pools, ...this.#leaving.keys()]) {
      const record = await pool.find(id);
      if (record !== undefined) return record;
    }
    return undefined;
  }

  traceparent(): string | undefined {
    return this.#running.context.telemetry?.traceparent();
  }

  observe(observer: Observer, { jobs = true }: { readonly jobs?: boolean } = {}): () => void {
    checkFunction("a function that takes events", observer);
    return this.#running.context.hub.observe(observer, jobs);
  }

  audit(entry: AuditEntry): void {
    checkAudit(entry);
    const { hub, clock } = this.#running.context;
    if (hub.watched) hub.emit({ ...entry, kind: "audit", atMs: clock.nowMs() });
  }

  reload(config?: ConfigSource, options: ReloadOptions = {}): Promise<ReloadReport> {
    const turn = this.#reloads.then(() => this.#reload(config, options));
    this.#reloads = turn.catch(() => {}); // the caller hears of it
    return turn;
  }

  async slice(forMs: number): Promise<SliceReport> {
    checkMs("forMs", forMs);
    const left = await Promise.all(this.#running.pools.map((pool) => pool.slice(forMs)));
    return { left: left.reduce((sum, jobs) => sum + jobs, 0) };
  }

  stop(): Promise<StopReport> {
    this.#stopping ??= this.#end();
    return this.#stopping;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #reload(
    config: ConfigSource | undefined,
    options: ReloadOptions,
  ): Promise<ReloadReport> {
    checkReload(options);
    const { dryRun = false, sealed = false } = options;
    if (this.#stopping !== undefined) throw new Error("Cannot reload: the pools are stopping");
    if (this.#resolve === undefined) {
      throw new TypeError("This system cannot reload: it was not made by start()");
    }
    const next = await this.#resolve(config, { sealed });
    await countRemoved(this.#running, next.settings);
    const changes = shownChanges(this.#running, next.settings);
    const report = { changes, stale: next.stale, dryRun };
    if (dryRun) return report;
    const prepared = await prepareReload(this.#running, next);
    try {
      if (this.#stopping !== undefined) throw new Error("Cannot reload: the pools are stopping");
      this.#put(prepared.commit());
    } catch (thrown) {
      await prepared.abandon();
      throw thrown;
    }
    this.#tell(changes);
    return report;
  }

  #put(reloaded: Reloaded): void {
    const { redact, shown } = reloaded.settings;
    reloaded.context.redaction.adopt(redact, shown);
    this.#running = reloaded;
    this.#byName = byName(reloaded.pools);
    for (const pool of reloaded.gone) this.#leave(pool);
  }

  /** Drains a pool that is configured no more. */
  #leave(pool: Pool): void {
    const { log } = this.#running.context;
    const left = pool.drain();
    this.#leaving.set(pool, left);
    left.then(({ handedBack, stuck, unstored, waiting }) => {
      this.#leaving.delete(pool);
      log.info("A pool that was removed has stopped", {
        pool: pool.name,
        handedBack: handedBack.length,
        stuck: stuck.length,
        unstored,
        waiting,
      });
    }, (thrown) => {
      log.error("A pool that was removed failed to stop", {
        pool: pool.name,
        error: messageOf(thrown),
      });
    });
  }

  /** The wall clock was set: everything that goes by it is looked at again. */
  #stepped(byMs: number): void {
    const { hub, clock, log } = this.#running.context;
    if (hub.watched) hub.emit({ kind: "clock-stepped", atMs: clock.nowMs(), pool: "", byMs });
    if (!hub.active) log.warn("The wall clock was changed, or the machine slept", { byMs });
    for (const pool of [...this.#running.pools, ...this.#leaving.keys()]) pool.stepped(byMs);
  }

  #tell(changes: readonly ConfigChange[]): void {
    const { hub, clock } = this.#running.context;
    if (!hub.watched) return;
    for (const [pool, own] of Map.groupBy(changes, poolOf)) {
      hub.emit({ kind: "reloaded", atMs: clock.nowMs(), pool, changes: own });
    }
  }

  async #end(): Promise<StopReport> {
    try {
      const { pools, context } = this.#running;
      const reports = await Promise.all([
        ...pools.map((pool) => pool.drain()),
        ...this.#leaving.values(),
      ]);
      this.#stopped.abort(); // before the store closes: what still reads it ends
      await closeStore(context);
      return {
        handedBack: reports.flatMap((report) => report.handedBack),
        stuck: reports.flatMap((report) => report.stuck),
        unstored: reports.reduce((sum, report) => sum + report.unstored, 0),
        waiting: reports.reduce((sum, report) => sum + report.waiting, 0),
      };
    } finally {
      this.#stopped.abort();
      this.#unheard?.();
      await this.#unwatch?.();
      await this.admin?.stop();
    }
  }
}

/** What a reload changes, without what either config hides. */
function shownChanges(running: Running, next: Settings): readonly ConfigChange[] {
  const { redact, shown } = running.settings;
  const redaction = new Redaction([...redact, ...next.redact], [shown, next.shown]);
  return changesTo(running, next).map(redaction.change);
}

function byName(pools: readonly Pool[]): ReadonlyMap<string, Pool> {
  return new Map(pools.map((pool) => [pool.name, pool]));
}
