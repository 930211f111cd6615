/**
 * What the jobs of all pools call: counts connections and calls, refuses jobs for a while, and keeps the
 * first breach of what must hold of starts.
 *
 * @module
 */

import type { VirtualClock } from "../../../src/time/virtual_clock.ts";
import type { BreakerView } from "../../../src/contract/view.ts";
import {
  CALLS_PER_SEC,
  CONNECTIONS,
  LEASE_MS,
  LONGEST_MS,
  type PoolName,
  type ReceiverName,
  USES,
} from "./draw.ts";
import type { SharedProcess } from "./process.ts";

/** After a stall shares are in place once what was taken back has ended, ms. */
const SETTLED_MS = LEASE_MS + LONGEST_MS + 1000;

/** Others hear within so long that a downstream refuses jobs, ms. */
const HEARD_MS = 200;

/** One call of a handler. */
export interface Running {
  readonly process: SharedProcess;
  readonly pool: PoolName;
  readonly key: string | undefined;
  /** By the clock of its process. */
  readonly startedAtMs: number;
}

/** A downstream that has told some process to leave it alone. */
interface Opening {
  readonly by: SharedProcess;
  readonly name: string;
  readonly atMs: number; // true time
  readonly untilMs: number;
}

/** Watches all starts. */
export class Receivers {
  /** The first breach. */
  broken: string | undefined;
  starts = 0;
  /** What runs. */
  readonly running = new Set<Running>();
  readonly #clock: VirtualClock;
  readonly #refusals = new Map<ReceiverName, { untilMs: number; askedMs: number | undefined }>();
  readonly #calls: number[] = [];
  #openings: Opening[] = [];
  #excusedUntilMs = -Infinity;

  /** Watches from now on. */
  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  /** Records a breach. */
  breach(what: string): void {
    this.broken ??= what;
  }

  /** A process stops for a while, or cannot reach the store, for so long: what it has others may take meanwhile. */
  disturbed(ms: number): void {
    const untilMs = this.#clock.nowMs() + ms + SETTLED_MS;
    this.#excusedUntilMs = Math.max(this.#excusedUntilMs, untilMs);
  }

  /** Refuses jobs for a while. */
  refuse(name: ReceiverName, forMs: number, askedMs: number | undefined): void {
    this.#refusals.set(name, { untilMs: this.#clock.nowMs() + forMs, askedMs });
  }

  /** All take jobs again. */
  heal(): void {
    this.#refusals.clear();
  }

  /** A process was told to leave a downstream alone: until then, by its clock. */
  opened(by: SharedProcess, name: string, untilMs: number): void {
    const atMs = this.#clock.nowMs();
    this.#openings.push({ by, name, atMs, untilMs: untilMs - by.clock.offsetMs });
  }

  /** The breaker of a downstream has closed in a process. */
  closed(by: SharedProcess, name: string): void {
    // Who was accepted, or closed it by hand, says so to all who have not heard yet.
    this.#openings = this.#openings.filter((one) => one.name !== name);
    by.closedAtMs.set(name, this.#clock.nowMs());
  }

  /** A job starts. Answers who refuses it, and for how long it asks. */
  started(
    run: Running,
  ): { readonly by: ReceiverName; readonly askedMs: number | undefined } | undefined {
    this.starts++;
    this.running.add(run);
    const { process, pool, key } = run;
    const uses: Readonly<Record<string, number>> = USES[pool];
    this.#checkConnections();
    const { mailer: calls = 0 } = uses;
    if (calls > 0) this.#checkCalls(calls);
    for (const view of process.sluice.pool(pool).snapshot().breakers) this.#checkBreaker(run, view);
    for (const name of Object.keys(uses)) this.#checkHeard(process, name);
    const nowMs = this.#clock.nowMs();
    for (const by of [...Object.keys(uses), `key:${key}`] as ReceiverName[]) {
      if (by.startsWith("key:") && pool !== "hooks") continue;
      const refusal = this.#refusals.get(by);
      if (refusal !== undefined && nowMs < refusal.untilMs) return { by, askedMs: refusal.askedMs };
    }
    return undefined;
  }

  /** Connections of a downstream that are in use. */
  used(name: "db" | "gateway"): number {
    let used = 0;
    for (const { pool } of this.running) {
      const uses: Readonly<Record<string, number>> = USES[pool];
      used += uses[name] ?? 0;
    }
    return used;
  }

  #checkConnections(): void {
    if (this.#clock.nowMs() < this.#excusedUntilMs) return;
    for (const name of ["db", "gateway"] as const) {
      const used = this.used(name);
      if (used > CONNECTIONS[name][0]) this.breach(`${used} connections of ${name} in use`);
    }
  }

  #checkCalls(calls: number): void {
    const nowMs = this.#clock.nowMs();
    for (let count = 0; count < calls; count++) this.#calls.push(nowMs);
    const first = this.#calls[this.#calls.length - 1 - CALLS_PER_SEC];
    if (nowMs < this.#excusedUntilMs || first === undefined || nowMs - first >= 1000) return;
    this.breach(`${CALLS_PER_SEC + 1} calls of the mailer within ${nowMs - first} ms`);
  }

  /** While a breaker is open none of its jobs starts; then one does, and the next once that was accepted. */
  #checkBreaker(run: Running, { key, downstream, state, untilMs }: BreakerView): void {
    const { process, pool } = run;
    const isOf = (one: Running): boolean => {
      if (one.process !== process) return false;
      if (downstream !== undefined) return downstream in USES[one.pool];
      return one.pool === pool && (key === undefined || one.key === key);
    };
    if (!isOf(run)) return;
    const whose = downstream ?? key ?? pool;
    if (state === "open") this.breach(`${process.name} starts a job of ${whose}, which is open`);
    const probes = [...this.running].filter((one) => isOf(one) && one.startedAtMs >= untilMs);
    if (probes.length > 1) this.breach(`${probes.length} jobs of ${process.name} probe ${whose}`);
  }

  /** What one process was told for a second or longer all others have heard of, unless they closed it since. */
  #checkHeard(process: SharedProcess, name: string): void {
    const nowMs = this.#clock.nowMs();
    this.#openings = this.#openings.filter(({ untilMs }) => nowMs < untilMs);
    for (const { by, name: of_, atMs, untilMs } of this.#openings) {
      if (of_ !== name || by === process || untilMs - atMs < 1000) continue;
      const sinceMs = Math.max(atMs, by.excusedUntilMs, process.excusedUntilMs);
      const isSame = by.clock.offsetMs === process.clock.offsetMs;
      const hasClosed = (process.closedAtMs.get(name) ?? -Infinity) >= atMs;
      if (!isSame || hasClosed || by.clock.dead || nowMs - sinceMs < HEARD_MS) continue;
      this.breach(`${process.name} starts a job of ${name}, which refuses those of ${by.name}`);
    }
  }
}
