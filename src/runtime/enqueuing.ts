/**
 * Stores the jobs that intake has let in, and turns the others away.
 *
 * @module
 */

import { messageOf, StoreError } from "../contract/errors.ts";
import type { Intake } from "./intake.ts";
import type { NewJob } from "../contract/job.ts";
import type { Lane } from "./lane.ts";
import type { PoolLoop } from "./pool_loop.ts";
import type { PoolCore } from "./pool_core.ts";
import { knownJob, mayBeDuplicate, type Refused } from "./refused.ts";
import type { JobHandle } from "./handles.ts";
import type { Added, JobEntry, MaybePromise, Queue } from "../contract/store.ts";
import { judgeAdded } from "./store_answers.ts";
import { isPromise, type StoreGuard } from "./store_guard.ts";
import { QueuedJob } from "./queued_job.ts";
import { Unanswered } from "./unanswered.ts";

/** What enqueuing needs of its pool. */
export interface EnqueuingContext extends PoolCore {
  /** Where jobs live. */
  readonly queue: Queue;
  /** Checks jobs. */
  readonly intake: Intake;
  /** Told of a store that takes no job. */
  readonly guard: StoreGuard;
  /** Told of jobs that come. */
  readonly loop: PoolLoop;
}

/** Owns the way of a job into the store. */
export class Enqueuing {
  readonly #context: EnqueuingContext;
  readonly #unanswered: Unanswered;

  /** Begins with no job. */
  constructor(context: EnqueuingContext) {
    this.#context = context;
    this.#unanswered = new Unanswered(context.state, context.clock);
  }

  /** The pool has stopped: who still waits for the store waits no longer. */
  close(): void {
    this.#unanswered.close();
  }

  /** Takes one job. */
  enqueue(job: NewJob): Promise<JobHandle> {
    const { queue } = this.#context;
    try {
      const answer = this.#take(job);
      if (!isPromise(answer)) return Promise.resolve(new QueuedJob(queue, answer));
      return answer.then((added) => new QueuedJob(queue, added));
    } catch (thrown) {
      return Promise.reject(thrown);
    }
  }

