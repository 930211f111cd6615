/**
 * How many workers proved needed recently, and how far back "recently" reaches.
 *
 * @module
 */

import { Holds } from "../../src/base/holds.ts";
import type { LaneView, PoolView } from "../../src/contract/view.ts";
import type { AgeScalerOptions } from "./age_scaler.ts";
import { causesGrowth, GRAIN_MS, timeLeftMs } from "./_supply.ts";

/** Use is averaged over so long: shorter peaks queue instead. */
const SLOT_MS = 50;

/** A use so little above a whole number needs no worker of its own. */
const SLACK = 0.05;

/**
 * In run times, how long a need holds at least: how many jobs run changes no faster. With 10 s jobs 3
 * made up to 4.5 changes a minute, 4 up to 4.2, 5 up to 3.7.
 */
const RUNS = 5;

/** In look-backs, how long after a shrink a growth is still its doing: with 1, jobs of 2 s made 5.0 changes a minute, with 2 1.9; with 4 instead of 2 drawn loads 3.1 instead of 3.2. */
const BLAMED = 4;

/** In look-backs, how long no shrink comes before a shorter one is tried: with 4 steady loads made 3.2 changes a minute, with 8 2.9. */
const QUIET = 8;

/** What the memory is tuned by. */
export type NeedOptions = Required<
  Pick<AgeScalerOptions, "grow" | "lookBackMs" | "maxLookBackMs">
>;

/**
 * Two things prove a need, and nothing else does: what lanes that cause growth used in a slot, and a
 * growth itself, which shows that fewer would not do. Why not, is the lane policy's matter: workers
 * that it keeps idle for a lane are never used and needed nevertheless.
 *
 * Each holds for a look-back. A growth soon after a shrink shows that the look-back was too short: it
 * doubles, for as many workers as such shrinks took away and no more.
 */
export class NeededWorkers {
  readonly #options: NeedOptions;
  readonly #holds = new Holds();
  #patienceMs: number; // how long what shrinks took away too early is held
  #runMs = 0; // mean run time of what needed workers
  #regrown = 0; // most workers that shrinks took away too early
  #slotAtMs: number | undefined;
  #served: readonly number[] = [];
  #shrunkAtMs = -Infinity;
  #shrunkFrom = 0;
  #hasGrown = true; // since the last shrink
  #adaptedAtMs = -Infinity;

  /** Looks back `lookBackMs` at first. */
  constructor(options: NeedOptions) {
    this.#options = options;
    this.#patienceMs = options.lookBackMs;
  }

  /** How far it looks back, ms. */
  get lookMs(): number {
    return Math.max(this.#patienceMs, RUNS * this.#runMs);
  }

  /** Takes what each slot used and needed. Where it begins nothing is known: what there is holds. */
  observe(view: PoolView): void {
    const { nowMs, target, lanes } = view;
    const elapsedMs = nowMs - (this.#slotAtMs ?? -Infinity);
    if (elapsedMs < SLOT_MS - GRAIN_MS) return;
    let workers = 0, runs = 0;
    lanes.forEach((lane, index) => {
      const used = (lane.servedMs - (this.#served[index] ?? 0)) / elapsedMs;
      const needed = Math.min(used, this.#neededBy(lane, view.peers));
      workers += needed;
      runs += needed * lane.meanServiceMs;
    });
    if (workers > 0) this.#runMs = runs / workers;
    this.#hold(
      nowMs,
      this.#slotAtMs === undefined ? target : Math.min(target, Math.ceil(workers - SLACK)),
    );
    this.#served = lanes.map(({ servedMs }) => servedMs);
    this.#slotAtMs = nowMs;
  }

  /** The most workers that hold. */
  workers(nowMs: number): number {
    return this.#holds.max(nowMs);
  }

  /** The first moment at which no more than `workers` hold. */
  clearOf(workers: number, nowMs: number): number {
    return Math.max((this.#holds.endAbove(workers) ?? 0) + 1, nowMs + SLOT_MS);
  }

  /**
   * The pool grows to `workers`, or to more, which is answered: soon after a shrink it goes back at once
   * to what shrinks took away too early. Not beside jobs that only fill what is spare: it may be one of
   * these that others wait for.
   */
  grew({ nowMs, lanes }: PoolView, workers: number): number {
    let to = workers;
    if (nowMs - this.#shrunkAtMs < BLAMED * this.lookMs) {
      const filled = lanes.some((lane) => lane.running > 0 && !causesGrowth(lane));
      if (!filled) to = Math.max(to, Math.min(this.#regrown, this.#shrunkFrom));
      this.#regrown = Math.max(this.#regrown, Math.min(to, this.#shrunkFrom));
      if (this.#adaptedAtMs < this.#shrunkAtMs) this.#adapt(nowMs, this.#patienceMs * 2);
    }
    this.#hasGrown = true;
    this.#hold(nowMs, to);
    return to;
  }

  /** The pool shrank. Several times in a row count as one. */
  shrank(atMs: number, from: number): void {
    this.#shrunkAtMs = atMs;
    this.#shrunkFrom = this.#hasGrown ? from : Math.max(from, this.#shrunkFrom);
    this.#hasGrown = false;
  }

  /** The pool keeps its size: some look-backs without a shrink, and a shorter one is tried again. */
  kept(nowMs: number): void {
    const { lookBackMs } = this.#options;
    const quietForMs = nowMs - Math.max(this.#shrunkAtMs, this.#adaptedAtMs);
    if (this.#patienceMs === lookBackMs || quietForMs <= QUIET * this.lookMs) return;
    this.#adapt(nowMs, this.#patienceMs / 2);
    if (this.#patienceMs === lookBackMs) this.#regrown = 0;
  }

  #hold(nowMs: number, workers: number): void {
    const reachMs = Math.max(this.#options.lookBackMs, RUNS * this.#runMs);
    this.#holds.add(workers, nowMs + reachMs);
    if (this.#patienceMs > reachMs) {
      this.#holds.add(Math.min(workers, this.#regrown), nowMs + this.#patienceMs);
    }
  }

  /**
   * Workers that a lane cannot do without: none if it never causes growth. A target longer than the
   * look-back leaves time: for what comes, and what waits spread over the time left.
   */
  #neededBy(lane: LaneView, peers: number): number {
    const { targetWaitMs, meanServiceMs } = lane;
    const { grow, lookBackMs } = this.#options;
    const leftMs = timeLeftMs(lane, grow);
    if (leftMs === undefined) return 0;
    const isShort = targetWaitMs !== null && targetWaitMs <= lookBackMs;
    if (isShort || meanServiceMs === 0 || leftMs <= 0) return Infinity;
    return (lane.arrivalsPerSec / 1000 + lane.ready / peers / leftMs) * meanServiceMs;
  }

  #adapt(nowMs: number, toMs: number): void {
    const { lookBackMs, maxLookBackMs } = this.#options;
    this.#patienceMs = Math.max(lookBackMs, Math.min(maxLookBackMs, toMs));
    this.#adaptedAtMs = nowMs;
  }
}
