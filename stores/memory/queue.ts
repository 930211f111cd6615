/**
 * One open queue: what a pool calls.
 *
 * @module
 */

import type { JobRecord, Outcome } from "../../src/contract/job.ts";
import type {
  Added,
  Change,
  Changed,
  HandOn,
  JobEntry,
  JobPage,
  JobQuery,
  LaneCounts,
  Leased,
  Queue,
  QueueOptions,
  QueueRules,
  Renewal,
  Settlement,
} from "../../src/contract/store.ts";
import { replaces, UNTIL_LEASED } from "../../src/base/dedupe.ts";
import { MemberWaiter, MemoryEnd, UNFINISHED } from "./end.ts";
import { MemoryMember } from "./member.ts";
import { CANCELLED, DEAD, DONE, MemoryJob, RUNNING } from "./job.ts";
import type { MemoryLane } from "./lane.ts";
import { handBackAll, settleLease, takeAll } from "./leases.ts";
import { listJobs } from "./list.ts";
import type { MemoryPool } from "./pool.ts";

/** Numbers of leases, rising over a whole store. */
export interface Fences {
  /** The latest one. */
  latest: number;
}

const NONE: readonly MemoryJob[] = Object.freeze([]);

/** The jobs of one pool, as one member has them. Answers at once, all of it. */
export class MemoryQueue implements Queue {
  readonly holdsKeyRates = true;
  readonly holdsDedupe = true;
  readonly #pool: MemoryPool;
  readonly #fences: Fences;
  readonly #member: MemoryMember;
  #lanes: readonly MemoryLane[] = [];
  #attempts: readonly (number | undefined)[] = [];
  #renewedAtMs: number;
  #left = false;

