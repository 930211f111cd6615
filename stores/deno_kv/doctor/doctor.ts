/**
 * Checks an offline database for inconsistencies, and repairs it.
 *
 * @module
 */

import { delay } from "../../../src/base/async.ts";
import type { StoreDoctor } from "../../../src/contract/doctor.ts";
import { findFaults } from "./audit.ts";
import { countIn } from "../read/counts.ts";
import { Db } from "../io/db.ts";
import { checkSchema } from "../io/open.ts";
import {
  newerDatabase,
  PoolKeys,
  SCHEMA,
  SCHEMA_KEY,
  SIGNAL_KEY,
  stateKey,
} from "../record/keys.ts";
import { AHEAD_MS } from "../members/restamp.ts";
import type { StoreFault } from "./inventory.ts";
import { KvStore } from "../store.ts";
import { findShared } from "../shared.ts";
import { poolNames } from "../io/upgrade.ts";
import { beatIn } from "../members/membership.ts";
import { AtomicOperation } from "../io/atomic_operation.ts";

/** A fault, and the pool that it is in. */
export interface PoolFault extends StoreFault {
  /** Name of the pool. */
  readonly pool: string;
}

/** What a database holds. */
export interface Contents {
  /** Names of its pools. */
  readonly pools: readonly string[];
  /** Jobs that have not ended. */
  readonly jobs: number;
}

/** Sign of life of one process. */
interface Sign {
  readonly pool: string;
  readonly key: Deno.KvKey;
  readonly versionstamp: string;
  readonly leaseMs: number;
}

/** A process beats three times in a lease: so much of one shows whether it lives. */
const WATCHED_SHARE = 0.6;

/** Shortest time that signs of life are waited for, ms. */
const SHORTEST_WATCH_MS = 500;

/** Most bytes of a counter, a pointer or a record of places. */
const MEND_BYTES = 4000;

/** How long a sign of life counts that cannot be read, ms. */
const UNKNOWN_LEASE_MS = 30_000;

/** The latest time that a `Date` shows. */
const LATEST_MS = 8.64e15;

/** Key of what a schedule has done. */
const SCHEDULE = /^schedule\/(.*)\/[^/]*$/;

/** Repairs that follow from repairs: one that finds nothing more to do ends it. */
const MOST_ROUNDS = 4;

/** A database that nobody works on. */
export class Doctor implements StoreDoctor {
  readonly #kv: Deno.Kv;
  readonly #db: Db;

  /** Looks after an open database. The one that opened it closes it. */
  constructor(kv: Deno.Kv) {
    this.#kv = kv;
    this.#db = new Db(kv, { remote: false, maxChecks: 100, random });
  }

  /**
   * Finds out what is in it.
   *
   * @throws {RangeError} If a newer release has written it, or if it is not Sluice's.
   */
  async contents(): Promise<Contents> {
    const { value: version, versionstamp } = await this.#kv.get<unknown>(SCHEMA_KEY);
    if (versionstamp === null) throw new RangeError("Sluice has never written to this database");
    if (typeof version === "number" && version > SCHEMA) {
      throw newerDatabase(version, "use the doctor of");
    }
    const pools = await this.#pools();
    let jobs = 0;
    for (const pool of pools) {
      for await (
        const { key, value } of this.#kv.list<Deno.KvU64>({ prefix: new PoolKeys(pool).of("c") })
      ) if (key[4] !== -1) jobs += countIn(value);
    }
    return { pools, jobs };
  }

