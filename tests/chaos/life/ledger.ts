/**
 * What is known of every job of a life, and what must hold of it. The first breach is kept.
 *
 * @module
 */

import type { PoolEvent } from "../../../src/contract/event.ts";
import type { Job, JobRecord } from "../../../src/contract/job.ts";
import { Fatal, RetryLater } from "../../../src/contract/errors.ts";
import type { Life, LifeLane, Plan } from "./draw.ts";

/** What is known of one job. */
export interface Known {
  readonly plan: Plan;
  readonly lane: string;
  readonly key: string | undefined;
  /** It starts, or starts again, not before that (true time). */
  dueAtMs: number;
  /** It does not start after so long, ms. */
  readonly ttlMs: number;
  /** `progress` when it was offered. */
  readonly offeredAt: number;
  /** Its id, once the store has taken it, and when that was. */
  id: string | undefined;
  takenAtMs: number;
  starts: number;
  ends: number;
  /** `progress` at its latest end. */
  endedAt: number;
  /** How often it was revived. */
  revived: number;
  /** True once someone asked to cancel it. */
  cancelled: boolean;
  removed: boolean;
}

/** One handler that runs. */
export interface Run {
  readonly member: string;
  readonly known: Known;
  /** Id of its job. */
  readonly id: string;
  /** True once its attempt was given up: it ignores its abort. */
  isGivenUp: boolean;
}

/** What the ledger has to know of a job besides what its handler does. */
export type Offer = Pick<Known, "plan" | "lane" | "key"> & {
  readonly delayMs: number;
  /** `undefined`: that of its lane. */
  readonly ttlMs: number | undefined;
};

/** From its lease to its handler a job may take so long, ms. */
const START_SLACK_MS = 1000;

/** Sums of times since 1970 miss by less, ms. */
const ROUNDING_MS = 0.001;

/** Watches all processes of one life. */
export class Ledger {
  /** The first breach. */
  broken: string | undefined;
  /** True once something was done to a process or a store that may interrupt or repeat runs. */
  harmed = false;
  readonly jobs = new Map<number, Known>();
  readonly byId = new Map<string, Known>();
  readonly runs = new Set<Run>();
  /** Rises with each start and each end. */
  progress = 0;
  readonly #life: Life;
  readonly #lanes: ReadonlyMap<string, LifeLane>;
  readonly #draining = new Set<string>();
  /** When jobs of each key of a lane with rates started. */
  readonly #startsOfKey = new Map<string, number[]>();
  readonly #now: () => number;
  /** False where a clock steps or a process stalls: times say nothing then. */
  readonly #isTimely: boolean;

  /** Knows no job yet. `now` tells the true time. */
  constructor(life: Life, now: () => number) {
    this.#life = life;
    this.#now = now;
    this.#isTimely = life.steps.every((step) => step.do !== "clock" && step.do !== "block");
    this.#lanes = new Map(life.lanes.map((lane) => [lane.name, lane]));
  }

  /** Keeps the first breach. */
  breach(what: string): void {
    this.broken ??= what;
  }

