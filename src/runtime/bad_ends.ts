/**
 * Which attempts a receiver did not take, and how many in a row.
 *
 * @module
 */

import type { BreakerCause } from "../contract/view.ts";
import type { CooldownSettings } from "../config/settings.ts";
import type { JobRun } from "./job_run.ts";

/** Where bad ends are usual beside successes, this many times their usual row is no chance any more. */
const UNUSUAL = 20;

/** Over this many rows the usual one is taken, and with this many of none it begins. */
const ROWS = 64;
const ROWS_BEFORE = 8;

/** This many in a row are enough, however long rows have been. */
const MOST_IN_A_ROW = 100;

/** How an attempt ended that the receiver has not taken. `askedMs`: how long it asked to be left alone; 0 if no time. */
export interface BadEnd {
  readonly cause: BreakerCause;
  readonly askedMs: number;
}

/** A row of ends of one kind. */
interface Row {
  count: number;
  /** How many stand between two successes on average. */
  usual: number;
}

/** How an attempt ended badly. */
interface How {
  readonly nowMs: number;
  /** It failed. False: the receiver refused it. */
  readonly isFailure: boolean;
  /** The breaker is open, or half-open. */
  readonly isOpen: boolean;
}

/**
 * Owns the rows of refusals and of failures. A receiver may refuse some jobs and take others. So a job
 * that ends badly once more counts only if nothing was taken since the last time; and a row is long only
 * if it is longer than those that usually stand between two successes.
 */
export class BadEnds {
  /** The longest that an attempt of the row took, ms. */
  slowestMs = 0;
  /** When the latest of all came. */
  latestMs = -Infinity;
  readonly #remembers: number;
  readonly #refused: Row = { count: 0, usual: 0 };
  readonly #failed: Row = { count: 0, usual: 0 };
  readonly #endedAtMs = new Map<string, number>(); // by job, the oldest first
  #fromMs = 0; // when the first attempt of the row began
  #tookAtMs = -Infinity;
  #rows = ROWS_BEFORE;

  /** Begins with none. `remembers`: of how many jobs it knows when they ended so. */
  constructor(remembers: number) {
    this.#remembers = remembers;
  }

  /** How many there are in a row. */
  get count(): number {
    return this.#refused.count + this.#failed.count;
  }

  /** True if a success of an attempt that began then is the end of the row. */
  isOverBy(startedAtMs: number): boolean {
    return this.count === 0 || startedAtMs >= this.#fromMs;
  }

  /** True if the job ended badly before, and others were taken since. */
  isOfJob(id: string): boolean {
    return (this.#endedAtMs.get(id) ?? Infinity) <= this.#tookAtMs;
  }

  /** Takes one in. False if it says nothing of the receiver: one that refuses this job alone says it again. */
  add(
    { job: { id }, startedAtMs }: { readonly job: { readonly id: string }; startedAtMs: number },
    { nowMs, isFailure, isOpen }: How,
  ): boolean {
    const isNews = isOpen || !this.isOfJob(id);
    this.#remember(id, nowMs);
    if (!isNews) return false;
    this.#fromMs = this.count === 0 ? startedAtMs : Math.min(this.#fromMs, startedAtMs);
    (isFailure ? this.#failed : this.#refused).count++;
    this.slowestMs = Math.max(this.slowestMs, nowMs - startedAtMs);
    return true;
  }

  /** True if a row is long enough to open a breaker. */
  areMany({ after, failures }: CooldownSettings): boolean {
    return isLong(this.#refused, after) || isLong(this.#failed, failures);
  }

  /** The receiver took a job: the row is over. */
  tookAt(nowMs: number): void {
    this.#tookAtMs = nowMs;
    if (this.count === 0 && this.#refused.usual === 0 && this.#failed.usual === 0) return;
    this.#rows = Math.min(ROWS, this.#rows + 1);
    for (const row of [this.#refused, this.#failed]) {
      row.usual += (row.count - row.usual) / this.#rows;
      row.count = 0;
    }
  }

  /** Nothing is known any more of the row. */
  forget(): void {
    this.#refused.count = 0;
    this.#failed.count = 0;
  }

  #remember(id: string, nowMs: number): void {
    this.latestMs = nowMs;
    this.#endedAtMs.delete(id);
    this.#endedAtMs.set(id, nowMs);
    if (this.#endedAtMs.size <= this.#remembers) return;
    const [oldest] = this.#endedAtMs.keys();
    this.#endedAtMs.delete(oldest!); // it holds more than one
  }
}

function isLong({ count, usual }: Row, limit: number): boolean {
  return count >= Math.max(limit, Math.min(MOST_IN_A_ROW, limit + UNUSUAL * usual));
}

/** How an attempt ended, by the rules of its breaker. `undefined`: the receiver took it; `null`: that is not known. */
export function endOf(
  run: JobRun,
  measured: boolean,
  { failures = Infinity }: Partial<CooldownSettings> = {},
): BadEnd | null | undefined {
  const { overloadedMs } = run;
  if (run.to === "retry" && !run.charged) {
    if (run.isGone) return { cause: "gone", askedMs: 0 };
    return overloadedMs === undefined ? null : { cause: "overloaded", askedMs: overloadedMs };
  }
  if (run.to === "done" && measured) return undefined;
  if (!measured) return null;
  // It failed: the receiver took it all the same, unless failures count.
  if (failures < Infinity && run.reason !== "fatal") return { cause: "failures", askedMs: 0 };
  return overloadedMs === undefined ? undefined : null;
}
