/**
 * Holds the start rate of a long window by a ledger in the store, which outlives processes.
 *
 * @module
 */

import { draw, type LedgerAnswer, mostLateMs, type StartRecord } from "../planning/start_ledger.ts";
import type { PoolCore } from "./pool_core.ts";
import type { StateEntry, Store } from "../contract/store.ts";
import type { StartLimit } from "../contract/strategy.ts";
import { windowOf } from "../planning/start_window.ts";
import { type RecordDraft, RecordLooks } from "./record_looks.ts";

/** Between two looks, ms, at least; and after one that failed. */
const LOOK_MS = 5;
const FAILED_MS = 1000;

/** What others give back is seen after so long, ms. */
const POLL_MS = 5000;

/** Clocks of processes that differ by no more than this are taken to show the latest of them, ms. */
const MOST_APART_MS = 300_000;

/** What a ledger needs of its pool. */
export interface LedgerContext extends Pick<PoolCore, "state" | "now"> {
  /** Where the record is. */
  readonly store: Store;
  /** The lane whose starts it holds. `undefined`: all. */
  readonly lane: string | undefined;
  /** More may start. */
  readonly changed: () => void;
}

/** Draws starts before they are used. What a process has drawn and not used it gives back, unless it dies. */
export class LedgerRate {
  /** By how much starts are late recently, ms: that is made up for. */
  lateMs = 0;
  readonly #context: LedgerContext;
  readonly #looks: RecordLooks;
  #limit: StartLimit = { starts: 0, perMs: 1000 };
  #rules = { most: 0, spanMs: 0, burst: 1 };
  #paceMs = 0;
  #dueAtMs = -Infinity; // of the pace, for its own starts
  #id = "";
  #draws = 0;
  #left = 0;
  #untilMs = -Infinity; // wall clock
  #started: number[] = []; // of the latest draw, wall clock
  #aheadMs = 0; // by which the record's clock is ahead of this process's
  #freeAtMs = -Infinity;
  #nextAtMs = -Infinity; // for lower lanes
  #lookAtMs = -Infinity;
  #closed = false;

  /** Has drawn nothing yet. @param key Of the record. */
  constructor(key: string, context: LedgerContext) {
    this.#context = context;
    this.#looks = new RecordLooks(context.store, key);
  }

  /** Holds another limit from now on. */
  set(limit: StartLimit): void {
    const { starts, perMs, burst = 1 } = limit;
    if (
      starts === this.#limit.starts && perMs === this.#limit.perMs && burst === this.#rules.burst
    ) {
      return;
    }
    this.#limit = limit;
    if (starts === 0) return;
    const window = windowOf(limit);
    this.#rules = { most: window.starts, spanMs: window.perMs, burst };
    this.#paceMs = window.perMs / window.starts;
    this.#lookAtMs = this.#freeAtMs = this.#nextAtMs = -Infinity;
  }

  /** Time between two starts that keep the pace, ms. */
  get paceMs(): number {
    return this.#paceMs;
  }