  /** Takes many: one that is turned away fails no other. */
  async enqueueAll(jobs: readonly NewJob[]): Promise<readonly (JobHandle | Error)[]> {
    const nowMs = this.#context.clock.nowMs();
    const { lanes } = this.#context.state; // a reload may change them before the jobs are stored
    const entries: JobEntry[] = [];
    const { intake } = this.#context;
    const refused: [place: number, job: Refused][] = [];
    const faults = jobs.map((job, place): Error | undefined => {
      try {
        const entry = intake.check(job, nowMs);
        const one = intake.refusal(job, entry);
        if (one !== undefined && !mayBeDuplicate(entry)) return intake.turnAway(one, nowMs);
        if (one !== undefined) {
          refused.push([place, one]);
          return one.refusal;
        }
        entries.push(entry);
        lanes[entry.lane]!.adding++; // counts against the depth of those that follow
        return undefined;
      } catch (thrown) {
        return thrown instanceof Error ? thrown : new Error(messageOf(thrown));
      }
    });
    let added: readonly Added[] = [];
    let late = false;
    try {
      const answer = entries.length === 0
        ? []
        : this.#context.queue.add(entries, this.#context.state.wall.at(nowMs));
      late = isPromise(answer);
      if (isPromise(answer)) {
        this.#context.loop.adding();
        added = await this.#unanswered.wait(
          answer,
          nowMs,
          (all) => this.#addedLate(lanes, entries, all),
        );
      } else added = answer;
      judgeAdded(added, entries.length);
    } catch (thrown) {
      throw this.#storeFailed(thrown);
    } finally {
      for (const { lane } of entries) {
        if (late) lanes[lane]!.addedLate();
        else lanes[lane]!.adding--;
      }
    }
    entries.forEach((entry, index) => this.#added(lanes[entry.lane]!, entry, added[index]!));
    if (added.some(({ error }) => error instanceof StoreError)) this.#context.guard.refused();
    let next = 0;
    const taken = (one: Added): JobHandle | Error =>
      one.error ?? new QueuedJob(this.#context.queue, one);
    const results = faults.map((fault) => fault ?? taken(added[next++]!));
    await Promise.all(refused.map(async ([place, job]) => {
      try {
        results[place] = taken(await this.#turnAway(job));
      } catch (thrown) {
        results[place] = thrown instanceof Error ? thrown : new Error(messageOf(thrown));
      }
    }));
    return results;
  }

  /** Takes one that nobody waits for. */
  post(job: NewJob): void {
    const answer = this.#take(job);
    if (isPromise(answer)) answer.catch((thrown) => this.#context.intake.lost(job, thrown));
  }

  #take(job: NewJob): MaybePromise<Added> {
    const { intake, clock } = this.#context;
    const nowMs = clock.nowMs();
    const entry = intake.check(job, nowMs);
    const refused = intake.refusal(job, entry);
    return refused === undefined ? this.add(entry, nowMs) : this.#turnAway(refused);
  }

  /** The job that a refused one is a duplicate of. @throws {RejectedError} If it is none. */
  #turnAway(refused: Refused): MaybePromise<Added> {
    const known = knownJob(this.#context.queue, refused, this.#context.clock);
    return isPromise(known)
      ? known.then((job) => this.#knownOr(refused, job))
      : this.#knownOr(refused, known);
  }

  #knownOr(refused: Refused, known: Added | undefined): Added {
    if (known?.error !== undefined) throw known.error;
    if (known !== undefined) return known;
    throw this.#context.intake.turnAway(refused, this.#context.clock.nowMs());
  }

  /** Stores one that was checked. @throws {StoreError} If the store fails at it. */
  add(entry: JobEntry, nowMs: number): Added | Promise<Added> {
    const lane = this.#context.state.lanes[entry.lane]!;
    let answer: MaybePromise<readonly Added[]>;
    try {
      answer = this.#context.queue.add([entry], this.#context.state.wall.at(nowMs));
    } catch (thrown) {
      return Promise.reject(this.#storeFailed(thrown));
    }
    if (!isPromise(answer)) return this.#taken(lane, entry, this.#judged(answer)[0]!);
    lane.adding++;
    this.#context.loop.adding();
    const { lanes } = this.#context.state;
    const inTime = this.#unanswered.wait(
      answer,
      nowMs,
      (all) => this.#addedLate(lanes, [entry], all),
    );
    return inTime.then((all) => this.#taken(lane, entry, this.#judged(all)[0]!), (thrown) => {
      throw this.#storeFailed(thrown);
    }).finally(() => lane.addedLate());
  }

  /** @throws {Error} If the store cannot take the entry. */
  #taken(lane: Lane, entry: JobEntry, added: Added): Added {
    if (added.error !== undefined) throw added.error;
    this.#added(lane, entry, added);
    return added;
  }

  /** @throws {StoreError} If the store has not answered for the one entry. */
  #judged(answer: readonly Added[]): readonly Added[] {
    try {
      judgeAdded(answer, 1);
      return answer;
    } catch (thrown) {
      throw this.#storeFailed(thrown);
    }
  }

  /** A fault of the store is not one of the job, whatever the store throws. */
  #storeFailed(thrown: unknown): StoreError {
    this.#context.guard.refused();
    return thrown instanceof StoreError && thrown.isLate ? thrown : new StoreError(thrown);
  }

  /** Jobs whose call was given up are stored after all: they run, and count. */
  #addedLate(lanes: readonly Lane[], entries: readonly JobEntry[], added: readonly Added[]): void {
    entries.forEach((entry, index) => {
      const one = added?.[index];
      if (typeof one?.id === "string") this.#added(lanes[entry.lane]!, entry, one);
    });
  }

  #added(lane: Lane, { dueAtMs, key }: JobEntry, added: Added): void {
    if (added.error !== undefined) return;
    this.#context.guard.took();
    if (added.duplicate) return;
    lane.traffic.arrivals++;
    this.#context.state.traffic.arrivals++;
    const { hub, state: { pool }, clock } = this.#context;
    if (hub.active) {
      const { id } = added;
      hub.emit({
        kind: "job-added",
        atMs: clock.nowMs(),
        pool,
        lane: lane.name,
        id,
        dueAtMs,
        key,
      });
    }
    this.#context.loop.arrived();
  }
}
