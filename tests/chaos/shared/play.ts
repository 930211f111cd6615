/**
 * Plays a schedule of pools that share downstreams, in virtual time: no start exceeds a rate or the
 * connections that there are, none is of a breaker that is open but probes, parts of the permits add up,
 * every job ends, and then nothing is held any more.
 *
 * @module
 */

import { MemoryStore } from "../../../stores/memory/mod.ts";
import type { PermitRecord } from "../../../src/planning/permits.ts";
import { VirtualClock } from "../../../src/time/virtual_clock.ts";
import type { Played } from "../world.ts";
import { CALLS_PER_SEC, CONNECTIONS, POOLS, sharedSchedule, type Step } from "./draw.ts";
import { SharedProcess, type SharedWorld } from "./process.ts";
import { Receivers } from "./receivers.ts";

/** Most processes that run at once. */
const MOST_PROCESSES = 4;
/** Everything has ended after so long without faults, ms. */
const PATIENCE_MS = 400_000;
/** A drain takes so long at most, ms. */
const DRAINED_MS = 60_000;

/** Plays the schedule of a seed, or its first steps. */
export function playShared(seed: number, most = Infinity): Promise<Played> {
  return new SharedSchedule(seed).play(sharedSchedule(seed).slice(0, most));
}

class SharedSchedule {
  readonly #clock = new VirtualClock();
  readonly #startMs = this.#clock.nowMs();
  readonly #receivers = new Receivers(this.#clock);
  readonly #world: SharedWorld;
  readonly #processes: SharedProcess[] = [];
  readonly #ending: Promise<unknown>[] = [];
  #jobs = 0;

  constructor(seed: number) {
    const store = new MemoryStore();
    this.#world = { clock: this.#clock, store, receivers: this.#receivers, seed };
  }

  async play(steps: readonly Step[]): Promise<Played> {
    let done = 0;
    try {
      for (const step of steps) {
        done++;
        await this.#act(step);
        await this.#clock.settle();
        if (this.#looks()) break;
      }
      if (this.#receivers.broken === undefined) await this.#end();
    } catch (thrown) {
      this.#receivers.breach(String(thrown));
    }
    const { broken, starts } = this.#receivers;
    return {
      breach: broken === undefined ? undefined : { what: broken, steps: done },
      jobs: this.#jobs,
      starts,
      virtualMs: this.#clock.nowMs() - this.#startMs,
    };
  }

  get #awake(): readonly SharedProcess[] {
    return this.#processes.filter(({ awake }) => awake);
  }

  /** True if something is broken. */
  #looks(): boolean {
    this.#checkParts("db", "connections/workers", CONNECTIONS.db[0]);
    this.#checkParts("gateway", "connections/workers", CONNECTIONS.gateway[0]);
    this.#checkParts("mailer", "rates/starts", CALLS_PER_SEC);
    return this.#receivers.broken !== undefined;
  }

