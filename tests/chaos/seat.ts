/**
 * One process of a schedule: real pools behind a door that fails, on a clock of its own.
 *
 * @module
 */

import { start } from "../../mod.ts";
import type { MemoryStore } from "../../stores/memory/mod.ts";
import type { MemoryQueue } from "../../stores/memory/queue.ts";
import { AbortedError, Fatal, RetryLater } from "../../src/contract/errors.ts";
import type { PoolEvent } from "../../src/contract/event.ts";
import type { Job, JobContext } from "../../src/contract/job.ts";
import { defineStore, type Plugin } from "../../src/contract/plugin.ts";
import type { PoolHandle, Sluice } from "../../src/runtime/handles.ts";
import type { VirtualClock } from "../../src/time/virtual_clock.ts";
import { SkewedClock } from "./clock.ts";
import { configOf } from "./config.ts";
import type { Referee } from "./referee.ts";
import type { Call, Plan } from "./step.ts";
import { ChaosStore } from "./store.ts";

/** After a fault a pool may keep away from its store for so long, ms. */
const BACKOFF_MS = 11_000;

/** What goes wrong between a process and its store, and until when (true time). */
export interface Faults {
  calls: readonly Call[];
  how: "throw" | "reject";
  untilMs: number;
  latencyMs: number;
  lateUntilMs: number;
}

/** What all processes share. */
export interface World {
  readonly clock: VirtualClock;
  readonly store: MemoryStore;
  readonly referee: Referee;
  readonly seed: number;
  /** The system that handlers call. */
  readonly downstream: { factor: number; down: boolean };
}

/** One call of the handler. */
export interface Run {
  readonly id: string;
  readonly lane: string;
  readonly fence: number;
  readonly startedAtMs: number;
  /** True once its pool has given it up. */
  givenUp: boolean;
  /** Ends it, if it hangs. */
  letGo: () => void;
}

/** A process. */
export class Seat {
  readonly name: string;
  readonly clock: SkewedClock;
  readonly referee: Referee;
  readonly runs = new Set<Run>();
  readonly faults: Faults = {
    calls: [],
    how: "throw",
    untilMs: -Infinity,
    latencyMs: 0,
    lateUntilMs: -Infinity,
  };
  /** The store behind its door. */
  queue: MemoryQueue | undefined;
  sluice!: Sluice;
  joinedAtMs = -Infinity;
  lastBeatMs = -Infinity;
  /** Leases up to this fence were taken from it while it was silent. */
  lostFence = 0;
  /** When it last committed something. */
  committedAtMs = -Infinity;
  /** When it began to drain. */
  drainingSinceMs = Infinity;
  /** True once it has left its queue. */
  left = false;
  /** Until then it may be late or behind by what was done to it. */
  excusedUntilMs = -Infinity;
  /** What the last decision set. */
  target: number | undefined;
  /** Since when jobs are ready and workers idle. */
  idlingSinceMs: number | undefined;
  /** Since when it lacks workers. */
  lackingSinceMs: number | undefined;
  readonly #world: World;
  readonly #plugin: Plugin<"store">;