  /** A job is about to be enqueued. */
  offered({ plan, lane, key, delayMs, ttlMs }: Offer): Known {
    const known = {
      ...{ plan, lane, key, dueAtMs: this.#now() + delayMs, offeredAt: this.progress },
      ...{ id: undefined, takenAtMs: Infinity, starts: 0, ends: 0, endedAt: -1 },
      ...{ ttlMs: ttlMs ?? this.#lanes.get(lane)?.ttlMs ?? Infinity },
      ...{ revived: 0, cancelled: false, removed: false },
    };
    this.jobs.set(plan.n, known);
    return known;
  }

  /** The store has taken a job, or says that another one has its `dedupeKey`. */
  taken(known: Known, id: string, duplicate: boolean): void {
    if (duplicate) return this.#checkOwner(known, id);
    this.byId.set(id, known);
    known.id = id;
    known.takenAtMs = this.#now();
  }

  /** A handler begins. Returns how often its job has started. */
  began(member: string, job: Job, plan: Plan): number {
    const known = this.jobs.get(plan.n);
    if (known === undefined) {
      this.breach(`Job ${job.id} starts, which nobody enqueued`);
      return 1;
    }
    const { bytes } = this.#sizeOf(plan);
    if (typeof plan.pad !== "string" || bytes !== this.#sizeOf(known.plan).bytes) {
      this.breach(`${name(known)} starts with a payload that differs from the one enqueued`);
    }
    known.starts++;
    this.progress++;
    if (known.ends > known.revived) {
      this.breach(`${name(known)} starts after its end`);
    }
    this.runs.add({ member, known, id: job.id, isGivenUp: false });
    this.#checkLimits(member, known);
    this.#checkTime(known);
    this.#checkRates(known);
    return known.starts;
  }

  /** A handler has ended. `thrown`: what it threw though it was not asked to end. */
  ended(member: string, job: Job, thrown: unknown): void {
    const { n } = job.payload as Plan; // nothing else is enqueued
    for (const run of this.runs) {
      if (run.member !== member || run.known.plan.n !== n) continue;
      this.runs.delete(run);
      if (thrown !== undefined) run.known.dueAtMs = this.#now() + this.#waitOf(run, job, thrown);
      break;
    }
    this.#checkLeft(member);
  }

  /** All of a process is gone. */
  vanished(member: string): void {
    for (const run of this.runs) if (run.member === member) this.runs.delete(run);
  }

  /** A process tells what happens. */
  heard(member: string, event: PoolEvent): void {
    switch (event.kind) {
      case "job-done":
      case "job-dead":
      case "job-cancelled":
        return this.#ended(event.id, event.kind);
      case "worker-stuck":
        for (const run of this.runs) {
          if (run.member === member && run.id === event.id) run.isGivenUp = true;
        }
        return this.#checkLeft(member);
      case "draining":
        this.#draining.add(member);
        return this.#checkLeft(member);
      case "store-failed":
        if (!this.harmed) this.breach(`${member}: its store failed: ${event.error}`);
        return;
      case "plugin-failed":
        return this.breach(`${member}: ${event.plugin} failed: ${event.error}`);
      case "worker-failed":
        return this.breach(`${member}: a worker failed: ${event.error}`);
      case "lease-lost":
        if (!this.harmed) this.breach(`${member}: the lease of ${event.id} was lost`);
    }
  }

  /** True if each job that was taken has ended. */
  areAllEnded(records: ReadonlyMap<string, JobRecord>): boolean {
    return this.byId.keys().every((id) => {
      const record = records.get(id);
      return record === undefined || record.endedAtMs !== undefined;
    });
  }

  /** Looks at what all jobs came to, once nothing is left to do. */
  settle(records: ReadonlyMap<string, JobRecord>): void {
    for (const known of this.jobs.values()) {
      if (known.id === undefined || known.removed) continue;
      const record = records.get(known.id);
      if (record === undefined) this.breach(`${name(known)} (${known.id}) is lost`);
      else this.#compare(known, record);
    }
  }

  #compare(known: Known, { state, endedAtMs, payload, result }: JobRecord): void {
    const { plan } = known;
    if (endedAtMs === undefined) return this.breach(`${name(known)} is ${state} in the end`);
    if (JSON.stringify(payload) !== JSON.stringify(plan)) {
      this.breach(`${name(known)} has another payload on record than the one enqueued`);
    }
    if (state === "done" && plan.result === "text" && plan.resultBytes <= 30_000) {
      if (result !== "r".repeat(plan.resultBytes)) {
        this.breach(`${name(known)} has another result on record than its handler returned`);
      }
    }
    if (state === "cancelled" && !known.cancelled) {
      this.breach(`${name(known)} is cancelled, which nobody asked for`);
    }
    const endsWell = ["ok", "later", "once", "refuse", "gone"].includes(plan.end);
    if (state === "done" && !endsWell) this.breach(`${name(known)} is done though it fails`);
    if (this.harmed || known.revived > 0) return;
    if (state === "done" && plan.end === "ok" && known.starts > 1 && plan.heedsAbort) {
      const { timeoutMs } = this.#life.pool as { readonly timeoutMs: number };
      if (plan.ms < Math.min(timeoutMs, this.#life.drainMs)) {
        this.breach(`${name(known)} ran ${known.starts} times though nothing was done to it`);
      }
    }
  }

  /** A process ends once it has given up all that it waits for: in others its handlers count no more. */
  #checkLeft(member: string): void {
    if (!this.#draining.has(member)) return;
    for (const run of this.runs) if (run.member === member && !run.isGivenUp) return;
    this.vanished(member);
  }

  /** How long a job waits at least before it is tried again, ms. */
  #waitOf({ known }: Run, { attempt }: Job, thrown: unknown): number {
    if (thrown instanceof RetryLater) return thrown.ms;
    if (thrown instanceof Fatal) return 0; // it is dead, or waits for its receiver
    const { baseMs = 0, maxMs = 0 } = this.#lanes.get(known.lane)?.backoff ?? {};
    return Math.min(maxMs, baseMs * 2 ** (attempt - 1));
  }

  #ended(id: string, kind: string): void {
    const known = this.byId.get(id);
    if (known === undefined) return; // told before its enqueue was answered, or a schedule's
    known.ends++;
    known.endedAt = this.progress++;
    if (known.ends > known.revived + 1) this.breach(`${name(known)} ended twice: ${kind}`);
  }

