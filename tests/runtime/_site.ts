/**
 * Processes on virtual time that share a store in memory, and a database whose connections are counted.
 *
 * @module
 */

import { start, type StartOptions } from "../../mod.ts";
import { MemoryStore } from "../../stores/memory/mod.ts";
import type { ConfigInput } from "../../src/config/input.ts";
import { defineStore } from "../../src/contract/plugin.ts";
import type { PoolEvent } from "../../src/contract/event.ts";
import type { JobContext } from "../../src/contract/job.ts";
import type { QueueListener, Store } from "../../src/contract/store.ts";
import type { Sluice } from "../../src/runtime/handles.ts";
import type { Clock } from "../../src/time/clock.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";

/** What handlers call: counts the connections in use, by pool. */
export class Database {
  most = 0;
  readonly used = new Map<string, number>();
  readonly mean = new Map<string, number>();
  #samples = 0;

  get all(): number {
    return this.used.values().reduce((sum, count) => sum + count, 0);
  }

  take(pool: string, count: number): void {
    this.used.set(pool, (this.used.get(pool) ?? 0) + count);
    this.most = Math.max(this.most, this.all);
  }

  sample(): void {
    this.#samples++;
    for (const [pool, count] of this.used) {
      const before = this.mean.get(pool) ?? 0;
      this.mean.set(pool, before + (count - before) / this.#samples);
    }
  }

  reset(): void {
    this.most = this.#samples = 0;
    this.mean.clear();
  }
}

/** Processes that share a store in memory and a database. */
export class Site {
  readonly clock = new VirtualClock();
  readonly database = new Database();
  /** What all processes told. */
  readonly events: PoolEvent[] = [];
  readonly #store = new MemoryStore();
  readonly #listeners: QueueListener[] = [];
  readonly #processes: { readonly sluice: Sluice; readonly clock: VirtualClock }[] = [];

  /** Starts a process with some pools. Each job takes its payload in ms. */
  async start(
    config: ConfigInput,
    clock = this.clock,
    more: Pick<StartOptions, "pools"> = {},
  ): Promise<Sluice> {
    const own = this.#store;
    const store: Store = {
      open: (given) => {
        this.#listeners.push(given.listener);
        return own.open(given);
      },
      get: (key) => own.get(key),
      commit: (checks, sets) => {
        const ok = own.commit(checks, sets);
        if (ok) { for (const listener of this.#listeners) listener.wake(); } // as over several processes
        return ok;
      },
      close: () => {},
    };
    const plugins = { shared: defineStore({ name: "shared", create: () => store }) };
    const observer = (event: PoolEvent): void => void this.events.push(event);
    const options = { clock, plugins, observer, seed: this.#processes.length + 1, ...more };
    const sluice = await start({ store: "shared", ...config }, options);
    this.#processes.push({ sluice, clock });
    return sluice;
  }

  /** A pool whose workers hold `each` connections while they run. */
  pool(
    name: string,
    each = 1,
    more: Partial<ConfigInput["pools"][string]> = {},
    clock: Clock = this.clock,
  ): ConfigInput["pools"][string] {
    return {
      handler: (job: { payload: unknown }, { signal }: JobContext) =>
        new Promise<void>((resolve, reject) => {
          this.database.take(name, each);
          const timer = clock.at(clock.nowMs() + Number(job.payload), () => {
            this.database.take(name, -each);
            resolve();
          });
          signal.addEventListener("abort", () => {
            timer.cancel();
            this.database.take(name, -each);
            reject(signal.reason);
          });
        }),
      size: { min: 1, max: 50 },
      lanes: [{ name: "all", targetWaitMs: 50 }],
      uses: { db: each },
      adaptive: false,
      admission: "admit-all",
      leaseMs: 3000,
      ...more,
    };
  }

  /** Moves time; processes in `frozen` stand still. */
  async pass(ms: number, frozen: readonly VirtualClock[] = []): Promise<void> {
    const clocks = new Set(this.#processes.map(({ clock }) => clock));
    for (let left = ms; left > 0; left -= 10) {
      for (const clock of clocks) if (!frozen.includes(clock)) await clock.advance(10);
      this.database.sample();
    }
  }

  async stop(): Promise<void> {
    const stopping = this.#processes.map(({ sluice }) => sluice.stop());
    for (const { clock } of this.#processes) await clock.advance(120_000);
    await Promise.all(stopping);
  }
}

/** Runs `test` on a site, then stops its processes. */
export async function onSite(test: (site: Site) => Promise<void>): Promise<void> {
  const site = new Site();
  try {
    await test(site);
  } finally {
    await site.stop();
  }
}

/** Posts jobs that take `ms` each. */
export function post(sluice: Sluice, pool: string, jobs: number, ms = 100): void {
  for (let index = 0; index < jobs; index++) sluice.post(pool, { lane: "all", payload: ms });
}
