/**
 * One process of a life: a real pool on a clock that can stop, behind a door to the shared store.
 *
 * @module
 */

import { start } from "../../../mod.ts";
import type { ConfigInput } from "../../../src/config/input.ts";
import type { JobHandle, PoolHandle, Sluice, StopReport } from "../../../src/runtime/handles.ts";
import { defineStore } from "../../../src/contract/plugin.ts";
import { SkewedClock } from "../clock.ts";
import type { VirtualClock } from "../../../src/time/virtual_clock.ts";
import type { Door } from "./door.ts";
import type { Life, Plan } from "./draw.ts";
import { handlerOn } from "./handler.ts";
import type { Ledger } from "./ledger.ts";

/** After its drain deadline a stop may take so much longer, ms. */
export const STOP_SLACK_MS = 5000;

/** What a process is given. */
export interface MemberOptions {
  readonly number: number;
  readonly life: Life;
  readonly ledger: Ledger;
  readonly clock: VirtualClock;
  readonly seed: number;
  /** Opens its door to the store. */
  readonly open: (clock: SkewedClock) => Promise<Door>;
}

/** A process. */
export class Member {
  readonly name: string;
  readonly clock: SkewedClock;
  sluice!: Sluice;
  door!: Door;
  /** What its stop came to. `undefined`: it was not asked to stop. */
  stopping: Promise<StopReport> | undefined;
  stopAskedAtMs = Infinity;
  stopped = false;
  readonly #options: MemberOptions;
  readonly #store = defineStore({ name: "life", create: () => this.door });

  /** Makes a process that has not started. */
  constructor(options: MemberOptions) {
    this.#options = options;
    this.name = `process ${options.number}`;
    this.clock = new SkewedClock(options.clock, 0);
  }

  /** Its pool. */
  get pool(): PoolHandle {
    return this.sluice.pool("p");
  }

  /** True if it can be asked for something. */
  get awake(): boolean {
    return !this.clock.dead && !this.clock.stalled && this.stopping === undefined;
  }

  /** Starts it. */
  async start(): Promise<void> {
    const { ledger, seed, open } = this.#options;
    this.door = await open(this.clock);
    this.sluice = await start(this.config(0), {
      clock: this.clock,
      seed,
      observer: (event) => ledger.heard(this.name, event),
    });
  }

  /** Its config; variants differ in what may change without moving a limit. */
  config(variant: number): ConfigInput {
    const { life, ledger } = this.#options;
    const watcher = {
      began: (job: Parameters<Ledger["began"]>[1], plan: Plan) =>
        ledger.began(this.name, job, plan),
      ended: (job: Parameters<Ledger["ended"]>[1], thrown?: unknown) =>
        ledger.ended(this.name, job, thrown),
    };
    const run = handlerOn(this.clock, watcher);
    const handlers = life.types[0] === ""
      ? { handler: run }
      : { handlers: Object.fromEntries(life.types.map((type) => [type, run])) };
    const lanes = variant === 1 ? life.lanes.toReversed() : life.lanes;
    const more = variant === 2
      ? { controller: "littles-law", tickMs: 75, cooldown: { by: "key", after: 1, maxMs: 2000 } }
      : {};
    const policy = variant === 3 ? { lanePolicy: "strict-priority" } : {};
    const pool = { ...life.pool, ...handlers, lanes, ...more, ...policy };
    return { store: this.#store, pools: { p: pool } } as unknown as ConfigInput; // drawn
  }

  /** Ends it without a word. */
  kill(): void {
    const { ledger } = this.#options;
    ledger.harmed = true;
    this.clock.kill();
    ledger.vanished(this.name);
  }

  /** Its event loop is blocked, or the process is suspended. */
  block(ms: number): void {
    if (ms >= this.#options.life.leaseMs / 2) this.#options.ledger.harmed = true;
    this.clock.stall(ms);
  }

  /** Stops it. */
  stop(): void {
    if (this.stopping !== undefined) return;
    this.stopAskedAtMs = this.clock.trueMs;
    this.stopping = this.sluice.stop();
    this.stopping.then(() => this.stopped = true, (thrown) => {
      this.#options.ledger.breach(`${this.name} cannot stop: ${thrown}`);
    });
  }

  /** Enqueues as a user would; what was taken goes to the ledger. */
  enqueue(
    job: Parameters<PoolHandle["enqueue"]>[0],
    taken: (handle: JobHandle) => void,
    refused: (error: unknown) => void,
  ): void {
    this.pool.enqueue(job).then(taken, refused);
  }
}
