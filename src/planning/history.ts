/**
 * The recent past of a pool: one small sample a second, folded into one a minute for an hour, so that
 * its memory stays flat. Charts, tables and the diagnosis are made from it.
 *
 * @module
 */

import { HoldTimes } from "./hold_times.ts";
import type { Plan } from "./planner.ts";
import {
  atRest,
  haveSameLanes,
  type MeasuredPool,
  type Sample,
  sampleOf,
  together,
} from "./sample.ts";
import { ScaleEvents } from "./scale_events.ts";
import type { PoolView } from "../contract/view.ts";

export type { LaneSample, Sample } from "./sample.ts";

/** The recent past of one pool. */
export interface History {
  /** Name of the pool. */
  readonly pool: string;
  /** Name of its controller. */
  readonly controller: string;
  /** Name of its admission. */
  readonly admission: string;
  /** Oldest first: one a minute, the last two minutes one a second. While a pool rests it takes none: nothing happens. */
  readonly samples: readonly Sample[];
}

/** What steers a pool, as far as a history names it. */
export interface InForce {
  /** Its controller. */
  readonly controller: { readonly name: string };
  /** Its admission. */
  readonly admission: { readonly name: string };
}

/** Time between samples, ms. */
const EVERY_MS = 1000;
const KEPT = 120;

/** What a sample covers that stays longer, ms. */
const FOLDED_MS = 60_000;
const FOLDED_KEPT = 59;

/** Times are compared to this many ms. */
const GRAIN_MS = 0.5;

/** Takes the samples of one pool. Cheap where it is called often: what costs comes once a second. */
export class HistoryRecorder {
  /** How often the target changed. */
  readonly scale = new ScaleEvents();
  readonly #latest = new Ring<Sample>(KEPT);
  readonly #folded = new Ring<Sample>(FOLDED_KEPT);
  readonly #kept: (number | undefined)[] = [];
  readonly #holds = new HoldTimes();
  readonly #pool: string;
  #read: History | undefined;
  #minute: Sample | undefined; // of the latest that are no longer kept by the second
  #minuteFromMs = -Infinity;
  #droppedAtMs = -Infinity;
  #part: Sample | undefined; // taken before its second was over: the next sample holds it
  #rest: Sample | undefined; // of the tick after which it came to rest, until the next one; of its end
  #sampledAtMs = -Infinity;
  #plan: Plan | undefined;

  /** Begins empty. */
  constructor(pool: string) {
    this.#pool = pool;
  }

  /** When the latest sample was taken. `-Infinity`: none was. */
  get sampledAtMs(): number {
    return this.#sampledAtMs;
  }

  /** Takes a plan in, at each tick and each growth. */
  planned(nowMs: number, target: number): void {
    this.scale.look(nowMs, target);
  }

  /**
   * Looks at the pool, at each tick. Counts of a store that cannot be read are not taken.
   *
   * @param rests True if no tick follows until something happens.
   */
  tick(pool: MeasuredPool, plan: Plan, rests = false): void {
    if (pool.stale) return;
    this.#watchKept(pool);
    this.#holds.watch(pool);
    this.#endRest(pool.nowMs);
    const isDue = pool.nowMs - this.#sampledAtMs >= EVERY_MS - GRAIN_MS;
    if (!isDue && !rests) return;
    const sample = this.#take(pool, plan);
    if (isDue) this.#add(sample);
    if (rests) this.#rest = sample;
  }

