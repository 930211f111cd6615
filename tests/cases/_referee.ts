/**
 * What must hold in every case, whatever happens: no job lost, none finished twice, bounds and caps
 * held, every change of size on record.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { PoolEvent } from "../../src/contract/event.ts";
import type { JobHandle, PoolHandle, PoolSnapshot } from "../../src/runtime/handles.ts";

/** Workers that are stuck, or were, are replaced at the next tick. */
const TICK_MS = 50;

/** What a referee holds a pool to. */
export interface Rules {
  /** Most workers of every state together. @default {size.max} */
  readonly cap?: number;
}

/** Watches the pools that share one store, and fails the test at a breach. */
export class Referee {
  /** Everything all pools told. */
  readonly events: PoolEvent[] = [];
  readonly #ends = new Map<string, string>();
  readonly #seats: Seat[] = [];
  readonly #breaches: string[] = [];

  /** An observer for one more process: give it to its `start`. */
  seat(): Seat {
    const seat = new Seat(this.events, this.#breaches, this.#ends);
    this.#seats.push(seat);
    return seat;
  }

  /** Attempts that have started and not ended, over all processes. */
  get running(): number {
    return this.#seats.reduce((sum, seat) => sum + seat.running.size, 0);
  }

  /** Fails on whatever was seen since the last call. */
  verdict(): void {
    assert.deepEqual(this.#breaches, []);
  }

  /** Each of `jobs` is where `expected` says, known to the store, and ended at most once. */
  async account(
    pool: PoolHandle,
    jobs: readonly JobHandle[],
    expected: "ended" | "known" = "ended",
  ): Promise<void> {
    this.verdict();
    for (const { id } of jobs) {
      const record = await pool.find(id);
      assert.ok(record !== undefined, `${id} is lost`);
      if (expected === "known") continue;
      assert.ok(record.endedAtMs !== undefined, `${id} has not ended: ${record.state}`);
      assert.ok(this.#ends.has(id), `${id} ended without a word`);
    }
  }
}

/** Watches one process. */
export class Seat {
  /** Attempts that run here: worker by job id. */
  readonly running = new Map<string, string>();
  /** Handlers that run here. */
  handlers = 0;
  readonly #events: PoolEvent[];
  readonly #breaches: string[];
  readonly #ends: Map<string, string>;
  #target: number | undefined;
  #staying: number | undefined;
  #least = Infinity;
  #most = 0;
  #lostWorkers = false;
  #lackingSinceMs: number | undefined;

  constructor(events: PoolEvent[], breaches: string[], ends: Map<string, string>) {
    this.#events = events;
    this.#breaches = breaches;
    this.#ends = ends;
  }

  /** The observer. */
  readonly observe = (event: PoolEvent): void => {
    this.#events.push(event);
    switch (event.kind) {
      case "decided":
        this.#decided(event.decision);
        break;
      case "job-started":
        if (this.running.has(event.id)) this.#breach(`${event.id} runs twice in one process`);
        if (this.#ends.has(event.id)) this.#breach(`${event.id} starts after its end`);
        this.running.set(event.id, event.worker);
        break;
      case "job-done":
      case "job-dead":
      case "job-cancelled":
        if (this.#ends.has(event.id)) {
          this.#breach(`${event.id} ended ${this.#ends.get(event.id)}, then ${event.kind}`);
        }
        this.#ends.set(event.id, event.kind);
        this.running.delete(event.id);
        break;
      case "worker-stuck":
      case "worker-failed":
        this.#lostWorkers = true;
        break;
      case "job-failed":
      case "job-deferred":
      case "job-handed-back":
      case "lease-lost":
        this.running.delete(event.id);
    }
  };

  /** Makes a handler whose runs are counted, and never more than `cap`. */
  counted<Given extends readonly unknown[]>(
    handler: (...given: Given) => unknown,
    cap: number,
  ): (...given: Given) => unknown {
    return (...given) => {
      this.handlers++;
      if (this.handlers > cap) this.#breach(`${this.handlers} handlers run over the cap of ${cap}`);
      let answer: unknown;
      try {
        answer = handler(...given);
      } catch (thrown) {
        this.handlers--;
        throw thrown;
      }
      if (!(answer instanceof Promise)) {
        this.handlers--;
        return answer;
      }
      return answer.finally(() => this.handlers--);
    };
  }

  /** Holds a pool's snapshot to the rules. Call it between steps of the clock. */
  check(pool: PoolHandle, rules: Rules = {}): PoolSnapshot {
    const snapshot = pool.snapshot();
    const { workers, live, size, target, lanes, busy, idle, decision } = snapshot;
    const cap = Math.min(rules.cap ?? Infinity, size.max);
    const starting = workers.filter((worker) => worker.state === "starting").length;
    const staying = live + starting;
    assert.ok(workers.length <= cap, `${workers.length} workers over the cap of ${cap}`);
    assert.equal(busy + idle, live);
    assert.ok(target <= cap, `the target of ${target} is over the cap of ${cap}`);
    for (const lane of lanes) {
      assert.ok(lane.running <= lane.maxRunning, `${lane.running} run in ${lane.name}`);
      assert.ok(lane.ready >= 0 && lane.blocked >= 0 && lane.delayed >= 0);
    }
    const running = lanes.reduce((sum, lane) => sum + lane.running, 0);
    const retiring = workers.filter(({ state }) => state === "retiring").length;
    assert.ok(running <= busy + retiring, `${running} run on ${busy} + ${retiring} workers`);
    if (decision !== undefined && !snapshot.draining) {
      this.#checkMinimum(snapshot, staying, Math.min(size.min, cap, snapshot.limit));
      assert.equal(target, this.#target ?? size.min, "the target changed without a record");
      this.#checkMoves(staying, target);
    }
    assert.deepEqual(this.#breaches, []);
    return snapshot;
  }

  /** Below its minimum a pool is for one tick at most, and only where a worker was stuck. */
  #checkMinimum({ nowMs, workers }: PoolSnapshot, staying: number, least: number): void {
    const stuck = workers.filter(({ state }) => state === "stuck").length;
    if (staying + stuck >= least) {
      this.#lackingSinceMs = undefined;
      return;
    }
    this.#lackingSinceMs ??= nowMs;
    assert.ok(
      this.#lostWorkers && nowMs - this.#lackingSinceMs <= TICK_MS,
      `${staying} workers below the minimum of ${least}`,
    );
  }

  /** Workers that stay moved only as far as the targets decided since the last look. */
  #checkMoves(staying: number, target: number): void {
    const least = Math.min(this.#least, target);
    const most = Math.max(this.#most, target);
    if (this.#staying !== undefined) {
      if (staying > this.#staying) assert.ok(staying <= most, `grew to ${staying}, past ${most}`);
    }
    if (staying < (this.#staying ?? 0)) {
      if (!this.#lostWorkers) assert.ok(staying >= least, `shrank to ${staying}, past ${least}`);
    }
    this.#staying = staying;
    this.#least = target;
    this.#most = target;
  }

  #decided({ from, to, sentence }: { from: number; to: number; sentence: string }): void {
    if (this.#target !== undefined && from !== this.#target) {
      this.#breach(`from ${this.#target} to ${from} without a record: ${sentence}`);
    }
    this.#target = to;
    this.#least = Math.min(this.#least, to);
    this.#most = Math.max(this.#most, to);
  }

  #breach(what: string): void {
    this.#breaches.push(what);
  }
}
