/**
 * Plays a schedule on real pools and the store in memory, in virtual time, and looks after each step
 * whether all that must hold does.
 *
 * @module
 */

import { MemoryStore } from "../../stores/memory/mod.ts";
import { ConfigError, RejectedError } from "../../src/contract/errors.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { CONFIGS } from "./config.ts";
import { inspect } from "./inspect.ts";
import { Referee } from "./referee.ts";
import { Seat, type World } from "./seat.ts";
import { scheduleOf, type Step } from "./step.ts";
import type { Played } from "./world.ts";

/** Most processes that run at once. */
const MOST_SEATS = 4;
/** Everything has ended after so long without faults, ms. */
const PATIENCE_MS = 240_000;
/** A pool with nothing to do is quiet after so long, ms. */
const QUIET_MS = 200_000;

/** Plays the schedule of a seed, or its first steps. */
export function playSeed(seed: number, most = Infinity): Promise<Played> {
  return new Schedule(seed).play(scheduleOf(seed, CONFIGS).slice(0, most));
}

class Schedule {
  readonly #world: World;
  readonly #referee: Referee;
  readonly #clock = new VirtualClock();
  readonly #startMs = this.#clock.nowMs();
  readonly #unhandled: Promise<unknown>[] = [];
  #started = 0;

