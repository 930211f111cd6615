/**
 * One simulated process: real pools on a clock that it can die with.
 *
 * @module
 */

import type { Clock } from "../time/clock.ts";
import type { Bound } from "../contract/plugin.ts";
import { randomStream } from "../base/random.ts";
import { supervise, type Supervisor } from "../runtime/supervisor.ts";
import type { PoolSettings, Settings } from "../config/settings.ts";
import type { PoolHandle } from "../runtime/handles.ts";
import type { MaybePromise, Store } from "../contract/store.ts";
import { durations } from "./chance.ts";
import { Failing } from "./failing.ts";
import { type Downstream, type LaneWork, simulatedHandler, type SimulatedRun } from "./handler.ts";
import type { PoolMeter, Watched } from "./meter.ts";
import { MeteredStore } from "./metered_store.ts";
import { lateClock, ProcessClock } from "./process_clock.ts";
import type { Scenario } from "./read_scenario.ts";
import type { FailingStrategy } from "./report.ts";

/** What all processes of a simulation share. */
export interface World {
  /** What is played. */
  readonly scenario: Scenario;
  /** Real or virtual time. */
  readonly clock: Clock;
  /** When the scenario began, ms since epoch. */
  readonly startMs: number;
  /** True for virtual time: timers are as late as the scenario says. */
  readonly virtual: boolean;
  /** Where jobs live. */
  readonly store: Store;
  /** Counts by pool. */
  readonly meters: ReadonlyMap<string, PoolMeter>;
  /** What attempts come to, by pool and lane. */
  readonly works: ReadonlyMap<string, ReadonlyMap<string, LaneWork>>;
  /** What handlers call. */
  readonly downstream: Downstream;
  /** True while the store answers with errors. */
  readonly storeFails: () => boolean;
  /** Processes that the others are certain have died, as on one file; `undefined`: they only fall silent. */
  readonly gone: Set<string> | undefined;
}

/** What a process is made of. */
interface ProcessParts {
  readonly supervisor: Supervisor;
  readonly clock: ProcessClock;
  readonly running: Set<SimulatedRun>;
  readonly watched: readonly Watched[];
  readonly failing: Failing;
  /** Called once it was killed. */
  readonly killed: () => void;
}

/** A process that runs, or did. */
export class Process {
  readonly #supervisor: Supervisor;
  readonly #clock: ProcessClock;
  readonly #running: Set<SimulatedRun>;
  readonly #watched: readonly Watched[];
  readonly #failing: Failing;
  readonly #killed: () => void;

  /** Holds what `startProcess` started. */
  constructor(parts: ProcessParts) {
    this.#supervisor = parts.supervisor;
    this.#clock = parts.clock;
    this.#running = parts.running;
    this.#watched = parts.watched;
    this.#failing = parts.failing;
    this.#killed = parts.killed;
  }

  /** True until it was killed. */
  get alive(): boolean {
    return !this.#clock.dead;
  }

  /** Nothing of it runs for so long. */
  block(forMs: number): void {
    this.#clock.block(forMs);
  }

