/**
 * Cools a pool down while its receiver says "not now".
 *
 * @module
 */

import type { PoolCore } from "./pool_core.ts";
import type { JobRun } from "./job_run.ts";
import type { PoolState } from "./pool_state.ts";
import { spreadMs } from "./verdict.ts";

/** Where refusals are usual beside successes, this many times their usual row is no chance any more. */
const UNUSUAL = 20;

/** Over this many rows the usual one is taken, and with this many of none it begins. */
const ROWS = 64;
const ROWS_BEFORE = 8;

/** This many refusals in a row close a pool, however long rows have been. */
const MOST_IN_A_ROW = 100;

/** How many refused jobs are remembered. */
const REMEMBERED = 10_000;

/** Share that chance adds to a wait that the receiver did not name: processes ask one after the other. */
const JITTER = 0.2;

/** As many at once, and the pool is open again. */
const OPEN = 1024;

/** What a cool-down needs of its pool. Of its state it owns `holdUntilMs`. */
export interface CooldownContext extends PoolCore {
  /** Chance for jitter. */
  readonly random: () => number;
}

/**
 * Owns how many attempts may start. A refusal is an attempt that called `context.overloaded()` and
 * ended in a deferral. Some in a row, with no success of an attempt that began as late as the first of
 * them, close the pool: for as long as the receiver asked, or else forever longer. Then one attempt
 * asks. Another refusal closes the pool again; a success lets two start at once, then four, until the
 * pool is open.
 *
 * A receiver may refuse some jobs and take others. So a job that is refused once more counts only if
 * nothing was taken since the last time; and the row that closes is longer than those that usually
 * stand between two successes.
 */
export class Cooldown {
  readonly #context: CooldownContext;
  readonly #state: PoolState;
  #allowed = Infinity; // attempts at once
  #probes = 0; // attempts that began since it closed, and run
  #wave = 0; // times that it has closed
  #untilMs = -Infinity;
  #widenAtMs = Infinity;
  #waitMs = 0; // the last wait that no receiver named
  #beganAtMs: number | undefined;
  #refusedProbes = 0;
  #row = 0; // refusals since the last success
  #rowFromMs = 0; // when the first of their attempts began
  #slowestMs = 0; // the longest that one of them took
  #tookAtMs = -Infinity;
  readonly #refusedAtMs = new Map<string, number>(); // by job, the oldest first
  #usualRow = 0;
  #rows = ROWS_BEFORE;

  /** Begins open. */
  constructor(context: CooldownContext) {
    this.#context = context;
    this.#state = context.state;
  }