  constructor(seed: number) {
    this.#referee = new Referee(this.#clock);
    this.#world = {
      clock: this.#clock,
      store: new MemoryStore(),
      referee: this.#referee,
      seed,
      downstream: { factor: 1, down: false },
    };
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
      if (this.#referee.broken === undefined) await this.#end();
    } catch (thrown) {
      this.#referee.breach(String(thrown));
    }
    const { broken, jobs } = this.#referee;
    let starts = 0;
    for (const known of jobs.values()) starts += known.starts;
    return {
      breach: broken === undefined ? undefined : { what: broken, steps: done },
      jobs: jobs.size,
      starts,
      virtualMs: this.#clock.nowMs() - this.#startMs,
    };
  }

  /** True if something is broken. */
  #looks(): boolean {
    if (this.#referee.broken === undefined) inspect(this.#referee);
    return this.#referee.broken !== undefined;
  }

  get #awake(): readonly Seat[] {
    return this.#referee.seats.filter((seat) => seat.awake && !seat.draining);
  }

  async #act(step: Step): Promise<void> {
    const { downstream } = this.#world;
    if (step.do === "start") return await this.#start(step.config, step.offsetMs);
    if (step.do === "advance") return await this.#clock.advance(step.ms);
    if (step.do === "slow") {
      downstream.factor = step.factor;
      return;
    }
    if (step.do === "down") {
      downstream.down = step.down;
      return;
    }
    const seats = this.#awake;
    const seat = seats[step.who % Math.max(1, seats.length)];
    if (seat !== undefined) this.#actOn(seat, step);
  }

  #actOn(seat: Seat, step: Extract<Step, { readonly who: number }>): void {
    switch (step.do) {
      case "kill":
        this.#referee.disturbed();
        return seat.kill();
      case "drain":
        return this.#drain(seat);
      case "stall":
        return seat.stall(step.ms);
      case "fail":
        return seat.fail(step.calls, step.how, step.ms);
      case "late":
        return seat.late(step.latencyMs, step.ms);
      case "enqueue":
        return this.#enqueue(seat, step);
      case "reload":
        return this.#reload(seat, step.config);
      case "pause":
        return this.#wait(seat, seat.pool.pause(known(seat, step.lane)));
      case "resume":
        return this.#wait(seat, seat.pool.resume(known(seat, step.lane)));
      case "override":
        try {
          seat.pool.override(step.bounds, 800);
        } catch (thrown) {
          if (!(thrown instanceof RangeError)) throw thrown; // the size of the config of now may not allow it
        }
        return;
      case "cancel":
      case "revive":
      case "remove": {
        const ids = [...this.#referee.jobs.keys()];
        const id = ids[step.which % Math.max(1, ids.length)];
        if (id !== undefined) this.#wait(seat, seat.pool.change(id, step.do));
      }
    }
  }

  async #start(config: number, offsetMs: number): Promise<void> {
    if (this.#awake.length >= MOST_SEATS) return;
    const seat = new Seat(this.#world, this.#started++, offsetMs);
    this.#referee.seats.push(seat);
    this.#referee.disturbed();
    await seat.start(config);
  }

  #drain(seat: Seat): void {
    seat.drainingSinceMs = this.#clock.nowMs();
    this.#referee.disturbed();
    this.#unhandled.push(seat.sluice.stop());
  }

  #enqueue(seat: Seat, step: Extract<Step, { readonly do: "enqueue" }>): void {
    const lane = known(seat, step.lane);
    if (lane === undefined) return;
    const { plan: payload, delayMs, key, ttlMs, dedupeKey } = step;
    const given = {
      ...(key === undefined ? {} : { key }),
      ...(ttlMs === undefined ? {} : { ttlMs }),
      ...(dedupeKey === undefined ? {} : { dedupeKey }),
    };
    for (let count = 0; count < step.count; count++) {
      const taken = seat.pool.enqueue({ lane, payload, delayMs, ...given });
      this.#wait(
        seat,
        taken.then(({ id }) => {
          if (!this.#referee.jobs.has(id)) this.#referee.breach(`${id} was taken and is not known`);
        }),
        RejectedError,
      );
    }
  }

  #reload(seat: Seat, config: number): void {
    this.#referee.disturbed();
    this.#wait(seat, seat.reload(config).catch((thrown) => this.#refused(seat, thrown)));
  }

  #refused(seat: Seat, thrown: unknown): void {
    if (!seat.healthy || seat.draining) return;
    const isHeld = thrown instanceof ConfigError &&
      thrown.faults.every(({ message }) => /^Lane ".*" still holds/.test(message));
    if (!isHeld) this.#referee.breach(`${seat.name} cannot reload: ${thrown}`);
  }

  /** What is asked of a process may fail only by what was done to it. */
  #wait(seat: Seat, asked: Promise<unknown>, expected?: new (...given: never[]) => Error): void {
    asked.catch((thrown) => {
      if (!seat.healthy || (expected !== undefined && thrown instanceof expected)) return;
      this.#referee.breach(`${seat.name} answers ${thrown}`);
    });
  }

  /** Ends all faults, lets all jobs end under load, stops one after the other, looks for timers. */
  async #end(): Promise<void> {
    const { downstream } = this.#world;
    downstream.factor = 1;
    downstream.down = false;
    for (const seat of this.#referee.seats) seat.heal();
    if (this.#awake.length === 0) await this.#start(0, 0);
    await this.#pass(12_000);
    for (const seat of this.#awake) {
      this.#reload(seat, 0);
      this.#wait(seat, seat.pool.resume());
      for (const lane of ["high", "low"]) this.#wait(seat, seat.pool.resume(lane));
    }
    await this.#pass(10_000);
    for (const [who, seat] of this.#awake.entries()) {
      const plan = { ms: 200, end: "ok", heedsAbort: true } as const;
      const rest = { do: "enqueue", who, plan, delayMs: 0 } as const;
      this.#enqueue(seat, { ...rest, lane: "high", count: 30 });
      this.#enqueue(seat, { ...rest, lane: "low", count: 10 });
    }
    await this.#passUntilEnded();
    const [last, ...others] = this.#awake;
    for (const seat of others) this.#drain(seat);
    await this.#pass(QUIET_MS, QUIET_MS);
    if (this.#looks()) return;
    const nextMs = this.#clock.nextAtMs();
    if (nextMs !== undefined) this.#referee.breach("a timer is set while there is nothing to do");
    if (last !== undefined) this.#drain(last);
    await this.#clock.advance(20_000);
    await Promise.all(this.#unhandled);
    if (this.#clock.nextAtMs() !== undefined) this.#referee.breach("a timer outlives its pool");
  }

  async #pass(ms: number, stepMs = 1000): Promise<void> {
    for (let left = ms; left > 0; left -= stepMs) {
      await this.#clock.advance(stepMs);
      if (this.#looks()) return;
      for (const { runs } of this.#referee.seats) {
        for (const run of [...runs]) if (run.givenUp) run.letGo();
      }
    }
  }

  async #passUntilEnded(): Promise<void> {
    for (let ms = 0; ms < PATIENCE_MS; ms += 1000) {
      await this.#pass(1000);
      if (this.#referee.broken !== undefined) return;
      if (this.#referee.jobs.values().every(({ ended, removed }) => removed || ended)) return;
    }
    const [waiting] = this.#referee.jobs.values().filter(({ ended, removed }) =>
      !removed && !ended
    );
    this.#referee.breach(`${waiting?.id} never ends`);
  }
}

/** The lane, if the process has it. */
function known({ pool }: Seat, lane: string | undefined): string | undefined {
  return pool.settings.lanes.find(({ name }) => name === lane)?.name;
}