  /** A job whose dedupe key another one has is reported so as long as that has not ended. */
  #checkOwner(known: Known, id: string): void {
    const owner = this.byId.get(id);
    if (owner === undefined || owner.revived > 0 || owner.ends === 0) return;
    if (owner.endedAt >= known.offeredAt) return; // it may have ended meanwhile
    this.breach(`${name(known)} is a duplicate of ${name(owner)}, which had ended before`);
  }

  /** A job starts when it is due, and not after its time. */
  #checkTime(known: Known): void {
    if (!this.#isTimely || this.harmed || known.revived > 0) return;
    const nowMs = this.#now();
    if (nowMs < known.dueAtMs) {
      this.breach(`${name(known)} starts ${known.dueAtMs - nowMs} ms before it is due`);
    }
    const lateMs = nowMs - known.takenAtMs - known.ttlMs;
    if (lateMs > START_SLACK_MS) {
      this.breach(`${name(known)} starts ${lateMs} ms after its ttl of ${known.ttlMs} ms`);
    }
  }

  #checkLimits(member: string, { lane, key }: Known): void {
    const rules = this.#lanes.get(lane);
    let [own, ownOfKey, ofKey] = [0, 0, 0];
    for (const run of this.runs) {
      if (run.known.lane !== lane) continue;
      const isOwn = run.member === member;
      if (isOwn) own++;
      if (key === undefined || run.known.key !== key) continue;
      ofKey++;
      if (isOwn) ownOfKey++;
    }
    const { maxRunning = Infinity, maxRunningPerKey = Infinity } = rules ?? {};
    if (own > maxRunning) this.breach(`${own} handlers of lane ${lane} run in ${member}`);
    // A process that has lost its leases runs on beside others.
    const most = this.harmed ? ownOfKey : ofKey;
    if (most > maxRunningPerKey) {
      this.breach(`${most} handlers of key ${key} run in lane ${lane}, ${maxRunningPerKey} may`);
    }
    if (!this.harmed && this.runs.size > this.#life.clusterCap) {
      this.breach(`${this.runs.size} handlers run under a cap of ${this.#life.clusterCap}`);
    }
  }

  /** Whatever becomes of processes and leases: no window has more starts of a key than its lane says. */
  #checkRates({ lane, key }: Known): void {
    const { ratesPerKey = [] } = this.#lanes.get(lane) ?? {};
    if (!this.#isTimely || key === undefined || ratesPerKey.length === 0) return;
    const nowMs = this.#now();
    const name = `${lane}/${key}`;
    const starts = [...this.#startsOfKey.get(name) ?? [], nowMs];
    this.#startsOfKey.set(name, starts);
    for (const { calls, perMs } of ratesPerKey) {
      const count = starts.filter((atMs) => atMs > nowMs - perMs + ROUNDING_MS).length;
      if (count <= calls) continue;
      this.breach(`${count} jobs of key ${key} start in lane ${lane} in ${perMs} ms, ${calls} may`);
    }
  }

  #sizeOf({ pad }: Plan): { readonly bytes: number } {
    return { bytes: typeof pad === "string" ? pad.length : -1 };
  }
}

function name({ plan, lane }: Known): string {
  return `Job ${plan.n} of lane ${lane}`;
}