  /** Joins as a member: the others are woken, so that they show that they live. */
  constructor(pool: MemoryPool, options: QueueOptions, fences: Fences) {
    const { nowMs } = options;
    this.#pool = pool;
    this.#fences = fences;
    this.#renewedAtMs = nowMs;
    this.#member = new MemoryMember(options);
    this.#adopt(options, nowMs);
    for (const other of pool.members) this.#member.sees(other, 0);
    pool.join(this.#member);
  }

  /** Makes ready for other rules: there is nothing to make. */
  reopen(rules: QueueRules): (nowMs: number) => void {
    return (nowMs) => this.#adopt(rules, nowMs);
  }

  /** Stores jobs. */
  add(entries: readonly JobEntry[], nowMs: number): readonly Added[] {
    const added = new Array<Added>(entries.length);
    for (let index = 0; index < added.length; index++) {
      const entry = entries[index]!;
      added[index] = this.#pool.add(entry, this.#lanes[entry.lane]!, nowMs);
    }
    this.#tell(true);
    return added;
  }

  /** What `add` does with an entry that is a duplicate. */
  duplicateOf(entry: JobEntry, nowMs: number): Added | undefined {
    const known = this.#pool.duplicateOf(entry, nowMs);
    this.#tell(replaces(entry));
    return known;
  }

  /** Leases claimable jobs. */
  lease(
    wants: readonly number[],
    nowMs: number,
    ahead?: readonly number[],
  ): readonly Leased[] {
    // An array that grows by `push` takes room for many at once: most leases are of one job.
    let leased: MemoryJob[] | undefined;
    if (this.#left || this.#member.lost) return NONE;
    for (let index = 0; index < this.#lanes.length; index++) {
      const lane = this.#lanes[index]!;
      if (lane.nextDueAtMs <= nowMs) lane.tidy(nowMs);
      for (let want = wants[index] ?? 0; want > 0; want--) {
        const job = lane.next(nowMs);
        if (job === undefined) break;
        if (want <= (ahead?.[index] ?? 0) && this.#isLast(job, lane)) {
          lane.putBack(job);
          break;
        }
        this.#member.hold(job, ++this.#fences.latest, nowMs);
        if (job.extra?.keyUntilMs === UNTIL_LEASED) this.#pool.giveUpKey(job);
        if (leased === undefined) leased = [job];
        else leased.push(job);
      }
    }
    this.#tell(false);
    return leased ?? NONE;
  }

  /** Ends leases. */
  settle(settlements: readonly Settlement[], nowMs: number): readonly boolean[] {
    let freed = false;
    const answers = new Array<boolean>(settlements.length);
    for (let index = 0; index < answers.length; index++) {
      const settlement = settlements[index]!;
      const job = this.#known(settlement.job);
      const isHeld = job?.holder === this.#member && job.fence === settlement.fence;
      answers[index] = isHeld;
      if (!isHeld) continue;
      this.#member.letGo(job);
      if (settleLease(this.#pool, job, settlement, nowMs)) freed = true;
    }
    this.#tell(freed);
    return answers;
  }

  /** Shows that this member lives, and takes back the jobs of those that do not. */
  renew(nowMs: number, steadyMs: number = nowMs): Renewal {
    const { members } = this.#pool;
    this.#pool.follow(nowMs - steadyMs, nowMs);
    if (this.#left) {
      return { alive: false, peers: this.#peers, reaped: 0, nextAtMs: Infinity };
    }
    if (!this.#member.joined) this.#pool.join(this.#member);
    const alive = !this.#member.lost;
    this.#member.lost = false;
    this.#member.beats++;
    const sinceMs = Math.max(0, steadyMs - this.#renewedAtMs);
    this.#renewedAtMs = steadyMs;
    let reaped = 0;
    for (const other of members) {
      if (other === this.#member) continue;
      if (this.#member.sees(other, sinceMs) && other.listener.gone?.() !== true) continue;
      reaped += takeAll(this.#pool, other, this.#attempts, nowMs);
    }
    this.#tell(reaped > 0);
    const nextAtMs = members.size === 1 ? Infinity : steadyMs + this.#member.leaseMs / 3;
    return { alive, peers: this.#peers, reaped, nextAtMs };
  }

  /** Members that lease, and this one. */
  get #peers(): number {
    let peers = 0;
    for (const other of this.#pool.members) if (other.leases || other === this.#member) peers++;
    return peers;
  }

  /** Counts by lane: the same live objects each time, so they are new in any case. */
  count(nowMs: number, _anew?: boolean): readonly LaneCounts[] {
    for (const lane of this.#lanes) lane.tidy(nowMs);
    this.#pool.dropOld(nowMs);
    this.#tell(false);
    return this.#lanes;
  }

  /** How many jobs that have ended are kept: the same live object each time. */
  get kept(): Readonly<Record<"done" | "dead", number>> {
    return this.#pool.kept;
  }

  /** Ready jobs of a lane that became claimable at `atMs` or before. */
  readySince(lane: number, atMs: number): number {
    return this.#lanes[lane]?.readySince(atMs) ?? 0;
  }

  /** When the ready job with `earlier` others before it became claimable. `Infinity` if there is none. */
  readyAtMs(lane: number, earlier: number): number {
    return this.#lanes[lane]?.readyAtMs(earlier) ?? Infinity;
  }

  /** Looks a job up. */
  find(id: string): JobRecord | undefined {
    return this.#pool.find(id)?.record();
  }

  /** Lists jobs in the order in which they were added, or that of their ends. */
  list(query: JobQuery): JobPage {
    return listJobs(this.#pool, query);
  }

  /** Cancels, revives or removes one job. */
  change(id: string, change: Change, nowMs: number): Changed {
    const job = this.#pool.find(id);
    if (job === undefined) return { ok: false, state: undefined };
    const changed = change === "cancel"
      ? this.#cancel(job, nowMs)
      : change === "revive"
      ? job.code === DEAD && this.#pool.revive(job, nowMs)
      : job.code >= DONE;
    if (!changed) return { ok: false, state: job.state };
    if (change === "remove") this.#pool.remove(job);
    this.#tell(true);
    return {
      ok: true,
      state: change === "remove" ? "removed" : this.#pool.find(id)?.state ?? "cancelled",
    };
  }

  /** Ends that are to be handed on. */
  toHandOn(limit: number, after?: string): readonly HandOn[] {
    return this.#pool.toHandOn(limit, after);
  }

  /** Resolves when the job has ended. An id that is not known is `unfinished`. */
  outcome(job: { readonly id: string }): Promise<Outcome> {
    let known = this.#known(job);
    const lost = known?.code === RUNNING && known.holder === undefined;
    if (known !== undefined && lost) known = this.#pool.jobs.get(known.sequence);
    if (known === undefined) return Promise.resolve(UNFINISHED);
    if (known.fate instanceof MemoryEnd) return Promise.resolve(known.outcome());
    if (this.#left) return Promise.resolve(UNFINISHED);
    const waited = known;
    const others = known.fate;
    const isMain = this.#member === this.#pool.main;
    return new Promise((resolve) => {
      waited.fate = isMain && others === undefined
        ? resolve
        : new MemberWaiter(this.#member, resolve, others);
    });
  }

  /** Hands all leases back and leaves. */
  leave(nowMs: number): void {
    if (this.#left) return;
    this.#left = true;
    handBackAll(this.#pool, this.#member, nowMs);
    this.#pool.members.delete(this.#member);
    this.#tell(true);
    this.#pool.forsake(this.#member);
  }

  /** True if the next attempt of a job is its last. */
  #isLast(job: MemoryJob, lane: MemoryLane): boolean {
    return job.attempt + 1 >= (this.#attempts[lane.ordinal] ?? Infinity);
  }

  #known(job: { readonly id: string }): MemoryJob | undefined {
    return job instanceof MemoryJob ? job : this.#pool.find(job.id);
  }

  #cancel(job: MemoryJob, nowMs: number): boolean {
    if (job.code >= DONE) return false;
    const was = job.code;
    if (was !== RUNNING) {
      this.#pool.end(job, CANCELLED, nowMs);
      job.home.drop(job, was, nowMs);
      return true;
    }
    const extra = job.ownExtra();
    if (!extra.cancelling) {
      extra.cancelling = true;
      job.holder?.listener.cancelled(job.id);
    }
    return true;
  }

  #adopt({ lanes, keep, leaseMs, attempts }: QueueRules, nowMs: number): void {
    this.#lanes = this.#pool.openLanes(lanes, keep, nowMs);
    const places: (number | undefined)[] = [];
    const attemptsOf: (number | undefined)[] = [];
    this.#lanes.forEach((lane, index) => {
      places[lane.ordinal] = index;
      attemptsOf[lane.ordinal] = attempts[index];
    });
    this.#attempts = attemptsOf;
    this.#member.places = places;
    this.#member.leaseMs = leaseMs;
  }

  #tell(wake: boolean): void {
    this.#pool.tellEnded(this.#member.listener);
    if (wake) this.#pool.wakeOthers(this.#member);
  }
}