  #recordOf(name: string): PermitRecord | undefined {
    return this.#world.store.get(`downstreams/${name}`)?.value as PermitRecord | undefined;
  }

  #checkParts(name: string, key: string, most: number): void {
    // Of one that has left only its last starts count.
    const isRate = key.startsWith("rates");
    const holders = Object.values(this.#recordOf(name)?.holders ?? {})
      .filter(({ leftMs }) => isRate || leftMs === undefined);
    const sum = holders.reduce((sum, { parts }) => sum + (parts[key]?.[0] ?? 0), 0);
    if (sum > most) this.#receivers.breach(`the parts of ${name} add up to ${sum}`);
    const isAlone = holders.some(({ alone, leftMs }) => alone && leftMs === undefined);
    if (isAlone && holders.length > 1 && sum > 0) {
      this.#receivers.breach(`one has all of ${name} beside others`);
    }
  }

  async #act(step: Step): Promise<void> {
    if (step.do === "advance") return await this.#clock.advance(step.ms);
    if (step.do === "refuse") {
      return this.#receivers.refuse(step.receiver, step.forMs, step.askedMs);
    }
    if (step.do === "start") return await this.#start(step);
    const all = this.#awake;
    const process = all[step.who % Math.max(1, all.length)];
    if (process !== undefined) this.#actOn(process, step);
  }

  #actOn(process: SharedProcess, step: Extract<Step, { readonly who: number }>): void {
    const { sluice } = process;
    switch (step.do) {
      case "kill":
        return process.kill();
      case "drain":
        return this.#drain(process);
      case "stall":
        process.excuse(step.ms, true);
        return process.clock.stall(step.ms);
      case "fail": {
        const { calls, how, ms } = step;
        Object.assign(process.faults, { calls, how, untilMs: process.clock.trueMs + ms });
        return process.excuse(ms, false);
      }
      case "late": {
        const { latencyMs, ms } = step;
        Object.assign(process.faults, { latencyMs, lateUntilMs: process.clock.trueMs + ms });
        return process.excuse(ms, false);
      }
      case "enqueue":
        return this.#enqueue(process, step);
      case "reload":
        process.reload(step.variant).catch((thrown) => this.#failed(process, thrown));
        return;
      case "close":
        for (const { name } of sluice.pools) {
          sluice.pool(name).closeBreaker(step.key)
            .catch((thrown) => this.#failed(process, thrown));
        }
    }
  }

  /** What is asked of a process may fail only by what was done to it. */
  #failed(process: SharedProcess, thrown: unknown): void {
    if (!process.awake || this.#clock.nowMs() < process.excusedUntilMs) return;
    this.#receivers.breach(`${process.name} answers ${thrown}`);
  }

  async #start({ pools, offsetMs, variant }: Extract<Step, { do: "start" }>): Promise<void> {
    if (this.#awake.length >= MOST_PROCESSES) return;
    const process = new SharedProcess(this.#world, this.#processes.length, pools, offsetMs);
    await process.start(variant);
    this.#processes.push(process);
  }

  #drain(process: SharedProcess): void {
    process.isDraining = true;
    this.#ending.push(process.sluice.stop());
  }

  #enqueue(process: SharedProcess, { count, ms, key }: Extract<Step, { do: "enqueue" }>): void {
    for (let left = count; left > 0; left--) {
      for (const pool of process.pools) {
        this.#jobs++;
        process.sluice.pool(pool).enqueue({ lane: "all", payload: ms, key })
          .catch((thrown) => this.#failed(process, thrown));
      }
    }
  }

  /** Ends all faults, lets all jobs end, stops all, and looks what is held. */
  async #end(): Promise<void> {
    this.#receivers.heal();
    for (const process of this.#processes) process.heal();
    const all = { do: "start", pools: POOLS, variant: 0, offsetMs: 0 } as const;
    if (this.#awake.length >= MOST_PROCESSES) this.#drain(this.#awake[0]!); // there are four
    await this.#start(all);
    const last = this.#processes.at(-1)!; // it has just started
    await this.#pass(12_000);
    this.#enqueue(last, { do: "enqueue", who: 0, count: 20, ms: 100, key: "a" });
    const waiting = (): number =>
      last.sluice.pools.reduce((sum, { name }) => {
        const [lane] = last.sluice.pool(name).snapshot().lanes;
        return sum + lane!.ready + lane!.blocked + lane!.delayed + lane!.running;
      }, 0);
    for (let ms = 0; waiting() > 0 && ms < PATIENCE_MS; ms += 1000) await this.#pass(1000);
    if (waiting() > 0) this.#receivers.breach(`${waiting()} jobs never end`);
    for (const process of this.#awake) this.#drain(process);
    await this.#clock.advance(DRAINED_MS);
    await Promise.all(this.#ending);
    if (this.#looks()) return;
    if (this.#receivers.running.size > 0) this.#receivers.breach("jobs run after all have stopped");
    for (const name of ["db", "gateway", "mailer"]) this.#checkFree(name);
    if (this.#clock.nextAtMs() !== undefined) this.#receivers.breach("a timer outlives its pool");
  }

  /** Who is still in a record has left, or died and is to be found dead. */
  #checkFree(name: string): void {
    const living = this.#processes.filter(({ clock }) => !clock.dead).length;
    const holders = Object.values(this.#recordOf(name)?.holders ?? {});
    const staying = holders.filter(({ leftMs }) => leftMs === undefined);
    if (staying.length > 0) {
      this.#receivers.breach(`${staying.length} hold ${name} though ${living} have stopped`);
    }
  }

  async #pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 1000) {
      await this.#clock.advance(Math.min(1000, left));
      if (this.#looks()) throw new Error(this.#receivers.broken);
    }
  }
}
