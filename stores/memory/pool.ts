/**
 * The jobs of one pool, shared by all queues opened on it.
 *
 * @module
 */

import type { DeadReason, JobRecord } from "../../src/contract/job.ts";
import type {
  Added,
  HandOn,
  JobEntry,
  Keep,
  LaneRules,
  QueueListener,
} from "../../src/contract/store.ts";
import { handOnKey } from "../../src/base/hand_on_key.ts";
import { dueAgain, replaces } from "../../src/base/dedupe.ts";
import { JobsBySequence } from "./by_sequence.ts";
import { EndedJobs } from "./ended.ts";
import { forsakeWaiting, MemoryEnd, tellWaiting, UNFINISHED } from "./end.ts";
import type { MemoryMember } from "./member.ts";
import { AHEAD_MS, CANCELLED, DEAD, DELAYED, DONE, extraOf, MemoryJob, RUNNING } from "./job.ts";
import { type LanePool, MemoryLane } from "./lane.ts";
import { Owners } from "./owners.ts";
import type { MemoryState } from "./state.ts";

/** Who the jobs of a pool are and who holds them. Lanes that are configured no more keep their jobs. */
export class MemoryPool implements LanePool {
  /** Name of the pool. */
  readonly name: string;
  /** What ids begin with. */
  readonly idPrefix: string;
  /** Who has joined and is not known to be dead. */
  readonly members: Set<MemoryMember> = new Set();
  /** The one whose waiters are stored bare. */
  main: MemoryMember | undefined = undefined;
  /** All jobs that are known. */
  readonly jobs: JobsBySequence = new JobsBySequence();

  readonly #lanes = new Map<string, MemoryLane>();
  readonly #owners = new Owners((job, nowMs) => this.#isOpen(job, nowMs));
  readonly #ended = new EndedJobs((job) => this.jobs.delete(job.sequence));
  #sequence = 0;
  #aheadMs: number | undefined;
  #expired: MemoryJob[] = [];

  readonly #state: MemoryState;

  /** Makes an empty pool. `state` is what jobs may claim. */
  constructor(name: string, idPrefix: string, state: MemoryState) {
    this.name = name;
    this.idPrefix = idPrefix;
    this.#state = state;
  }