  /** As `tick`, of a pool that drains: it plans no more. */
  draining(pool: MeasuredPool): void {
    if (this.#plan !== undefined) this.tick(pool, { ...this.#plan, target: 0 });
  }

  /** The pool has stopped: no tick follows, and what it is like from now on is shown. */
  stopped(pool: MeasuredPool): void {
    if (this.#plan === undefined) return;
    this.#endRest(pool.nowMs);
    const sample = this.#take(pool, { ...this.#plan, target: 0 });
    this.#rest = { ...sample, lanes: sample.lanes.map((lane) => ({ ...lane, running: 0 })) };
  }

  /**
   * What is remembered: the same object until the next sample.
   *
   * @param inForce What steers the pool now.
   */
  read(inForce: InForce): History {
    const [controller, admission] = [inForce.controller.name, inForce.admission.name];
    if (this.#read?.controller === controller && this.#read.admission === admission) {
      return this.#read;
    }
    this.#read = { pool: this.#pool, controller, admission, samples: this.samples };
    return this.#read;
  }

  /** Those of the last hour, oldest first. */
  get samples(): readonly Sample[] {
    const minute = this.#minute === undefined ? [] : [this.#minute];
    return [...this.#folded.read(), ...minute, ...this.#latest.read()];
  }

  /** As `read`, with what the pool was like when it came to rest. */
  shown(inForce: InForce): History {
    const history = this.read(inForce);
    const rest = this.#rest;
    if (rest === undefined || rest === history.samples.at(-1)) return history;
    return { ...history, samples: [...history.samples, rest] };
  }

  /** A rest that lasted is known from its begin to its end. A short one is part of the next sample. */
  #endRest(nowMs: number): void {
    const rest = this.#rest;
    this.#rest = undefined;
    if (rest === undefined) return;
    const isAdded = rest === this.#latest.last;
    if (nowMs - rest.atMs < 2 * EVERY_MS) {
      if (!isAdded) this.#part = rest;
      return;
    }
    if (!isAdded) this.#add(rest);
    this.#add(atRest(rest, nowMs - EVERY_MS));
  }

  #add(sample: Sample): void {
    if (!haveSameLanes(sample, this.#latest.last)) {
      this.#latest.clear();
      this.#folded.clear();
      this.#minute = undefined;
      this.#droppedAtMs = -Infinity;
    }
    const dropped = this.#latest.add(sample);
    if (dropped !== undefined) this.#fold(dropped);
    this.#sampledAtMs = sample.atMs;
    this.#read = undefined;
  }

  /** What is no longer kept by the second is kept by the minute. */
  #fold(dropped: Sample): void {
    const minute = this.#minute;
    if (minute !== undefined && dropped.atMs - this.#minuteFromMs <= FOLDED_MS + GRAIN_MS) {
      this.#minute = together(minute, dropped);
    } else {
      if (minute !== undefined) this.#folded.add(minute);
      this.#minute = dropped;
      this.#minuteFromMs = Math.max(this.#droppedAtMs, dropped.atMs - EVERY_MS);
    }
    this.#droppedAtMs = dropped.atMs;
  }

  #watchKept({ lanes, live }: PoolView): void {
    let running = 0;
    let ready = 0;
    for (let index = lanes.length - 1; index >= 0; index--) {
      const lane = lanes[index]!;
      if (ready > 0) {
        const kept = Math.max(0, live - running);
        this.#kept[index] = Math.min(kept, this.#kept[index] ?? Infinity);
      }
      running += lane.running;
      if (lane.running < lane.maxRunning) ready += lane.ready;
    }
  }

  /** What has happened since the last one: extremes start over. */
  #take(pool: MeasuredPool, plan: Plan): Sample {
    if (this.#plan === undefined) pool.workerTime.begin(pool.nowMs, pool.live);
    const sample = sampleOf(pool, plan, {
      scale: this.scale,
      kept: this.#kept,
      holds: this.#holds,
    });
    const part = this.#part;
    this.#plan = plan;
    this.#part = undefined;
    this.#kept.fill(undefined);
    return part === undefined || !haveSameLanes(sample, part) ? sample : together(part, sample);
  }
}

/** The latest values, oldest dropped first. */
class Ring<T> {
  readonly #values: T[] = [];
  readonly #most: number;
  #added = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** @returns The value that is no longer kept. `undefined`: none. */
  add(value: T): T | undefined {
    const index = this.#added++ % this.#most;
    const dropped = this.#values[index];
    this.#values[index] = value;
    return dropped;
  }

  get last(): T | undefined {
    return this.#values[(this.#added - 1) % this.#most];
  }

  clear(): void {
    this.#values.length = 0;
    this.#added = 0;
  }

  /** Oldest first. */
  read(): readonly T[] {
    const first = this.#added % this.#most;
    if (this.#added <= this.#most) return this.#values.slice();
    return [...this.#values.slice(first), ...this.#values.slice(0, first)];
  }
}
