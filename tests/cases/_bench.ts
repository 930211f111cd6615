/**
 * Pools under a referee: one, or several processes that share a store in memory.
 *
 * @module
 */

import type { StartOptions } from "../../mod.ts";
import { MemoryStore } from "../../stores/memory/mod.ts";
import type { ConfigInput } from "../../src/config/input.ts";
import { defineStore } from "../../src/contract/plugin.ts";
import type { PoolHandle, PoolSnapshot, Sluice } from "../../src/runtime/handles.ts";
import type { Queue, QueueOptions, Store } from "../../src/contract/store.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { configOf, type PoolParts, startPool } from "../_virtual.ts";
import { Referee, type Rules, type Seat } from "./_referee.ts";

/** One process: a pool named `p` on a clock of its own, or a shared one. */
export interface Process {
  readonly sluice: Sluice;
  readonly pool: PoolHandle;
  readonly clock: VirtualClock;
  readonly seat: Seat;
  readonly rules: Rules;
  /** What it was started with, of its pool: for a reload that changes some of it. */
  readonly given: ConfigInput["pools"][string];
}

/** How a process is started. */
export interface ProcessOptions extends Rules, Pick<StartOptions, "seed" | "signals" | "log"> {
  readonly clock?: VirtualClock;
  /** What this process opens. @default {what all share} */
  readonly store?: Store;
}

/** Starts processes on one store, moves their time together, and stops them. */
export class Bench {
  readonly referee = new Referee();
  readonly processes: Process[] = [];
  readonly store: Store;
  /** The first process's clock. */
  readonly clock = new VirtualClock();

  /** `store` is what all share. Closing it is left to the bench. */
  constructor(store: Store = new MemoryStore()) {
    this.store = store;
  }

  /** Starts one more process. */
  async start(parts: PoolParts, options: ProcessOptions = {}): Promise<Process> {
    const { clock = this.clock, seed = this.processes.length + 1, signals, log } = options;
    const { store: own = this.store, ...rules } = options;
    const seat = this.referee.seat();
    const store: Store = {
      open: (given) => own.open(given),
      get: (key) => own.get(key),
      commit: (checks, sets) => own.commit(checks, sets),
      close: () => {},
    };
    const shared = defineStore({ name: "shared", create: () => store });
    const given = {
      keep: { done: 1e6, dead: 1e6 }, // the referee looks every job up at the end
      ...parts,
      ...(typeof parts.handler === "function"
        ? { handler: seat.counted(parts.handler, rules.cap ?? parts.size?.max ?? 4) }
        : {}),
    } as PoolParts; // a handler takes the place of a handler
    const observer = seat.observe;
    const { sluice, pool } = await startPool(given, {
      ...{ seed, clock, observer, signals, log },
      ...{ plugins: { shared }, store: "shared" },
    });
    const process = { sluice, pool, clock, seat, rules, given: configOf(given).pools["p"]! };
    this.processes.push(process);
    return process;
  }

  /** Moves the time of all processes but `frozen` ones, `stepMs` at a time, and checks after each step. */
  async advance(
    ms: number,
    { stepMs = 10, frozen = [] }: { stepMs?: number; frozen?: readonly Process[] } = {},
  ): Promise<void> {
    const going = this.processes.filter((process) => !frozen.includes(process));
    const clocks = new Set(going.map((process) => process.clock));
    for (let leftMs = ms; leftMs > 0; leftMs -= stepMs) {
      for (const clock of clocks) await clock.advance(Math.min(stepMs, leftMs));
      this.check(going);
    }
  }

  /** Lets what is pending run, and checks. */
  async settle(): Promise<void> {
    for (const { clock } of this.processes) await clock.settle();
    this.check();
  }

  /** Holds all processes to the rules. */
  check(processes: readonly Process[] = this.processes): readonly PoolSnapshot[] {
    return processes.map(({ seat, pool, rules }) => seat.check(pool, rules));
  }

  /** Stops all processes. */
  async stop(): Promise<void> {
    const stopping = this.processes.map(({ sluice }) => sluice.stop());
    const clocks = new Set(this.processes.map(({ clock }) => clock));
    for (const clock of clocks) await clock.advance(120_000);
    await Promise.all(stopping);
    await this.store.close();
    this.referee.verdict();
  }
}