  /** See `StartRate.by`. */
  by(untilMs: number, nowMs: number, wanted: number, jumps: boolean): number {
    const count = Math.min(wanted, this.#leftAt(nowMs));
    if (jumps || count === 0) return count;
    const due = Math.floor((untilMs - this.#fromMs(untilMs)) / this.#paceMs + 1e-9) + 1;
    return Math.max(0, Math.min(count, due));
  }

  /** See `StartRate.nextAtMs`. `Infinity`: another draw has to come first, and asks for a turn. */
  nextAtMs(nowMs: number, count: number, jumps: boolean): number {
    if (count > this.#leftAt(nowMs)) return Infinity;
    return jumps ? nowMs : Math.max(nowMs, this.#fromMs(nowMs) + (count - 1) * this.#paceMs);
  }

  /** A job starts. */
  started(atMs: number): void {
    this.#left--;
    this.#started.push(this.#wallMs(atMs));
    this.#dueAtMs = this.#fromMs(atMs) + this.#paceMs;
  }

  /** Draws if there is a need, or gives back. */
  attend(nowMs: number): void {
    if (nowMs < this.nextLookMs(nowMs)) return;
    this.#look(nowMs); // one that the store has not answered is given up: the next one tells
  }

  /** When to attend next. `Infinity`: when something happens. */
  nextLookMs(nowMs: number): number {
    if (this.#closed || this.#limit.starts === 0) return Infinity;
    const { settings: { leaseMs } } = this.#context.state;
    if (this.#looks.isOpen) return this.#lookAtMs + leaseMs;
    const { idle, live, starting, limit, size } = this.#context.state;
    const { first, others } = this.#waiting;
    const untilMs = this.#untilMs === -Infinity
      ? Infinity
      : nowMs + this.#untilMs - this.#wallMs(nowMs);
    const hasUse = first + others > 0 && (idle > 0 || live + starting < Math.min(limit, size.max));
    if (!hasUse || this.#leftAt(nowMs) > 0) return Math.max(this.#lookAtMs, untilMs);
    const freeAtMs = first > 0 ? this.#freeAtMs : Math.max(this.#freeAtMs, this.#nextAtMs);
    const nextMs = nowMs + freeAtMs - this.#wallMs(nowMs);
    return Math.max(this.#lookAtMs, Math.min(untilMs, nextMs, this.#lookAtMs + POLL_MS));
  }

  /** Gives back what it has drawn. A store that fails counts it as used. */
  async leave(): Promise<void> {
    this.#closed = true;
    await this.#looks.answer;
    if (this.#id === "") return;
    this.#looks.look((entry) => this.#draft(entry), () => {}); // one that fails: as of a process that has died
    await this.#looks.answer;
  }

  /** Jobs that wait for starts, of the highest lane and of others. */
  get #waiting(): { readonly first: number; readonly others: number } {
    const { lane: own, state } = this.#context;
    let first = 0;
    let others = 0;
    for (const lane of this.#closed ? [] : state.lanes) {
      if (own !== undefined && lane.name !== own) continue;
      const waiting = own === undefined ? lane.ready : lane.waiting;
      if (lane.index === 0) first += waiting;
      else others += waiting;
    }
    return { first, others };
  }

  /** What is drawn and may be used still. */
  #leftAt(nowMs: number): number {
    return this.#limit.starts > 0 && this.#wallMs(nowMs) < this.#untilMs ? this.#left : 0;
  }

  /** When the pace lets the next of its own starts. */
  #fromMs(atMs: number): number {
    const lateMs = mostLateMs(this.#rules.burst, this.#paceMs) + this.lateMs;
    return Math.max(this.#dueAtMs, atMs - lateMs);
  }

  /** The latest of the clocks of all processes, as far as this one has seen. */
  #wallMs(nowMs: number): number {
    return this.#context.state.wall.at(nowMs) + this.#aheadMs;
  }

  #look(nowMs: number): void {
    this.#lookAtMs = nowMs + LOOK_MS;
    this.#looks.look((entry) => this.#draft(entry), (ok) => {
      if (!ok) this.#lookAtMs = this.#context.now() + FAILED_MS;
      if (this.#left > 0) this.#context.changed();
    });
  }

  #draft(entry: StateEntry | undefined): RecordDraft | undefined {
    const { state, now } = this.#context;
    const record = recordIn(entry);
    if (record !== undefined) {
      const aheadMs = record.atMs - state.wall.at(now());
      if (aheadMs > this.#aheadMs) this.#aheadMs = Math.min(aheadMs, MOST_APART_MS);
    }
    const { first, others } = this.#waiting;
    const started = this.#started;
    this.#left = 0; // nothing starts of what is given back
    const answer = draw(
      record,
      this.#rules,
      { id: this.#id, known: this.#draws, started, first, others },
      this.#wallMs(now()),
    );
    this.#freeAtMs = answer.freeAtMs;
    this.#nextAtMs = answer.dueAtMs;
    const isNews = answer.count > 0 || started.length > 0 || record?.held[this.#id] !== undefined;
    if (!isNews) {
      this.#untilMs = -Infinity;
      return;
    }
    return { value: answer.record, answered: (ok) => ok && this.#drawn(answer) };
  }

  #drawn({ id, record, count, untilMs }: LedgerAnswer): void {
    this.#id = id;
    this.#draws = record.held[id]?.[2] ?? 0;
    this.#started = [];
    this.#left = count;
    this.#untilMs = count > 0 ? untilMs : -Infinity;
  }
}

/** What the store keeps. `undefined`: nothing, or what says so was damaged. */
function recordIn(entry: StateEntry | undefined): StartRecord | undefined {
  const record = entry?.value as StartRecord | null | undefined; // only this file writes the key
  const isWhole = Array.isArray(record?.starts) && typeof record.held === "object" &&
    record.held !== null;
  return isWhole ? record : undefined;
}
