/**
 * Wires the parts of one pool. Each part owns its state; this file alone knows all of them.
 *
 * @module
 */

import type { Clock } from "../time/clock.ts";
import { Cooldown } from "./cooldown.ts";
import { Counting } from "./counting.ts";
import type { Crew } from "./crew.ts";
import { Dispatch } from "./dispatch.ts";
import { Drain } from "./drain.ts";
import type { EventHub } from "./event_hub.ts";
import { HandingOn } from "./handing_on.ts";
import { Intake } from "./intake.ts";
import { makeInstances } from "./instances.ts";
import type { Logger } from "../contract/job.ts";
import { LedgerRate } from "./ledger_rate.ts";
import { LastThrows } from "./last_throws.ts";
import { leftoversOf } from "./leftovers.ts";
import { Overruns } from "./overruns.ts";
import { Pauses } from "./pauses.ts";
import { Permits } from "./permits.ts";
import type { PoolCore } from "./pool_core.ts";
import { PoolLoop } from "./pool_loop.ts";
import { PoolState } from "./pool_state.ts";
import type { ProcessSeats } from "./process_seats.ts";
import { randomStream } from "../base/random.ts";
import { Runner } from "./runner.ts";
import type { PoolSettings } from "../config/settings.ts";
import { Settler } from "./settler.ts";
import { Sizes } from "./sizes.ts";
import { Signals } from "./signals.ts";
import { StartRates } from "./start_rates.ts";
import { Steering } from "./steering.ts";
import type { Queue, Store } from "../contract/store.ts";
import { StoreGuard } from "./store_guard.ts";
import type { SharedBreakers } from "./shared_breaker.ts";
import { StrategySlots } from "./strategy_slots.ts";
import type { Takers } from "./takers.ts";
import type { Redaction } from "../config/redaction.ts";
import type { Telemetry } from "./telemetry.ts";
import { Wall } from "../time/wall.ts";

/** What all pools of one config share. */
export interface PoolContext {
  /** Where jobs live. */
  readonly store: Store;
  /** It keeps jobs when the process ends. */
  readonly durable: boolean;
  /** Real or virtual time. */
  readonly clock: Clock;
  /** Observers. */
  readonly hub: EventHub;
  /** Where pools and handlers log. */
  readonly log: Logger;
  /** Seed of all chance. */
  readonly seed: number;
  /** What may be shown. */
  readonly redaction: Redaction;
  /** Traces jobs. `undefined`: none. */
  readonly telemetry?: Telemetry | undefined;
  /** Seats of its pools in records that they share. */
  readonly seats: ProcessSeats;
  /** Circuit breakers of the downstreams that they share. */
  readonly breakers: SharedBreakers;
  /** Pools that take what others hand on. */
  readonly takers: Takers;
  /** Names of pools whose jobs this process runs. `undefined`: all. */
  readonly worked?: ReadonlySet<string> | undefined;
}

/** True if this process runs jobs of the pool. */
export function works(pool: string, { worked }: PoolContext): boolean {
  return worked === undefined || worked.has(pool);
}

/** The parts that a pool's users reach. */
export interface PoolParts {
  /** What all parts share. */
  readonly core: PoolCore;
  /** Reacts to a receiver that says "not now". */
  readonly cooldown: Cooldown;
  /** Calls to the store. */
  readonly guard: StoreGuard;
  /** Handlers that were given up. */
  readonly overruns: Overruns;
  /** When the counts were read. */
  readonly counting: Counting;
  /** Counts and views. */
  readonly state: PoolState;
  /** Its strategies. */
  readonly slots: StrategySlots;
  /** Its jobs. */
  readonly queue: Queue;
  /** Its workers. */
  readonly crew: Crew;
  /** Gives jobs to workers. */
  readonly dispatch: Dispatch;
  /** Readings. */
  readonly signals: Signals;
  /** Checks and admits. */
  readonly intake: Intake;
  /** Carries ends to the store. */
  readonly settler: Settler;
  /** Runs attempts. */
  readonly runner: Runner;
  /** What jobs died of. */
  readonly throws: LastThrows;
  /** Plans. */
  readonly steering: Steering;
  /** Bounds by time. */
  readonly sizes: Sizes;
  /** Pauses, shared by all processes. */
  readonly pauses: Pauses;
  /** Its part of the caps over several processes. */
  readonly permits: Permits;
  /** Turns and ticks. */
  readonly loop: PoolLoop;
  /** Ends that lead to jobs of other lanes. */
  readonly handingOn: HandingOn;
  /** The end. */
  readonly drain: Drain;
}