  /** Runs this now, or once its event loop is free. */
  soon(run: () => void): void {
    const { blockedUntilMs } = this.#clock;
    if (blockedUntilMs <= this.#clock.nowMs()) run();
    else this.#clock.at(blockedUntilMs, run);
  }

  /** One of its pools. */
  pool(name: string): PoolHandle {
    return this.#supervisor.pool(name);
  }

  /** Strategies of one of its pools that failed. */
  failing(name: string): readonly FailingStrategy[] {
    return this.#failing.of(name);
  }

  /** Drains its pools. */
  async stop(): Promise<void> {
    await this.#supervisor.stop();
  }

  /** Ends it without a word: nothing it has set runs any more. */
  kill(): void {
    this.#clock.kill();
    for (const run of this.#running) run.vanish();
    for (const watched of this.#watched) watched.view = undefined;
    this.#killed();
  }
}

/** Starts a process with all pools of the scenario; `number` tells its chance from that of others. */
export async function startProcess(world: World, number: number): Promise<Process> {
  const { scenario, meters, store, virtual } = world;
  const seed = seedOf(scenario.seed, number);
  const name = String(number);
  const clock = new ProcessClock(world.clock);
  const late = virtual && scenario.timerLateMs !== undefined
    ? lateClock(clock, durations(scenario.timerLateMs, randomStream(seed, "timers")))
    : clock;
  const running = new Set<SimulatedRun>();
  const watched: Watched[] = [];
  const pools = scenario.pools.map(({ settings }): PoolSettings => {
    const meter = meters.get(settings.name)!; // made from the same list
    const watch = meter.watch();
    watched.push(watch);
    const handler = simulatedHandler({
      works: world.works.get(settings.name)!, // made from the same list
      downstream: world.downstream,
      clock: world.clock,
      blockedUntilMs: () => clock.blockedUntilMs,
      running,
      heeds: heedsIn(settings, scenario),
      ended: () => meter.look(),
    });
    const handlers = new Map([...settings.handlers.keys()].map((type) => [type, handler]));
    // What arrives is the scenario's: jobs do not come by themselves, nor of others' ends.
    return {
      ...settings,
      lanes: settings.lanes.map((lane) => ({ ...lane, onDead: undefined, then: undefined })),
      schedules: [],
      handlers,
      controller: watching(settings.controller, watch, meter),
    };
  });
  const latency = new Latency(clock);
  const door = new MeteredStore(store, {
    meters,
    nowMs: () => clock.nowMs(),
    fails: world.storeFails,
    later: scenario.storeMs > 0 ? latency.later : undefined,
    dead: () => clock.dead,
    process: name,
    isGone: (process) => world.gone?.has(process) ?? false,
  });
  const failing = new Failing(world.startMs);
  const options = { clock: late, seed, observer: failing.hear };
  const supervisor = await supervise(settingsOf(pools, door), options);
  latency.ms = scenario.storeMs; // only now: no time passes while a process starts
  const killed = (): void => void world.gone?.add(name);
  return new Process({ supervisor, clock, running, watched, failing, killed });
}

/** The first process has the scenario's own seed. */
function seedOf(seed: number, number: number): number {
  return number === 0 ? seed : Math.floor(randomStream(seed, `process ${number}`)() * 2 ** 32);
}

/** Which attempts may be aborted: at their time limit, at the end of a drain, when a lease is lost. */
function heedsIn(
  { timeoutMs, timeoutMsByType, drainMs, lanes }: PoolSettings,
  { drain, faults }: Scenario,
): (serviceMs: number) => boolean {
  if (faults.some(({ kind }) => kind === "store-error")) return () => true;
  const own = lanes.map((lane) => lane.timeoutMs ?? timeoutMs);
  const limitMs = Math.min(...own, ...Object.values(timeoutMsByType)); // a job of a lane may be of any type
  const longestMs = drain ? Math.min(limitMs, drainMs) : limitMs;
  return (serviceMs) => serviceMs > longestMs;
}

/** How late a process is answered: what it asks for is done at once. */
class Latency {
  /** How late answers come, ms. */
  ms = 0;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  readonly later = <T>(answer: MaybePromise<T>): MaybePromise<T> =>
    this.ms === 0 ? answer : this.#wait(answer);

  async #wait<T>(answer: MaybePromise<T>): Promise<T> {
    const answered = await answer;
    const clock = this.#clock;
    await new Promise<void>((resolve) => clock.at(clock.nowMs() + this.ms, resolve));
    return answered;
  }
}

/** The same controller, but each time it is asked the meter gets to see the pool. */
function watching(
  controller: Bound<"controller">,
  watched: Watched,
  meter: PoolMeter,
): Bound<"controller"> {
  return {
    ...controller,
    create(context) {
      const ask = controller.create(context);
      return (view) => {
        watched.view = view;
        meter.lookSoon();
        return ask(view);
      };
    },
  };
}

function settingsOf(pools: readonly PoolSettings[], store: Store): Settings {
  const bound: Bound<"store"> = {
    kind: "store",
    name: "simulated",
    given: {},
    options: {},
    create: () => store,
  };
  return { store: bound, admin: undefined, redact: [], downstreams: [], pools, shown: undefined };
}
