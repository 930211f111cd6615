/**
 * The store in Deno KV: queues by pool, shared state, and what tells of other processes.
 *
 * @module
 */

import type { Logger } from "../../src/contract/job.ts";
import type { QueueOptions, StateEntry, Store } from "../../src/contract/store.ts";
import { Alive } from "./members/alive.ts";
import type { Others } from "./context.ts";
import type { Db } from "./io/db.ts";
import { Completions } from "./end/completions.ts";
import { SIGNAL_KEY, stateKey } from "./record/keys.ts";
import { withAdvice } from "./io/open.ts";
import { openQueue } from "./open_queue.ts";
import type { KvQueue } from "./queue.ts";
import { Wake } from "./io/wake.ts";

/** How long what is on its way may take once the store closes, ms. */
const CLOSED_WITHIN_MS = 5000;

/** How a store hears of other processes. */
export interface KvStoreOptions {
  /** The database file, if others may open it too. */
  readonly file: string | undefined;
  /** What stores of this process with the same jobs say alike. Omitted: there are no others. */
  readonly place?: string | undefined;
  /** True over the network. */
  readonly remote: boolean;
  /** Longest wait between two polls, ms. `Infinity`: nobody else can change anything. */
  readonly pollMs: number;
  /** Value of the signal when the database was opened. */
  readonly seen: number;
  /** Hears of what pools are not told. @default {nobody does} */
  readonly log?: Logger;
}

/** Jobs and shared state in Deno KV. Pools that are opened under one name share their jobs. */
export class KvStore implements Store {
  readonly place: string | undefined;
  readonly #db: Db;
  readonly #file: string | undefined;
  readonly #wake: Wake;
  readonly #log: Logger | undefined;
  readonly #alive: Alive | undefined;
  readonly #queues = new Map<string, Set<KvQueue>>();
  readonly #completions = new Map<string, Completions>();

  /** Serves an open database, and closes it in the end. */
  constructor(db: Db, options: KvStoreOptions) {
    this.place = options.place;
    this.#db = db;
    this.#file = options.file;
    this.#log = options.log;
    this.#alive = options.file === undefined ? undefined : new Alive(options.file);
    this.#wake = new Wake(db, { ...options, changed: () => this.#changed() });
  }

  /** Name of this process. `undefined`: others cannot look whether it still is. */
  get process(): string | undefined {
    return this.#alive?.process;
  }

  /** True if that process of this machine has ended. */
  isGone(process: string): boolean {
    return this.#alive?.isGone(process) ?? false;
  }

  /** Opens the queue of one pool and joins as a member. */
  async open(options: QueueOptions): Promise<KvQueue> {
    const { pool } = options;
    const queues = this.#queues.get(pool) ?? new Set();
    this.#queues.set(pool, queues);
    const completions = this.#completions.get(pool) ?? new Completions();
    this.#completions.set(pool, completions);
    let mine: KvQueue | undefined;
    const others: Others = {
      wake: () => {
        for (const queue of queues) {
          if (queue !== mine) queue.changed().catch(() => {}); // its own calls tell of the fault
        }
      },
      outdate: () => {
        for (const queue of queues) if (queue !== mine) queue.outdate();
      },
    };
    const left = (): void => {
      if (mine !== undefined) queues.delete(mine);
    };
    const shares = { db: this.#db, completions, others, alive: this.#alive, log: this.#log, left };
    try {
      mine = await openQueue(options, shares);
    } catch (thrown) {
      throw withAdvice(this.#file, thrown);
    }
    queues.add(mine);
    return mine;
  }

  /** Reads shared state. */
  async get(key: string): Promise<StateEntry | undefined> {
    const { value, versionstamp } = await this.#db.get(stateKey(key));
    return versionstamp === null ? undefined : { value, version: versionstamp };
  }

  /** Changes shared state if nothing changed under it. */
  async commit(
    checks: Readonly<Record<string, string | undefined>>,
    sets: Readonly<Record<string, unknown>>,
  ): Promise<boolean> {
    const atomic = this.#db.kv.atomic().sum(SIGNAL_KEY, 1n);
    for (const [key, version] of Object.entries(checks)) {
      atomic.check({ key: stateKey(key), versionstamp: version ?? null });
    }
    for (const [key, value] of Object.entries(sets)) {
      if (value === undefined) atomic.delete(stateKey(key));
      else atomic.set(stateKey(key), value);
    }
    const bytes = JSON.stringify([checks, sets]).length;
    return await this.#db.commit({ atomic, signals: true, bytes }) !== undefined;
  }

  /** Leaves all queues and closes the database. Jobs stay. */
  async close(): Promise<void> {
    await this.#wake.close();
    const queues = [...this.#queues.values()].flatMap((queues) => [...queues]);
    const idle = Promise.all(queues.map((queue) => queue.close()));
    try {
      await this.#inTime(idle);
    } finally {
      this.#db.close();
      this.#alive?.close(queues.length > 0); // what has not left may hold leases
    }
    await idle; // what was still on its way has failed
  }

  /** Waits, but not forever: over the network what is on its way may stay so. */
  async #inTime(work: Promise<unknown>): Promise<void> {
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, CLOSED_WITHIN_MS);
    try {
      await Promise.race([work, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #changed(): Promise<void> {
    const queues = [...this.#queues.values()].flatMap((queues) => [...queues]);
    await Promise.all(queues.map((queue) => queue.changed()));
  }
}
