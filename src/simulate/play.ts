/**
 * Plays a scenario: starts the processes, puts the load on them, lets time pass, reports.
 *
 * @module
 */

import { type Clock, systemClock } from "../time/clock.ts";
import { isRecord } from "../config/faults.ts";
import { silentLogger } from "../runtime/log.ts";
import { randomStream } from "../base/random.ts";
import type { Settings } from "../config/settings.ts";
import type { Store } from "../contract/store.ts";
import { VirtualClock } from "../time/virtual_clock.ts";
import { playFaults } from "./faults.ts";
import { type Downstream, laneWorks } from "./handler.ts";
import { putLoad } from "./load.ts";
import { PoolMeter } from "./meter.ts";
import { poolReport } from "./pool_report.ts";
import { type Process, startProcess, type World } from "./process.ts";
import { ProcessClock } from "./process_clock.ts";
import type { Scenario } from "./read_scenario.ts";
import type { Report } from "./report.ts";
import { passUntil, passWhile, type Watch } from "./time.ts";

/** How a scenario is played. */
export interface PlayOptions extends Watch {
  /** Plays it on the system's clock, with real timers. @default {false} */
  readonly realTime?: boolean | undefined;
}

/** Plays a scenario on the pools of a config, in memory. */
export async function play(
  settings: Settings,
  scenario: Scenario,
  options: PlayOptions = {},
): Promise<Report> {
  const store = await openStore(settings, scenario);
  const clock = options.realTime ? systemClock() : new VirtualClock();
  const gone = isOneFile(settings) ? new Set<string>() : undefined;
  const stage = new Stage({ store, gone }, scenario, clock);
  await stage.open();
  const report = await stage.play(options);
  stage.close();
  await store.close();
  return report;
}

/** Of a store in a file all processes run on one machine, and know that one of them was killed. */
function isOneFile({ shown }: Settings): boolean {
  const store = isRecord(shown) ? shown.store : undefined;
  return isRecord(store) && isRecord(store.with) && typeof store.with.path === "string";
}

async function openStore({ store }: Settings, { seed }: Scenario): Promise<Store> {
  return await store.create({
    pool: "",
    lanes: [],
    size: { min: 0, max: 0 },
    random: randomStream(seed, "store"),
    log: silentLogger(),
  });
}

/** What is on while a scenario is played. */
class Stage {
  readonly #clock: Clock;
  /** Of what comes from outside: load and faults. */
  readonly #outside: ProcessClock;
  readonly #scenario: Scenario;
  readonly #startMs: number;
  readonly #world: World;
  readonly #processes: Process[] = [];
  #storeFails = false;
  #turn = 0;

  constructor({ store, gone }: Pick<World, "store" | "gone">, scenario: Scenario, clock: Clock) {
    const startMs = clock.nowMs();
    const times = {
      now: () => clock.nowMs() - startMs,
      startMs,
      spanMs: scenario.durationMs + scenario.graceMs,
    };
    const meters = new Map(
      scenario.pools.map((pool) => [pool.settings.name, new PoolMeter(pool, times)]),
    );
    const downstream: Downstream = {
      factor: 1,
      slots: 1,
      down: false,
      refuses: false,
      retryAfterMs: undefined,
    };
    this.#clock = clock;
    this.#outside = new ProcessClock(clock);
    this.#scenario = scenario;
    this.#startMs = startMs;
    this.#world = {
      scenario,
      clock,
      startMs,
      virtual: clock instanceof VirtualClock,
      store,
      meters,
      works: new Map(scenario.pools.map((pool) => {
        const { name } = pool.settings;
        return [name, laneWorks(pool, meters.get(name)!, scenario)]; // made just above
      })),
      downstream,
      storeFails: () => this.#storeFails,
      gone,
    };
  }

  /** Starts the processes, the load and the faults. */
  async open(): Promise<void> {
    const { peers, faults } = this.#scenario;
    for (let count = 0; count < peers; count++) await this.#start();
    const startMs = this.#startMs;
    putLoad(this.#world, { clock: this.#outside, startMs, next: () => this.#next() });
    playFaults(faults, {
      at: (atMs, run) => void this.#outside.at(startMs + atMs, run),
      downstream: this.#world.downstream,
      failStore: (fails) => this.#storeFails = fails,
      block: (forMs) => {
        for (const process of this.#processes) process.block(forMs);
      },
      kill: () => this.#processes.findLast((process) => process.alive)?.kill(),
      restart: () => void this.#start(),
    });
    for (const meter of this.#world.meters.values()) meter.sample(); // that it counts from here on
    this.#sampleLater();
  }

  /** Lets the scenario's time pass and reports. */
  async play(watch: Watch): Promise<Report> {
    const { seed, durationMs, graceMs, drain, pools } = this.#scenario;
    await passUntil(this.#clock, this.#startMs + durationMs + graceMs, watch);
    const interrupted = watch.signal?.aborted ?? false;
    if (drain && !interrupted) {
      const alive = this.#processes.filter((process) => process.alive);
      await passWhile(this.#clock, Promise.all(alive.map((process) => process.stop())));
    }
    const startMs = this.#startMs;
    const endMs = this.#clock.nowMs() - startMs;
    const span = {
      startMs,
      endMs,
      durationMs: interrupted ? Math.min(durationMs, endMs) : durationMs,
    };
    const reports = pools.map((pool) => {
      const { name } = pool.settings;
      const meter = this.#world.meters.get(name)!; // made from the same list
      meter.look();
      meter.series.finish(endMs, meter.sample());
      const processes = this.#processes.map((process) => ({
        handle: process.pool(name),
        alive: process.alive,
        failing: process.failing(name),
      }));
      return [name, poolReport({ pool, meter, processes, ...span })] as const;
    });
    return {
      seed,
      durationMs: span.durationMs,
      ...(interrupted ? { interrupted } : {}),
      pools: Object.fromEntries(reports),
    };
  }

  /** Ends all that is set. */
  close(): void {
    this.#outside.kill();
    for (const process of this.#processes) process.kill();
  }

  /** All pools have begun at once, and so have the same times to look at. */
  #sampleLater(): void {
    const meters = [...this.#world.meters.values()];
    this.#outside.at(this.#startMs + meters[0]!.series.dueMs, () => { // a scenario has a pool
      for (const meter of meters) meter.series.add(meter.sample());
      this.#sampleLater();
    });
  }

  async #start(): Promise<void> {
    this.#processes.push(await startProcess(this.#world, this.#processes.length));
  }

  /** Jobs go to the processes in turn. */
  #next(): Process | undefined {
    const count = this.#processes.length;
    for (let tries = 0; tries < count; tries++) {
      const process = this.#processes[this.#turn++ % count]!;
      if (process.alive) return process;
    }
    return undefined;
  }
}