  /** Lanes by their rules, in that order, made if they are new. */
  openLanes(rules: readonly LaneRules[], keep: Keep, nowMs: number): readonly MemoryLane[] {
    this.#ended.limit(keep, nowMs);
    return rules.map((rule, index) => {
      const { name } = rule;
      let lane = this.#lanes.get(name);
      if (lane === undefined) {
        lane = new MemoryLane(name, this.#lanes.size, this);
        this.#lanes.set(name, lane);
      }
      lane.index = index;
      lane.handsOn = rule.handsOn;
      lane.limitKeys(rule, this.#holdingIn(lane), nowMs);
      return lane;
    });
  }

  /** Stores a job. */
  add(entry: JobEntry, lane: MemoryLane, nowMs: number): Added {
    const isNamed = entry.dedupeKey !== undefined || entry.idempotency !== undefined;
    const known = isNamed ? this.duplicateOf(entry, nowMs) : undefined;
    if (known !== undefined) return known;
    const { dueAtMs, precondition: claim } = entry;
    if (claim !== undefined) {
      const { key, version, value } = claim;
      if (!this.#state.commit({ [key]: version }, { [key]: value })) {
        return { id: "", duplicate: true };
      }
    }
    const isDelayed = dueAtMs > nowMs;
    const job = new MemoryJob(lane, ++this.#sequence, entry.payload, isDelayed ? dueAtMs : nowMs);
    job.extra = extraOf(entry, nowMs);
    if (isDelayed) job.ownExtra().createdAtMs = nowMs;
    if (isNamed) this.#owners.take(job);
    this.jobs.set(job);
    lane.add(job, nowMs);
    return job;
  }

  /** What `add` does with a duplicate, and answers. `undefined`: it is none. */
  duplicateOf(entry: JobEntry, nowMs: number): Added | undefined {
    const known = this.#owners.find(entry, nowMs);
    if (known?.repeated !== undefined && replaces(entry)) {
      this.#replacePayload(known.repeated, entry, nowMs);
    }
    return known?.answer;
  }

  /** A job is leased: its dedupe key is free, if that was its own until then. */
  giveUpKey(job: MemoryJob): void {
    this.#owners.giveUp(job);
  }

  /** The wall clock is ahead of a steady one by so much: if it was set back, what waits is stamped again. */
  follow(aheadMs: number, nowMs: number): void {
    const byMs = aheadMs - (this.#aheadMs ?? aheadMs);
    this.#aheadMs = aheadMs;
    if (byMs > -1) return; // what was stamped before stays before
    for (const job of this.jobs.from(0)) {
      if (job.code >= RUNNING) continue;
      const isAhead = job.createdAtMs > nowMs + AHEAD_MS;
      const retriedAtMs = job.extra?.deferredAtMs ?? job.startedAtMs ?? -Infinity;
      const isRetry = retriedAtMs > nowMs + AHEAD_MS;
      if (job.code !== DELAYED) job.readyAtMs = Math.min(job.readyAtMs, nowMs);
      else if (isAhead || isRetry) job.readyAtMs += byMs; // or it is due at a time that someone meant
      if (job.extra === undefined || !isAhead) continue;
      job.extra.expiresAtMs += byMs;
      if (job.extra.createdAtMs !== undefined) job.extra.createdAtMs += byMs;
    }
    for (const lane of this.#lanes.values()) lane.restamped();
  }

  /** Joins a member: the others are woken, so that they show that they live. */
  join(member: MemoryMember): void {
    member.joined = true;
    this.main ??= member;
    this.members.add(member);
    this.wakeOthers(member);
  }

  /** How many jobs that have ended are kept. */
  get kept(): Readonly<Record<"done" | "dead", number>> {
    return this.#ended;
  }

  /** Looks a job up by its id. */
  find(id: string): MemoryJob | undefined {
    if (!id.startsWith(this.idPrefix)) return undefined;
    const job = this.jobs.get(Number(id.slice(this.idPrefix.length)));
    return job?.id === id ? job : undefined;
  }

  /** Ends a job that is in its lane no more. */
  end(
    job: MemoryJob,
    code: typeof DONE | typeof DEAD | typeof CANCELLED,
    nowMs: number,
    result?: unknown,
    reason?: DeadReason,
  ): void {
    const waiting = job.fate;
    job.code = code;
    job.fate = new MemoryEnd(
      nowMs,
      code === DONE ? result : undefined,
      code === DEAD ? reason : undefined,
    );
    if (job.extra !== undefined) this.#owners.leave(job, nowMs);
    if (code !== CANCELLED && job.home.handsOn?.includes(code === DONE ? "done" : "dead")) {
      this.#state.commit({}, { [handOnKey(this.name, job.id)]: job.record() });
    }
    this.#ended.push(job);
    if (waiting !== undefined && !(waiting instanceof MemoryEnd)) {
      tellWaiting(waiting, job.outcome());
    }
  }

  /** Ends a job that waited too long. */
  expire(job: MemoryJob, nowMs: number): void {
    this.endUnsettled(job, DEAD, nowMs, "expired");
  }

  /** Ends a job that no worker settled: `tellEnded` says so to the one who found it. */
  endUnsettled(
    job: MemoryJob,
    code: typeof DEAD | typeof CANCELLED,
    nowMs: number,
    reason?: DeadReason,
  ): void {
    this.end(job, code, nowMs, undefined, reason);
    this.#expired.push(job);
  }

  /** Tells of the jobs that ended without a settlement since the last call. */
  tellEnded(listener: QueueListener): void {
    if (this.#expired.length === 0) return;
    const jobs = this.#expired;
    this.#expired = [];
    for (const job of jobs) listener.ended(job.record());
  }

  /** Ends that are to be handed on. */
  toHandOn(limit: number, after = ""): readonly HandOn[] {
    const noted = this.#state.under(handOnKey(this.name, "")).filter(([key]) => key > after);
    return noted.slice(0, limit).map(([key, { value, version }]) => ({
      record: value as JobRecord, // only ends are noted under these keys
      precondition: { key, version, value: undefined },
    }));
  }

  /** Tells all members but one that something may have changed for them. */
  wakeOthers(but: MemoryMember): void {
    if (but.joined && this.members.size === 1) return;
    for (const member of this.members) {
      if (member !== but) member.listener.wake();
    }
  }

  /** Tells all members, if there are several, that shared state has changed. */
  wakeAll(): void {
    if (this.members.size > 1) { for (const member of this.members) member.listener.wake(); }
  }

  /** Tells those who asked through a member, or all, that they wait in vain. */
  forsake(by?: MemoryMember): void {
    for (const job of this.jobs.from(0)) {
      const { fate } = job;
      if (fate === undefined || fate instanceof MemoryEnd) continue;
      if (by === undefined) tellWaiting(fate, UNFINISHED);
      job.fate = by === undefined ? undefined : forsakeWaiting(fate, by, this.main);
    }
    if (by === this.main) this.main = undefined;
  }

  /** Puts another object in a job's place: anyone who has the old one keeps it as it is. */
  replace(job: MemoryJob): MemoryJob {
    const other = job.clone();
    this.#owners.replace(job, other);
    this.jobs.set(other);
    return other;
  }

  /** Brings a dead job back. False if another job has its `dedupeKey` by now. */
  revive(job: MemoryJob, nowMs: number): boolean {
    if (!this.#owners.retake(job, nowMs)) return false;
    this.#ended.leave(job);
    const revived = this.replace(job);
    const past = revived.extra?.past;
    const attempts = (past?.revived?.attempts ?? 0) + revived.attempt;
    revived.ownExtra().past = { ...past, revived: { atMs: nowMs, attempts } };
    revived.attempt = 0;
    if (revived.extra !== undefined) {
      revived.extra.expiresAtMs += nowMs - revived.createdAtMs;
      revived.extra.cancelling = false;
    }
    revived.home.again(revived, nowMs, nowMs);
    if (revived.extra !== undefined) revived.extra.firstReadyAtMs = undefined;
    return true;
  }

  /** Ended jobs, the one that ended last first: those that ended at `atMs` or before. */
  latest(atMs: number): Iterable<MemoryJob> {
    return this.#ended.latest(atMs);
  }

  /** Forgets an ended job. */
  remove(job: MemoryJob): void {
    this.#ended.leave(job);
    this.jobs.delete(job.sequence);
  }

  /** Drops ended jobs that have been kept long enough. */
  dropOld(nowMs: number): void {
    this.#ended.dropOld(nowMs);
    this.#owners.dropOld(nowMs);
  }

  /** A job that has not been leased works on what the latest with its dedupe key brought. */
  #replacePayload(job: MemoryJob, entry: JobEntry, nowMs: number): void {
    const extra = job.ownExtra();
    job.payload = entry.payload;
    extra.type = entry.type;
    extra.traceparent = entry.traceparent;
    extra.expiresAtMs = entry.expiresAtMs;
    const { code, readyAtMs: dueAtMs, createdAtMs } = job;
    if (code !== DELAYED || extra.keepsSlot || dueAtMs <= nowMs) return; // it is due
    const nextMs = dueAgain(entry, { createdAtMs, dueAtMs });
    if (nextMs === dueAtMs) return;
    // Delayed jobs are in order of their due times: another object is the job from now on.
    const moved = this.replace(job);
    moved.fate = job.fate;
    moved.readyAtMs = nextMs;
    job.fate = undefined;
    job.code = RUNNING;
    job.home.drop(job, DELAYED, nowMs);
    job.home.add(moved, nowMs);
  }

  #isOpen(job: MemoryJob, nowMs: number): boolean {
    if (job.code === RUNNING || !job.isExpired(nowMs)) return true;
    const was = job.code;
    this.expire(job, nowMs);
    job.home.drop(job, was, nowMs);
    return false;
  }

  /** Jobs that have a slot of their key and wait for none. */
  *#holdingIn(lane: MemoryLane): Generator<MemoryJob> {
    for (const job of this.jobs.from(0)) {
      const holds = job.code === RUNNING || (job.code === DELAYED && job.extra?.keepsSlot === true);
      if (holds && job.home === lane) yield job;
    }
  }
}