  /** How many more attempts may start now. `Infinity`: as many as like. */
  room(nowMs: number): number {
    if (this.#allowed === Infinity) return Infinity;
    if (nowMs < this.#untilMs) return 0;
    // One that runs for so long was not refused.
    if (nowMs >= this.#widenAtMs) this.#took(nowMs);
    return Math.max(0, this.#allowed - this.#probes);
  }

  /** When there is more room, if nothing ends before. `Infinity`: only an end makes some. */
  nextAtMs(nowMs: number): number {
    return nowMs < this.#untilMs ? this.#untilMs : this.#widenAtMs;
  }

  /** An attempt begins. */
  began(run: JobRun): void {
    run.wave = this.#wave;
    if (this.#allowed === Infinity) return;
    this.#probes++;
    if (this.#widenAtMs === Infinity) {
      const { minMs = 0 } = this.#state.settings.cooldown ?? {};
      this.#widenAtMs = run.startedAtMs + Math.max(minMs, 2 * this.#slowestMs);
    }
  }

  /**
   * An attempt has ended and was judged. A refused job comes back no earlier than the pool opens.
   *
   * @param measured It was done, or it failed: the receiver did not refuse it.
   */
  ended(run: JobRun, nowMs: number, measured: boolean): void {
    const isProbe = run.wave === this.#wave && this.#allowed !== Infinity;
    if (isProbe) this.#probes--;
    const { overloadedMs } = run;
    if (overloadedMs !== undefined && run.to === "retry" && !run.charged) {
      this.#refused(run, nowMs, overloadedMs);
    } else if (measured && (overloadedMs === undefined || run.to === "done")) {
      if (this.#row === 0 || run.startedAtMs >= this.#rowFromMs) this.#took(nowMs);
    }
  }

  /** Takes the settings over that now hold. */
  adopt(nowMs: number): void {
    const { cooldown } = this.#state.settings;
    if (cooldown === undefined) {
      this.#row = 0;
      this.#allowed = Infinity;
      this.#open(nowMs);
    } else if (nowMs < this.#untilMs) {
      this.#hold(Math.min(this.#untilMs, nowMs + cooldown.maxMs));
    }
  }

  #refused(run: JobRun, nowMs: number, askedMs: number): void {
    const { cooldown } = this.#state.settings;
    if (cooldown === undefined) return;
    if (run.wave === this.#wave && this.#isNews(run.job.id, nowMs)) {
      this.#rowFromMs = this.#row === 0
        ? run.startedAtMs
        : Math.min(this.#rowFromMs, run.startedAtMs);
      this.#row++;
      this.#slowestMs = Math.max(this.#slowestMs, nowMs - run.startedAtMs);
      if (this.#beganAtMs !== undefined || this.#row >= this.#limit(cooldown.after)) {
        this.#close(nowMs, askedMs);
      }
    } else if (nowMs < this.#untilMs) { // it began before the pool closed: no more than a later time
      this.#hold(Math.max(this.#untilMs, nowMs + this.#bounded(askedMs)));
    }
    if (nowMs < this.#untilMs) {
      const { random } = this.#context;
      const spread = spreadMs(this.#untilMs - nowMs) * random();
      run.dueAtMs = Math.max(run.dueAtMs, this.#untilMs + spread);
    }
  }

  /** True if a refusal of this job says something of the receiver: one that refuses it alone says it again. */
  #isNews(id: string, nowMs: number): boolean {
    const beforeMs = this.#refusedAtMs.get(id);
    this.#refusedAtMs.delete(id);
    this.#refusedAtMs.set(id, nowMs);
    if (this.#refusedAtMs.size > REMEMBERED) {
      const [oldest] = this.#refusedAtMs.keys();
      this.#refusedAtMs.delete(oldest!); // it holds more than one
    }
    return beforeMs === undefined || beforeMs > this.#tookAtMs || this.#beganAtMs !== undefined;
  }

  /** How many refusals in a row close the pool. */
  #limit(after: number): number {
    return Math.max(after, Math.min(MOST_IN_A_ROW, after + UNUSUAL * this.#usualRow));
  }

  #close(nowMs: number, askedMs: number): void {
    const { state, hub, random } = this.#context;
    const { minMs, maxMs } = state.settings.cooldown!; // a pool without one is never closed
    if (this.#beganAtMs !== undefined) this.#refusedProbes++;
    this.#waitMs = Math.min(maxMs, Math.max(minMs, 2 * this.#waitMs));
    const waitMs = askedMs > 0
      ? this.#bounded(askedMs)
      : Math.min(maxMs, this.#waitMs * (1 + JITTER * random()));
    this.#wave++;
    this.#probes = 0;
    this.#allowed = 1;
    this.#widenAtMs = Infinity;
    this.#hold(nowMs + waitMs);
    if (this.#beganAtMs !== undefined) return;
    this.#beganAtMs = nowMs;
    const { pool, holdUntilMs: untilMs } = state;
    if (hub.active) {
      hub.emit({ kind: "cooldown-began", atMs: nowMs, pool, refusals: this.#row, untilMs });
    }
  }

  /** A long time is the word to one job, maybe not to all: another asks after `maxMs`, then ever later. */
  #bounded(askedMs: number): number {
    const { maxMs } = this.#state.settings.cooldown!; // see above
    return Math.min(askedMs, maxMs * 2 ** this.#refusedProbes);
  }

  #hold(untilMs: number): void {
    this.#untilMs = untilMs;
    this.#state.holdUntilMs = untilMs;
  }

  /** The receiver took a job: the row is over. */
  #took(nowMs: number): void {
    this.#tookAtMs = nowMs;
    if (this.#row > 0 || this.#usualRow > 0) {
      this.#rows = Math.min(ROWS, this.#rows + 1);
      this.#usualRow += (this.#row - this.#usualRow) / this.#rows;
      this.#row = 0;
    }
    if (this.#allowed === Infinity) return;
    this.#allowed = this.#allowed >= OPEN ? Infinity : 2 * this.#allowed;
    this.#open(nowMs);
  }

  #open(nowMs: number): void {
    this.#untilMs = -Infinity;
    this.#widenAtMs = Infinity;
    this.#waitMs = 0;
    this.#slowestMs = 0;
    this.#refusedProbes = 0;
    if (this.#beganAtMs === undefined) return;
    const forMs = nowMs - this.#beganAtMs;
    this.#beganAtMs = undefined;
    this.#state.holdUntilMs = 0;
    const { state: { pool }, hub } = this.#context;
    if (hub.active) hub.emit({ kind: "cooldown-ended", atMs: nowMs, pool, forMs });
  }
}