/** Makes the parts of a pool; nothing runs before its loop is opened. */
export function assemble(settings: PoolSettings, queue: Queue, context: PoolContext): PoolParts {
  const { clock, hub, log, seed, store, durable, telemetry, redaction, seats, breakers } = context;
  const { takers } = context;
  const now = (): number => clock.nowMs();
  const changed = (): void => loop.schedule();
  const instances = makeInstances(settings, { seed, log });
  const { handlers } = instances;
  const random = randomStream(seed, `${settings.name}/runtime`);

  const worked = works(settings.name, context);
  const wall = clock.wall ?? new Wall();
  const state = new PoolState(settings, queue, { nowMs: now(), wall, worked });
  const core: PoolCore = { state, hub, log, clock, now };
  const guard = new StoreGuard({ ...core, random, freed: () => loop.wake() });
  const counting = new Counting({ ...core, queue, guard });
  const slots = new StrategySlots(core, instances);
  const handingOn = new HandingOn({ ...core, queue, takers });
  const settler = new Settler({ ...core, queue, guard, changed, noted: () => handingOn.look() });
  const rates = new StartRates((key, lane) =>
    new LedgerRate(`rates/${settings.name}/${key}`, {
      ...{ state, now, store, lane },
      changed: () => loop.replan(),
    })
  );
  const told = (): void => loop.told();
  const cooldown = new Cooldown({ ...core, random, store, breakers, told });
  const leftovers = leftoversOf(store, settings.name);
  const overruns = new Overruns({ ...core, settler, leftovers, changed });
  const throws = new LastThrows();
  const runner = new Runner({
    ...core,
    ...{ changed, cooldown, settler, random, overruns, throws, telemetry, redaction },
  }, handlers);
  const { crew } = runner;
  const dispatch = new Dispatch({
    ...core,
    queue,
    crew,
    runner,
    settler,
    guard,
    slots,
    rates,
    cooldown,
    overruns,
    changed,
  });
  const permits = new Permits({
    ...core,
    store,
    slots,
    rates,
    seats,
    changed: () => loop.replan(),
    told,
    lapsed: () => runner.abortAll("lease-lost", now()),
  });
  const resized = (): void => {
    steering.resized();
    loop.steer();
  };
  const sizes = new Sizes({ state, clock, changed: resized });
  const steering = new Steering({ ...core, crew, slots, rates, cooldown, permits, sizes });
  const pauses = new Pauses({ ...core, store, changed });
  const signals = new Signals(settings.signals, state, log);
  const intake = new Intake({ ...core, slots, cooldown, telemetry, redaction }, handlers);
  const parts = {
    ...{ queue, guard, counting, crew, runner, settler, dispatch, steering, permits, rates },
    cooldown,
  };
  const loop = new PoolLoop({ ...core, ...parts, signals, pauses });
  const drain = new Drain({ ...core, ...parts, intake, loop, durable });
  return {
    core,
    cooldown,
    overruns,
    guard,
    counting,
    state,
    queue,
    slots,
    crew,
    dispatch,
    signals,
    intake,
    settler,
    runner,
    throws,
    steering,
    sizes,
    pauses,
    permits,
    loop,
    handingOn,
    drain,
  };
}
