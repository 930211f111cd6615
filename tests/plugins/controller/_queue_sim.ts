/**
 * An ideal queue with several servers on a line of virtual time, to try controllers on. Lanes are
 * served by strict priority, each first come first served; all but running takes no time.
 *
 * @module
 */

import { Heap } from "../../../src/base/heap.ts";
import type { Controller } from "../../../src/contract/strategy.ts";
import { makeTotals, makeView, makeWorker, VIEW_NOW_MS } from "../../../src/testing/mod.ts";
import type { PoolView, WorkerState, WorkerView } from "../../../src/contract/view.ts";
import { type Flow, Lane } from "./_sim_lane.ts";

/** One run. */
export interface Run {
  readonly controller: Controller;
  readonly flows: readonly Flow[];
  readonly min: number;
  readonly max: number;
  readonly untilMs: number;
  /** How long a worker takes to start. @default {0} */
  readonly startMs?: number;
}

const TICK_MS = 50;

/** A run in progress. Times are from the start, but for `nowMs` and reviews. */
export class QueueSim {
  readonly size: { readonly min: number; readonly max: number };
  /** When the controller was asked. */
  readonly asks: number[] = [];
  /** Changes of the target. */
  readonly changes: { readonly atMs: number; readonly from: number; readonly to: number }[] = [];
  /** Most workers at once, starting and retiring ones included. */
  most = 0;
  /** Fewest workers that stay. */
  fewest = Infinity;
  atMs = 0;
  live: number;
  busy = 0;
  retiring = 0;
  target: number;
  readonly #run: Run;
  /** What does not change of the view. */
  readonly #start: PoolView;
  readonly lanes: readonly Lane[];
  readonly #starting: number[] = [];
  readonly #endings = new Heap<{ atMs: number; startedAtMs: number; lane: Lane }>((a, b) =>
    a.atMs < b.atMs
  );
  #reviewAtMs = Infinity;
  #tickAtMs = 0;
  #workers: readonly WorkerView[] = [];
  #workersKey = "";
  readonly totals = { ...makeTotals() };

  constructor(run: Run) {
    this.#run = run;
    this.lanes = run.flows.map((flow) => new Lane(flow));
    this.size = { min: run.min, max: run.max };
    const lanes = run.flows.map(({ targetWaitMs = 50 }) => ({ targetWaitMs }));
    this.#start = makeView({ size: this.size, lanes });
    this.live = this.target = run.min;
    while (this.#step());
  }

  get nowMs(): number {
    return VIEW_NOW_MS + this.atMs;
  }

  get idle(): number {
    return this.live - this.busy;
  }

  get running(): number {
    return this.busy + this.retiring;
  }

  /** Waits of the jobs that started, by lane, in order of arrival. */
  get waits(): readonly (readonly number[])[] {
    return this.lanes.map((lane) => lane.waits);
  }

  get workers(): readonly WorkerView[] {
    const counts = {
      busy: this.busy,
      idle: this.idle,
      retiring: this.retiring,
      starting: this.#starting.length,
    };
    const key = Object.values(counts).join();
    if (key !== this.#workersKey) this.#workers = makeWorkers(counts);
    this.#workersKey = key;
    return this.#workers;
  }

  /** What the controller sees now. */
  get #view(): PoolView {
    return {
      ...this.#start,
      nowMs: this.nowMs,
      lanes: this.lanes.map((lane, index) => ({ ...this.#start.lanes[index]!, ...lane.view })),
      workers: this.workers,
      live: this.live,
      busy: this.busy,
      idle: this.idle,
      target: this.target,
      totals: this.totals,
      readyOlderThan: (ageMs) =>
        this.lanes.reduce((sum, lane) => sum + lane.cameBy(this.atMs - ageMs), 0),
    };
  }

  #step(): boolean {
    const nextAtMs = Math.min(
      this.#endings.peek()?.atMs ?? Infinity,
      this.#starting[0] ?? Infinity,
      this.#reviewAtMs,
      this.#tickAtMs,
      ...this.lanes.map((lane) => lane.nextAtMs),
    );
    if (nextAtMs > this.#run.untilMs) return false;
    this.totals.busyMs += (nextAtMs - this.atMs) * this.running;
    for (const lane of this.lanes) lane.servedMs += (nextAtMs - this.atMs) * lane.running;
    this.atMs = nextAtMs;
    for (const lane of this.lanes) lane.atMs = nextAtMs;
    while ((this.#endings.peek()?.atMs ?? Infinity) <= nextAtMs) this.#end();
    while ((this.#starting[0] ?? Infinity) <= nextAtMs) {
      this.live += this.#starting.shift()! <= nextAtMs ? 1 : 0;
    }
    const arrived = this.#arrive();
    this.#dispatch();
    const tick = this.#tickAtMs <= nextAtMs;
    if (tick) this.#tickAtMs += TICK_MS;
    if (tick) { for (const lane of this.lanes) lane.meter.update(nextAtMs, lane.arrived); }
    const waiting = this.lanes.some((lane) => lane.ready > 0);
    const steer = tick || this.#reviewAtMs <= nextAtMs; // a review is a tick ahead of time
    if (steer || (arrived && waiting)) this.#ask(steer);
    if (steer && this.#isQuiet) this.#tickAtMs = Infinity; // an idle pool has no ticks
    else if (this.#tickAtMs === Infinity && !this.#isQuiet) this.#tickAtMs = nextAtMs + TICK_MS;
    return true;
  }

  #arrive(): boolean {
    const before = this.totals.arrivals;
    for (const lane of this.lanes) {
      for (; lane.nextAtMs <= this.atMs; lane.arrived++) this.totals.arrivals++;
    }
    return this.totals.arrivals > before;
  }

  get #isQuiet(): boolean {
    const held = this.running + this.#starting.length;
    return held === 0 && this.lanes.every((lane) => lane.ready === 0);
  }

  /** Asks the controller. `mayShrink`: false for an arrival, where a smaller target waits for the tick. */
  #ask(mayShrink: boolean): void {
    const { workers, reviewAtMs = Infinity } = this.#run.controller(this.#view);
    this.asks.push(this.atMs);
    if (reviewAtMs <= this.nowMs) {
      throw new Error(`Expected a review after ${this.nowMs} but received ${reviewAtMs}`);
    }
    this.#reviewAtMs = reviewAtMs - VIEW_NOW_MS;
    const least = mayShrink ? this.size.min : this.target;
    const to = Math.min(this.size.max, Math.max(least, Math.ceil(workers)));
    if (to !== this.target) this.changes.push({ atMs: this.atMs, from: this.target, to });
    this.target = to;
    this.#scale();
    this.#dispatch();
  }

  #scale(): void {
    let lacking = this.target - this.live - this.#starting.length;
    for (; lacking > 0 && this.retiring > 0; lacking--, this.retiring--, this.busy++) this.live++;
    for (; lacking > 0; lacking--) {
      if (this.#run.startMs === undefined) this.live++;
      else this.#starting.push(this.atMs + this.#run.startMs);
    }
    for (; lacking < 0 && this.idle > 0; lacking++) this.live--;
    for (; lacking < 0 && this.busy > 0; lacking++, this.live--, this.busy--) this.retiring++;
    this.most = Math.max(this.most, this.live + this.retiring + this.#starting.length);
    this.fewest = Math.min(this.fewest, this.live + this.#starting.length);
  }

  #dispatch(): void {
    for (const lane of this.lanes) {
      while (this.idle > 0 && lane.ready > 0) {
        lane.waits.push(this.atMs - lane.flow.arrivals[lane.waits.length]!);
        this.#endings.push({
          atMs: this.atMs + lane.flow.serviceMs(this.atMs),
          startedAtMs: this.atMs,
          lane,
        });
        this.busy++;
        this.totals.starts++;
        lane.running++;
      }
    }
  }

  #end(): void {
    const { lane, startedAtMs } = this.#endings.pop()!;
    lane.mean.add(this.atMs - startedAtMs);
    lane.running--;
    this.totals.completions++;
    if (this.retiring > 0) this.retiring--; // which worker ends first does not matter to a controller
    else this.busy--;
  }
}

function makeWorkers(counts: Readonly<Partial<Record<WorkerState, number>>>): WorkerView[] {
  const states = Object.entries(counts).flatMap(([state, count]) => Array(count).fill(state));
  return states.map((state, index) => makeWorker({ id: `w${index}`, state }));
}