  /** Makes a process that has not started. */
  constructor(world: World, number: number, offsetMs: number) {
    this.name = `process ${number}`;
    this.#world = world;
    this.referee = world.referee;
    this.clock = new SkewedClock(world.clock, offsetMs);
    this.#plugin = defineStore({
      name: "chaos",
      create: () => new ChaosStore(world.store, this),
    });
  }

  /** Its pool. */
  get pool(): PoolHandle {
    return this.sluice.pool("p");
  }

  /** True if it can be asked for something. */
  get awake(): boolean {
    return !this.clock.dead && !this.clock.stalled && !this.left;
  }

  /** True if nothing was done to it that would excuse it. */
  get healthy(): boolean {
    return this.awake && this.clock.trueMs >= this.excusedUntilMs;
  }

  get draining(): boolean {
    return this.drainingSinceMs < Infinity;
  }

  /** Starts it. */
  async start(config: number): Promise<void> {
    this.sluice = await start(this.#config(config), {
      clock: this.clock,
      seed: this.#world.seed,
      observer: (event) => this.#observe(event),
    });
  }

  /** Moves it to another config. */
  reload(config: number): Promise<unknown> {
    return this.sluice.reload(this.#config(config));
  }

  /** It has joined the queue. */
  joined(queue: MemoryQueue): void {
    this.queue = queue;
    this.joinedAtMs = this.clock.trueMs;
    this.lastBeatMs = this.clock.trueMs;
  }

  /** Ends it without a word. */
  kill(): void {
    this.clock.kill();
    for (const run of this.runs) this.referee.vanished(this, run);
    this.runs.clear();
  }

  /** It has left its queue. */
  gone(): void {
    this.left = true;
    this.referee.disturbed();
  }

  /** Its store fails. */
  fail(calls: readonly Call[], how: "throw" | "reject", ms: number): void {
    Object.assign(this.faults, { calls, how, untilMs: this.clock.trueMs + ms });
    this.#excuse(ms + BACKOFF_MS);
  }

  /** Its store answers late. */
  late(latencyMs: number, ms: number): void {
    Object.assign(this.faults, { latencyMs, lateUntilMs: this.clock.trueMs + ms });
    this.#excuse(ms + 10 * latencyMs);
  }

  /** Nothing of it runs for a while. */
  stall(ms: number): void {
    this.clock.stall(ms);
    this.#excuse(ms + 1);
  }

  /** What was done to it is over. */
  heal(): void {
    this.faults.untilMs = -Infinity;
    this.faults.lateUntilMs = -Infinity;
  }

  #excuse(ms: number): void {
    this.excusedUntilMs = Math.max(this.excusedUntilMs, this.clock.trueMs + ms);
    this.referee.disturbed(ms);
  }

  #config(index: number): ReturnType<typeof configOf> {
    const isNamed = this.#world.seed % 4 < 2;
    return configOf(index, { run: this.#run, store: this.#plugin, isNamed });
  }

  readonly #run = (job: Job, context: JobContext): Promise<string> => {
    const { downstream } = this.#world;
    const plan = job.payload as Plan; // schedules enqueue nothing else
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    let over = false;
    const end = (how: () => void): void => {
      if (over || this.clock.dead) return;
      over = true;
      timer.cancel();
      this.referee.stopped(this, run);
      how();
    };
    const run: Run = {
      id: job.id,
      lane: job.lane,
      fence: context.fence,
      startedAtMs: this.clock.trueMs,
      givenUp: false,
      letGo: () => end(() => resolve("let go")),
    };
    const starts = this.referee.started(this, run, job);
    const ms = plan.ms * downstream.factor;
    const timer = this.clock.at(
      this.clock.nowMs() + ms,
      () =>
        end(() => {
          const fault = downstream.down ? new Error("down") : faultOf(plan, job, starts);
          if (fault === undefined) resolve("ok");
          else reject(fault);
        }),
    );
    context.signal.addEventListener("abort", () => {
      const why: unknown = context.signal.reason;
      this.referee.aborted(this, run, why instanceof AbortedError ? why.why : String(why));
      if (plan.heedsAbort) end(() => reject(why));
    });
    return promise;
  };

  #observe(event: PoolEvent): void {
    switch (event.kind) {
      case "decided": {
        const { from, to, sentence } = event.decision;
        if (this.target !== undefined && from !== this.target) {
          this.#breach(`went from ${this.target} to ${from} without a record: ${sentence}`);
        }
        this.target = to;
        return;
      }
      case "worker-stuck":
        this.#givenUp(event.id);
        return;
      case "job-handed-back":
        if (event.error === undefined) return; // it was leased ahead, and has not started
        // Who was held for dead gives up all it runs, what it has leased since as well.
        if (this.healthy && !this.draining && this.lostFence === 0) {
          this.#breach(`handed ${event.id} back without a drain`);
        }
        return;
      case "lease-lost":
        if (this.lostFence === 0 && !this.referee.mayHaveLost(this)) {
          this.#breach(`could not end ${event.id}`);
        }
        return;
      case "plugin-failed":
        this.#breach(`${event.plugin} failed: ${event.error}`);
        return;
      case "worker-failed":
        this.#breach(event.error);
    }
  }

  /** The oldest run of the job: a process that lost its lease may run it again beside. */
  #givenUp(id: string): void {
    const run = this.runs.values().find((run) => run.id === id && !run.givenUp);
    if (run !== undefined) run.givenUp = true;
  }

  #breach(what: string): void {
    this.referee.breach(`${this.name} ${what}`);
  }
}

/** What an attempt throws. `starts`: how often its job has started. */
function faultOf({ end }: Plan, { attempt }: Job, starts: number): Error | undefined {
  if (end === "throw" || (end === "once" && attempt === 1)) return new Error("failed");
  if (end === "later" && starts < 3) return new RetryLater(30);
  return end === "fatal" ? new Fatal("no") : undefined;
}