/** Runs `test` on a bench, then stops what it started. */
export async function withBench(
  test: (bench: Bench) => Promise<void>,
  store?: Store,
): Promise<void> {
  const bench = new Bench(store);
  try {
    await test(bench);
  } finally {
    await bench.stop();
  }
}

/** Runs `test` with one process. */
export async function withCase(
  parts: PoolParts,
  test: (process: Process, bench: Bench) => Promise<void>,
  options: ProcessOptions & { readonly store?: Store; readonly bench?: Bench } = {},
): Promise<void> {
  const { store, bench = new Bench(store), ...rest } = options;
  try {
    await test(await bench.start(parts, rest), bench);
  } finally {
    await bench.stop();
  }
}

/** Calls of a queue that a test can have fail. */
export type QueueCall = "add" | "lease" | "settle" | "renew" | "count";

/**
 * A store in memory whose calls fail as `fault` says. What it counts is as it was at the last call that
 * did not fail, and does not change while counting fails: as with a store that has to read.
 */
export class FaultyStore implements Store {
  /** Asked at each call: whether and how it fails. */
  fault: (call: QueueCall) => "throw" | "reject" | undefined = () => undefined;
  /** How long each answer takes, on the clock of `after`. 0: it comes at once. */
  latencyMs = 0;
  /** Whose time the latency is. */
  after: VirtualClock | undefined;
  /** All calls, in order. */
  readonly calls: { readonly call: QueueCall; readonly atMs: number; readonly failed: boolean }[] =
    [];
  readonly #store = new MemoryStore();

  open(options: QueueOptions): Queue {
    const queue = this.#store.open(options);
    const counts = options.lanes.map((): Counts => ({ ...NOTHING }));
    const refresh = (nowMs: number): Counts[] => {
      if (this.fault("count") !== undefined) return counts;
      queue.count(nowMs).forEach((lane, index) => {
        for (const key of COUNTED) counts[index]![key] = lane[key];
      });
      return counts;
    };
    const call = <T>(name: QueueCall, nowMs: number, run: () => T): T | Promise<T> => {
      const how = this.fault(name);
      this.calls.push({ call: name, atMs: nowMs, failed: how !== undefined });
      if (how === "throw") throw new Error(`${name} failed`);
      if (how === "reject") return Promise.reject(new Error(`${name} failed`));
      if (this.after === undefined) {
        const answer = run();
        refresh(nowMs);
        return answer;
      }
      const clock = this.after;
      const answer = run(); // done there and then; the answer is on its way
      return new Promise((resolve) =>
        clock.at(clock.nowMs() + this.latencyMs, () => {
          refresh(clock.nowMs());
          resolve(answer);
        })
      );
    };
    return {
      add: (entries, nowMs) => call("add", nowMs, () => queue.add(entries, nowMs)),
      lease: (wants, nowMs, ahead) => call("lease", nowMs, () => queue.lease(wants, nowMs, ahead)),
      settle: (ends, nowMs) => call("settle", nowMs, () => queue.settle(ends, nowMs)),
      renew: (nowMs, steadyMs) => call("renew", nowMs, () => queue.renew(nowMs, steadyMs)),
      count: (nowMs) => call("count", nowMs, () => counts),
      readySince: (lane, atMs) => queue.readySince(lane, atMs),
      find: (id) => queue.find(id),
      list: (query) => queue.list(query),
      change: (id, change, nowMs) => queue.change(id, change, nowMs),
      outcome: (job) => queue.outcome(job),
      leave: (nowMs) => queue.leave(nowMs),
    };
  }

  get(key: string): ReturnType<MemoryStore["get"]> {
    return this.#store.get(key);
  }

  commit(...given: Parameters<MemoryStore["commit"]>): boolean {
    return this.#store.commit(...given);
  }

  close(): void {
    this.#store.close();
  }
}

const COUNTED = [
  "ready",
  "blocked",
  "delayed",
  "running",
  "oldestReadyAtMs",
  "nextDueAtMs",
] as const;

type Counts = Record<(typeof COUNTED)[number], number>;

const NOTHING: Counts = {
  ready: 0,
  blocked: 0,
  delayed: 0,
  running: 0,
  oldestReadyAtMs: Infinity,
  nextDueAtMs: Infinity,
};
