/**
 * Puts load on the pools: what waits at the beginning, and what arrives.
 *
 * @module
 */

import type { Clock } from "../time/clock.ts";
import { RejectedError } from "../contract/errors.ts";
import type { NewJob } from "../contract/job.ts";
import { randomStream } from "../base/random.ts";
import { arrivalTimes } from "./arrivals.ts";
import { durations } from "./chance.ts";
import type { LaneMeter } from "./meter.ts";
import type { Process, World } from "./process.ts";
import type { ScenarioLane, ScenarioPool } from "./read_scenario.ts";
import { runsInTurn } from "./recorded.ts";

/** Where and when load comes in. */
export interface Entry {
  /** Real or virtual time. */
  readonly clock: Clock;
  /** When the scenario began, ms since epoch. */
  readonly startMs: number;
  /** The process that the next job goes to. `undefined`: none is alive. */
  readonly next: () => Process | undefined;
}

/** Puts in what waits at the beginning, and sets the arrivals going. */
export function putLoad(world: World, entry: Entry): void {
  for (const pool of world.scenario.pools) {
    for (const lane of pool.lanes) {
      const inflow = new LaneInflow(pool, lane, world, entry);
      inflow.fill();
      inflow.flow();
    }
  }
}

/** The jobs of one lane. Their chance is drawn as they arrive: the pool's doing changes none of it. */
class LaneInflow {
  readonly #world: World;
  readonly #entry: Entry;
  readonly #pool: string;
  readonly #lane: string;
  readonly #type: string;
  readonly #backlog: number;
  readonly #meter: LaneMeter;
  readonly #times: Iterator<number, void>;
  /** What is to come of the next job: what its handler finds in it. */
  readonly #payload: () => unknown;
  readonly #key: (() => string | undefined) | undefined;
  #nextMs: number;

  constructor({ settings }: ScenarioPool, load: ScenarioLane, world: World, entry: Entry) {
    const { seed, durationMs } = world.scenario;
    const { serviceMs, keys } = load;
    const lane = load.settings.name;
    const stream = (what: string): () => number =>
      randomStream(seed, `${settings.name}/${lane}/${what}`);
    this.#world = world;
    this.#entry = entry;
    this.#pool = settings.name;
    this.#lane = lane;
    this.#type = [...settings.handlers.keys()][0] ?? "";
    this.#backlog = load.backlog;
    this.#meter = world.meters.get(settings.name)!.lane(lane); // made from the same list
    this.#times = load.arrivals === undefined
      ? [].values()
      : arrivalTimes(load.arrivals, durationMs, stream("arrivals"));
    this.#payload = payloads(serviceMs, stream("service"));
    this.#key = keys === undefined ? undefined : keysInTurn(keys, stream("keys"));
    this.#nextMs = this.#times.next().value ?? Infinity;
  }

  /** Puts in what waits at the beginning. */
  fill(): void {
    for (let count = 0; count < this.#backlog; count++) this.#submit();
  }

  /** Puts in what is due, then waits for the next. */
  readonly flow = (): void => {
    const { clock, startMs } = this.#entry;
    const { durationMs } = this.#world.scenario;
    while (this.#nextMs <= durationMs) {
      // Compared as a time since epoch, which has fewer digits than a time since the beginning.
      const dueAtMs = startMs + this.#nextMs;
      if (dueAtMs > clock.nowMs()) {
        clock.at(dueAtMs, this.flow);
        return;
      }
      this.#submit();
      this.#nextMs = this.#times.next().value ?? Infinity;
    }
  };

  #submit(): void {
    const meter = this.#meter;
    const job = this.#draw();
    meter.arrived++;
    const process = this.#entry.next();
    if (process === undefined) {
      meter.shed++;
      return;
    }
    process.soon(() => this.#post(process, job));
  }

  #post(process: Process, job: NewJob): void {
    try {
      process.pool(this.#pool).post(job);
    } catch (thrown) {
      if (!(thrown instanceof RejectedError)) throw thrown;
      this.#meter.shed++;
      return;
    }
    if (this.#world.storeFails()) this.#meter.shed++; // only observers hear of a post that is lost
  }

  #draw(): NewJob {
    const base = { lane: this.#lane, payload: this.#payload() };
    const typed = this.#type === "" ? base : { ...base, type: this.#type };
    const key = this.#key?.();
    return key === undefined ? typed : { ...typed, key };
  }
}

function payloads(of: ScenarioLane["serviceMs"], random: () => number): () => unknown {
  switch (of.kind) {
    case "knee":
      return durations({ ...of, kind: of.cv > 0 ? "lognormal" : "fixed" }, random);
    case "trace":
      return runsInTurn(of.runs, random);
    default:
      return durations(of, random);
  }
}

function keysInTurn(
  keys: NonNullable<ScenarioLane["keys"]>,
  random: () => number,
): () => string | undefined {
  if (typeof keys === "number") return () => `k${Math.floor(random() * keys)}`;
  let turn = 0;
  return () => keys[turn++ % keys.length] ?? undefined;
}
