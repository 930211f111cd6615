/**
 * Stores the jobs that intake has let in, and rejects the others.
 *
 * @module
 */

import { messageOf, type RejectedError, StoreError } from "../contract/errors.ts";
import type { Intake } from "./intake.ts";
import type { NewJob } from "../contract/job.ts";
import type { Lane } from "./lane.ts";
import type { PoolLoop } from "./pool_loop.ts";
import type { PoolCore } from "./pool_core.ts";
import { knownJob, mayBeDuplicate, type Rejected } from "./rejected.ts";
import type { JobHandle } from "./handles.ts";
import type { Added, JobEntry, MaybePromise, Queue } from "../contract/store.ts";
import { judgeAdded } from "./store_answers.ts";
import { isPromise, type StoreGuard, whenReady } from "./store_guard.ts";
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

/** Jobs on their way into the store. */
interface Adding {
  readonly lanes: readonly Lane[];
  readonly entries: readonly JobEntry[];
  readonly nowMs: number;
}

/** Owns the way of a job into the store: one for all who enqueue. */
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

  /** Takes one job: what the store answers. @throws {Error} If it is not stored. */
  take(job: NewJob): MaybePromise<Added> {
    return this.#take(job, same);
  }

  /** Takes one job. */
  enqueue(job: NewJob): Promise<JobHandle> {
    try {
      const handle = this.#take(job, this.#handle);
      return isPromise(handle) ? handle : Promise.resolve(handle);
    } catch (thrown) {
      return Promise.reject(errorOf(thrown));
    }
  }

  /**
   * Takes many: one that is rejected fails no other.
   *
   * @throws {StoreError} If the store fails at all that were let in.
   */
  async enqueueAll(jobs: readonly NewJob[]): Promise<readonly (JobHandle | Error)[]> {
    const { intake, clock, state: { lanes } } = this.#context; // a reload may change them meanwhile
    const nowMs = clock.nowMs();
    const entries: JobEntry[] = [];
    const rejected: Rejected[] = [];
    const taken = [...jobs].map((job): Error | "added" | "rejected" => {
      try {
        const entry = this.#admit(job, lanes, nowMs);
        if (!isRejected(entry)) return entries.push(entry), "added";
        if (mayBeDuplicate(entry.entry)) return rejected.push(entry), "rejected";
        return intake.reject(entry, nowMs);
      } catch (thrown) {
        return errorOf(thrown);
      }
    });
    const added = (await this.#storeAll(lanes, entries, nowMs)).values();
    const looks = rejected.map((one) => this.#lookUp(one));
    const known = (looks.length === 0 ? [] : await Promise.all(looks)).values();
    return taken.map((how) => {
      if (how instanceof Error) return how;
      const one = (how === "added" ? added : known).next().value!; // one for each
      return one instanceof Error ? one : one.error ?? this.#handle(one);
    });
  }

  /** Takes one that nobody waits for. */
  post(job: NewJob): void {
    const { intake } = this.#context;
    try {
      const added = this.#take(job, same);
      if (isPromise(added)) added.catch((thrown) => intake.lost(job, thrown));
    } catch (thrown) {
      if (!(thrown instanceof StoreError)) throw errorOf(thrown);
      intake.lost(job, thrown);
    }
  }

  /** Stores some that were checked, past admission. @throws {Error} If one of them is not stored. */
  async addAll(entries: readonly JobEntry[], nowMs: number): Promise<readonly Added[]> {
    const { lanes } = this.#context.state;
    for (const { lane } of entries) lanes[lane]!.adding++;
    const added = await this.#storeAll(lanes, entries, nowMs);
    return added.map(stored);
  }

  /** Takes a job: what `as` makes of its answer. @throws {Error} If it is not stored. */
  #take<T>(job: NewJob, as: (added: Added) => T): MaybePromise<T> {
    const { clock, state: { lanes } } = this.#context;
    const nowMs = clock.nowMs();
    const entry = this.#admit(job, lanes, nowMs);
    if (isRejected(entry)) return this.#lookUpAs(entry, as);
    const entries = [entry];
    const added = this.#store(lanes, entries, nowMs);
    if (isPromise(added)) return this.#oneLater(added, { lanes, entries, nowMs }, as);
    return as(stored(added[0]!));
  }

  #lookUpAs<T>(rejected: Rejected, as: (added: Added) => T): MaybePromise<T> {
    return whenReady(this.#lookUp(rejected), (one) => as(stored(one)));
  }

  /**
   * Checks a job. One that is let in counts against the depth of those that follow.
   *
   * @throws {Error} If something does not fit.
   */
  #admit(job: NewJob, lanes: readonly Lane[], nowMs: number): JobEntry | Rejected {
    const { intake } = this.#context;
    const entry = intake.check(job, nowMs);
    const rejected = intake.rejection(job, entry);
    if (rejected !== undefined) return rejected;
    lanes[entry.lane]!.adding++;
    return entry;
  }

  /** The job that the store has already, which is no news, in place of one that is rejected. */
  #lookUp(rejected: Rejected): MaybePromise<Added | RejectedError> {
    const { queue, clock, intake } = this.#context;
    return whenReady(
      knownJob(queue, rejected, clock),
      (known) => known ?? intake.reject(rejected, clock.nowMs()),
    );
  }

  /** Stores many that were let in. @throws {StoreError} If the store fails at all of them. */
  #storeAll(
    lanes: readonly Lane[],
    entries: readonly JobEntry[],
    nowMs: number,
  ): MaybePromise<readonly Added[]> {
    if (entries.length === 0) return [];
    const added = this.#store(lanes, entries, nowMs);
    return isPromise(added) ? this.#later(added, { lanes, entries, nowMs }, same) : added;
  }

  /** Gives jobs to the store. What it answers at once is judged, and counted. */
  #store(
    lanes: readonly Lane[],
    entries: readonly JobEntry[],
    nowMs: number,
  ): MaybePromise<readonly Added[]> {
    const { queue, loop, state } = this.#context;
    let answer: MaybePromise<readonly Added[]>;
    try {
      answer = queue.add(entries, state.wall.at(nowMs));
      if (!isPromise(answer)) judgeAdded(answer, entries.length);
    } catch (thrown) {
      for (const { lane } of entries) lanes[lane]!.adding--;
      throw this.#storeFailed(thrown);
    }
    if (isPromise(answer)) {
      loop.adding();
      return answer;
    }
    for (const { lane } of entries) lanes[lane]!.adding--;
    this.#addedAll(lanes, entries, answer);
    return answer;
  }

  /** Of one job, what `as` makes of an answer that comes later. */
  #oneLater<T>(
    answer: Promise<readonly Added[]>,
    adding: Adding,
    as: (added: Added) => T,
  ): Promise<T> {
    return this.#later(answer, adding, ([added]) => as(stored(added!)));
  }

  /** What `as` makes of an answer that comes later: one promise, as each job has it. */
  #later<T>(
    answer: Promise<readonly Added[]>,
    { lanes, entries, nowMs }: Adding,
    as: (added: readonly Added[]) => T,
  ): Promise<T> {
    const answered = (): void => {
      for (const { lane } of entries) lanes[lane]!.addedLate();
    };
    return this.#unanswered.wait(answer, nowMs, {
      judge: (added) => judgeAdded(added, entries.length),
      took: (added) => {
        answered();
        this.#addedAll(lanes, entries, added);
        return as(added);
      },
      failed: (thrown) => {
        answered();
        return this.#storeFailed(thrown);
      },
      late: (added) => this.#addedLate(lanes, entries, added),
    });
  }

  readonly #handle = (added: Added): JobHandle => new QueuedJob(this.#context.queue, added);

  /** A fault of the store is not one of the job, whatever the store throws. */
  #storeFailed(thrown: unknown): StoreError {
    this.#context.guard.refused(thrown);
    return thrown instanceof StoreError && thrown.isLate ? thrown : new StoreError(thrown);
  }

  #addedAll(lanes: readonly Lane[], entries: readonly JobEntry[], added: readonly Added[]): void {
    for (let index = 0; index < entries.length; index++) {
      const entry = entries[index]!;
      const one = added[index]!; // judged: one an entry
      this.#added(lanes[entry.lane]!, entry, one);
      if (one.error instanceof StoreError) this.#context.guard.refused(one.error);
    }
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

function same<T>(added: T): T {
  return added;
}

/** @throws {Error} If it is not stored. */
function stored(one: Added | RejectedError): Added {
  if (one instanceof Error) throw one;
  if (one.error !== undefined) throw one.error;
  return one;
}

function isRejected(one: JobEntry | Rejected): one is Rejected {
  return "error" in one;
}

/** A getter of a job may throw anything. */
function errorOf(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(messageOf(thrown));
}