  /**
   * Looks whether a process works on it: waits for signs of life if there is anyone who may be alive.
   *
   * @param waiting Told how long that takes, ms, before it waits.
   * @returns Pools that someone works on.
   */
  async worked(waiting: (ms: number) => void): Promise<readonly string[]> {
    const before = await this.#signs();
    if (before.length === 0) return [];
    const leases = before.map(({ leaseMs }) => leaseMs);
    const ms = Math.max(SHORTEST_WATCH_MS, ...leases.map((leaseMs) => leaseMs * WATCHED_SHARE));
    const signal = await this.#kv.get(SIGNAL_KEY);
    waiting(ms);
    await delay(ms);
    const known = new Set(before.map(versionOf));
    const now = await this.#signs();
    const alive = now.filter((sign) => !known.has(versionOf(sign)));
    const isQuiet = (await this.#kv.get(SIGNAL_KEY)).versionstamp === signal.versionstamp;
    const signs = alive.length === 0 && !isQuiet ? now : alive;
    return [...new Set(signs.map(({ pool }) => pool))];
  }

  /** What does not agree. */
  async faults(nowMs: number = Date.now()): Promise<readonly PoolFault[]> {
    const found: PoolFault[] = [...await this.#aheadMarks(nowMs)];
    for (const pool of await this.#pools()) {
      for (const fault of await findFaults(this.#kv, pool)) found.push({ ...fault, pool });
    }
    return [...found, ...await findShared(this.#db)];
  }

  /** Repairs what can be repaired. Nobody may work on it. What is left of faults. */
  async repair(nowMs: number): Promise<readonly PoolFault[]> {
    await this.#mend(await findShared(this.#db));
    await checkSchema(this.#db);
    for (const { key } of await this.#signs()) {
      // Frozen ones could wake up meanwhile: without a fence they change nothing.
      const pool = new PoolKeys(String(key[2]));
      await this.#kv.atomic().delete(pool.of("w", key[4]!)).delete(key).commit();
    }
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const faults = await this.faults(nowMs);
      const broken = faults.filter(({ kind }) => kind === "unreadable" || kind === "job-twice");
      if (broken.length > 0) { // what is counted is not known before
        await this.#mend(broken);
        continue;
      }
      const orphaned = new Set(
        faults.filter(({ kind }) => kind === "lease-orphaned").map(({ pool }) => pool),
      );
      await this.#mend(faults);
      for (const pool of orphaned) await this.#takeBack(pool, nowMs);
      if (faults.every(({ repair }) => repair === undefined)) break;
    }
    return await this.faults(nowMs);
  }

  /** Schedules that are done up to a time to come: none of their times comes until then. */
  async #aheadMarks(nowMs: number): Promise<readonly PoolFault[]> {
    const found: PoolFault[] = [];
    const prefix = stateKey("").slice(0, -1);
    for await (const { key, value } of this.#kv.list<{ readonly atMs?: unknown }>({ prefix })) {
      const pool = SCHEDULE.exec(String(key.at(-1)))?.[1];
      const atMs = value?.atMs;
      if (pool === undefined || typeof atMs !== "number" || atMs <= nowMs + AHEAD_MS) continue;
      found.push({
        pool,
        kind: "schedule-ahead",
        saw: `A schedule is marked done up to ${
          new Date(Math.min(atMs, LATEST_MS)).toISOString()
        }, by a clock that was ahead`,
        repair: "restart it now",
        mends: [[key, { atMs: nowMs }]],
      });
    }
    return found;
  }

  #pools(): Promise<readonly string[]> {
    return poolNames(this.#db);
  }

  async #signs(): Promise<readonly Sign[]> {
    const signs: Sign[] = [];
    for (const pool of await this.#pools()) {
      const prefix = new PoolKeys(pool).of("h");
      for await (const { key, value, versionstamp } of this.#kv.list({ prefix })) {
        const { leaseMs } = beatIn(value, UNKNOWN_LEASE_MS);
        signs.push({ pool, key, versionstamp, leaseMs });
      }
    }
    return signs;
  }

  async #mend(faults: readonly PoolFault[]): Promise<void> {
    const mends = faults.flatMap((fault) => fault.mends);
    for (let from = 0; from < mends.length;) {
      const transaction = new AtomicOperation(this.#db);
      let to = from;
      for (; to < mends.length && !transaction.isFull; to++) {
        const [key, value] = mends[to]!;
        if (value === undefined) transaction.delete(key);
        else transaction.set(key, value, value instanceof Uint8Array ? value.length : MEND_BYTES);
      }
      if (await transaction.commit(false) !== undefined) from = to;
    }
  }

  /** As a member that joins does it: jobs of dead members go back, their attempt charged. */
  async #takeBack(pool: string, nowMs: number): Promise<void> {
    const unshared = { file: undefined, remote: false, pollMs: Infinity, seen: 0 };
    const queue = await new KvStore(this.#db, unshared).open({
      pool,
      lanes: [],
      attempts: [],
      leaseMs: 30_000,
      keep: { done: Infinity, dead: Infinity, forMs: Infinity },
      random,
      nowMs,
      listener: { wake() {}, cancelled() {}, ended() {} },
    });
    await queue.renew(nowMs);
    await queue.leave(nowMs);
  }
}

/** There is nobody whose tries are to be spread. */
function random(): number {
  return 0.5;
}

function versionOf({ key, versionstamp }: Sign): string {
  return JSON.stringify([key, versionstamp]);
}

/**
 * Opens a database file for care.
 *
 * @throws {Deno.errors.NotFound} If there is no such file: none is made.
 */
export async function openForDoctor(
  file: string,
): Promise<{ readonly doctor: Doctor; close(): void }> {
  await Deno.stat(file);
  const kv = await Deno.openKv(file);
  return { doctor: new Doctor(kv), close: () => kv.close() };
}
