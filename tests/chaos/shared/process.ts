/**
 * One process of a schedule: some of the pools, behind a door that fails, on a clock of its own.
 *
 * @module
 */

import { start } from "../../../mod.ts";
import type { MemoryStore } from "../../../stores/memory/mod.ts";
import { RetryLater } from "../../../src/contract/errors.ts";
import type { PoolEvent } from "../../../src/contract/event.ts";
import type { Job, JobContext } from "../../../src/contract/job.ts";
import { defineStore, type Plugin } from "../../../src/contract/plugin.ts";
import type { HandlerFunction } from "../../../src/config/slot_input.ts";
import type { Sluice } from "../../../src/runtime/handles.ts";
import type { VirtualClock } from "../../../src/time/virtual_clock.ts";
import { SkewedClock } from "../clock.ts";
import type { Faults } from "../seat.ts";
import { configOf, type PoolName, POOLS } from "./draw.ts";
import { SharedDoor } from "./door.ts";
import type { Receivers, Running } from "./receivers.ts";

/** After a fault a pool may keep away from its store for so long, ms. */
const BACKOFF_MS = 11_000;
/** A receiver refuses a job after so long, ms. */
const REFUSES_MS = 5;

/** What all processes share. */
export interface SharedWorld {
  readonly clock: VirtualClock;
  readonly store: MemoryStore;
  readonly receivers: Receivers;
  readonly seed: number;
}

/** A process. */
export class SharedProcess {
  readonly name: string;
  readonly clock: SkewedClock;
  readonly faults: Faults = {
    calls: [],
    how: "throw",
    untilMs: -Infinity,
    latencyMs: 0,
    lateUntilMs: -Infinity,
  };
  readonly pools: readonly PoolName[];
  /** When the breaker of a downstream closed here last, true time. */
  readonly closedAtMs = new Map<string, number>();
  sluice!: Sluice;
  isDraining = false;
  /** Until then it may not have heard what others say, true time. */
  excusedUntilMs: number;
  readonly #world: SharedWorld;
  readonly #plugin: Plugin<"store">;
  readonly #handlers = Object.fromEntries(
    POOLS.map((pool) => [pool, this.#handler(pool)]),
  ) as Record<
    PoolName,
    HandlerFunction
  >; // of each pool

  /** Makes a process that has not started. */
  constructor(world: SharedWorld, number: number, pools: readonly PoolName[], offsetMs: number) {
    this.name = `process ${number}`;
    this.pools = pools;
    this.#world = world;
    this.clock = new SkewedClock(world.clock, offsetMs);
    this.#plugin = defineStore({
      name: "shared",
      create: () => new SharedDoor(world.store, this),
    });
    this.excusedUntilMs = world.clock.nowMs();
  }

  /** True if it can be asked for something. */
  get awake(): boolean {
    return !this.clock.dead && !this.clock.stalled && !this.isDraining;
  }

  /** Starts it. */
  async start(variant: 0 | 1): Promise<void> {
    this.sluice = await start(this.#config(variant), {
      clock: this.clock,
      seed: this.#world.seed,
      observer: (event) => this.#observe(event),
    });
  }

  /** Moves it to the other numbers of connections, or back. */
  reload(variant: 0 | 1): Promise<unknown> {
    return this.sluice.reload(this.#config(variant));
  }

  /** Ends it without a word. */
  kill(): void {
    this.clock.kill();
    const { running } = this.#world.receivers;
    for (const run of running) if (run.process === this) running.delete(run);
  }

  /** Nothing of it runs for a while, or its store fails or is late. `takes`: others may take what it has. */
  excuse(ms: number, takes: boolean): void {
    const untilMs = this.clock.trueMs + ms + BACKOFF_MS;
    this.excusedUntilMs = Math.max(this.excusedUntilMs, untilMs);
    if (takes) this.#world.receivers.disturbed(ms);
  }

  /** What was done to it is over. */
  heal(): void {
    this.faults.untilMs = this.faults.lateUntilMs = -Infinity;
  }

  #config(variant: 0 | 1): ReturnType<typeof configOf> {
    const run = (pool: PoolName): HandlerFunction => this.#handlers[pool];
    return configOf({ run, store: this.#plugin, pools: this.pools, variant });
  }

  #handler(pool: PoolName): HandlerFunction {
    return ({ key, payload }: Job, context: JobContext) => {
      const { receivers } = this.#world;
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      const run: Running = { process: this, pool, key, startedAtMs: this.clock.nowMs() };
      const refused = receivers.started(run);
      const end = (how: () => void): void => {
        if (this.clock.dead) return;
        timer.cancel();
        receivers.running.delete(run);
        how();
      };
      const ms = refused === undefined ? Number(payload) : REFUSES_MS;
      const timer = this.clock.at(this.clock.nowMs() + ms, () =>
        end(() => {
          if (refused === undefined) return resolve("ok");
          const { by, askedMs } = refused;
          if (by.startsWith("key:")) context.overloaded(askedMs);
          else context.overloaded(askedMs, by);
          reject(new RetryLater(askedMs ?? 100, "not now"));
        }));
      context.signal.addEventListener("abort", () => end(() => reject(context.signal.reason)));
      return promise;
    };
  }

  #observe(event: PoolEvent): void {
    const { receivers } = this.#world;
    switch (event.kind) {
      case "cooldown-began":
        if (event.downstream !== undefined) {
          receivers.opened(this, event.downstream, event.untilMs);
        }
        return;
      case "cooldown-ended":
        if (event.downstream !== undefined) receivers.closed(this, event.downstream);
        return;
      case "plugin-failed":
        return receivers.breach(`${event.plugin} failed: ${event.error}`);
      case "worker-failed":
        return receivers.breach(event.error);
    }
  }
}
