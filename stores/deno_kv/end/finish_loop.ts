/**
 * Ends of leases, on their way to the database: one commit in flight, what gathers meanwhile goes
 * into the next. Two at once could overtake each other over the network.
 *
 * @module
 */

import type { Settlement } from "../../../src/contract/store.ts";
import { changeLine } from "../record/codec.ts";
import type { QueueContext } from "../context.ts";
import { LARGEST_RECORD, recordSize } from "./done.ts";
import { resultOf, shortened } from "./ended.ts";
import { Mutex } from "../io/mutex.ts";
import { type Asked, type Ending, type HeldPart, KvJob, type StoredJob } from "../record/job.ts";
import { checkMarks } from "../change/marks.ts";
import { addDone, endOf, endsOf, type PartEnds, progress, writeEnds } from "./part_ends.ts";
import type { CommitParticipant, FreshPart } from "../commit_participant.ts";
import { Transaction } from "../transaction.ts";
import { markOf, type Membership } from "../members/membership.ts";
import { AHEAD_MS } from "../members/restamp.ts";
import { BatchAnswers } from "../add/batch_answers.ts";
import { PATIENCE_MS } from "../io/db.ts";
import { TooLarge } from "../io/atomic_operation.ts";
import { MOST_SMALL } from "../io/commit_queue.ts";

/** Most jobs of one commit. */
const MOST_JOBS = 5000;

/** What is left of a message with which an end is too large, characters. */
const SHORT_ERROR = 100;

interface Item extends Asked, Ending {
  readonly nowMs: number;
  readonly job: KvJob;
  readonly settlement: Settlement;
  /** True: nothing is kept of the job. */
  readonly unkept?: boolean;
}

/** What a loop of ends asks of others. */
export interface FinishRelations {
  /** Reads again which jobs are to be cancelled. */
  refreshMarks(): Promise<void>;
  /** Jobs that are added, to go along. */
  added(): CommitParticipant | undefined;
}

/** Settles for one queue. */
export class FinishLoop {
  readonly #context: QueueContext;
  readonly #relations: FinishRelations;
  readonly #mutex = new Mutex();
  #waiting: Item[] = [];
  #running: Promise<void> | undefined;
  #participant: CommitParticipant | undefined;

  /** Settles for one queue. */
  constructor(context: QueueContext, relations: FinishRelations) {
    this.#context = context;
    this.#relations = relations;
  }

  /** True if ends wait for their commit. */
  get waits(): boolean {
    return this.#waiting.length > 0;
  }

  /** Ends leases. False for one that is lost: nothing was changed. */
  settle(settlements: readonly Settlement[], nowMs: number): Promise<readonly boolean[]> {
    const answers = new BatchAnswers<boolean>(settlements.length);
    for (let place = 0; place < settlements.length; place++) {
      const settlement = settlements[place]!;
      const { job, fence } = settlement;
      if (job instanceof KvJob && job.untold && job.fence === fence) {
        job.untold = false;
        answers.answer(place, true);
        continue;
      }
      if (job instanceof KvJob && job.settling?.isAnswered === false && job.fence === fence) {
        (job.settling.again ??= []).push({ answers, place }); // asked again before the answer: it has the same
        continue;
      }
      if (!this.#holds(job) || job.fence !== fence) {
        answers.answer(place, false);
        continue;
      }
      const item: Item = {
        answers,
        place,
        nowMs,
        job,
        settlement,
        again: undefined,
        isAnswered: false,
      };
      job.settling = item;
      this.#waiting.push(item);
    }
    if (this.#waiting.length > 0) this.#running ??= this.#run();
    answers.promise.catch(() => {
      for (const [place, { job }] of settlements.entries()) {
        if (job instanceof KvJob && answers.answers[place] === true) job.untold = true;
      }
    });
    return answers.promise;
  }

  /** Takes a participant along with the ends that wait. False: there are none, or another one is taken along. */
  carry(participant: CommitParticipant): boolean {
    if (this.#waiting.length === 0 || this.#participant !== undefined) return false;
    this.#participant = participant;
    return true;
  }

  /** Runs an operation while no end is on its way. */
  between<T>(operation: () => Promise<T>): Promise<T> {
    return this.#mutex.run(operation);
  }

  /** Resolves once nothing is on its way. */
  async idle(): Promise<void> {
    await this.#running;
  }

  #holds(job: Settlement["job"]): job is KvJob {
    if (!(job instanceof KvJob) || job.settling !== undefined) return false;
    const { membership } = job.part;
    return membership === this.#context.member.membership && !membership.lost;
  }

  async #run(): Promise<void> {
    await null; // what is settled in this turn of the event loop goes together
    const { db, member, commits } = this.#context;
    while (this.#waiting.length > 0) {
      const isSmall = db.isSerial && member.alone && this.#waiting.length <= MOST_SMALL;
      if (isSmall) await commits.run(() => this.#next(() => this.#relations.added()));
      else await this.#next(() => undefined);
    }
    this.#running = undefined;
  }

  /** Commits the first that wait. */
  async #next(added: () => CommitParticipant | undefined): Promise<void> {
    const { membership } = this.#waiting[0]!.job.part;
    const next = this.#waiting.findIndex(({ job }) => job.part.membership !== membership);
    const batch = this.#waiting.splice(0, Math.min(MOST_JOBS, next === -1 ? Infinity : next));
    try {
      const done = await this.#mutex.run(() => this.#commit(membership, batch, added()));
      this.#waiting = batch.slice(done).concat(this.#waiting);
    } catch (thrown) {
      const [first, ...rest] = batch as [Item, ...Item[]]; // there was one at least
      const isAlone = thrown instanceof TooLarge; // the others have not been tried
      const lesser = isAlone ? this.#lessen(first, thrown) : undefined;
      if (lesser !== undefined) first.job.settling = lesser;
      for (const { answers, place, job, again } of isAlone ? [first] : batch) {
        if (lesser !== undefined) break;
        job.settling = undefined;
        answers.fail(place, thrown);
        for (const asked of again ?? []) asked.answers.fail(asked.place, thrown);
      }
      if (isAlone) this.#waiting = [lesser ?? [], rest, this.#waiting].flat();
    }
  }

  /** An end of which less is stored. `undefined`: no less can be. */
  #lessen(item: Item, { message }: TooLarge): Item | undefined {
    const { settlement, job, unkept } = item;
    const { result, error } = settlement;
    const resultError = `The result cannot be stored: ${message}`;
    if (result !== undefined) {
      return { ...item, settlement: { ...settlement, result: undefined, resultError } };
    }
    if (error !== undefined && error.length > SHORT_ERROR) {
      return { ...item, settlement: { ...settlement, error: error.slice(0, SHORT_ERROR) } };
    }
    if (settlement.to === "retry" || settlement.to === "back" || unkept) return undefined;
    this.#context.log?.error(
      "A job has ended but its record is lost: the database refused it",
      {
        job: job.id,
        to: settlement.to,
        error: message,
      },
    );
    return { ...item, unkept: true };
  }

  /** Commits the first of a batch, all leased in one membership, as many as fit. How many those were. */
  async #commit(
    membership: Membership,
    batch: readonly Item[],
    added: CommitParticipant | undefined,
  ): Promise<number> {
    const { mutex, db } = this.#context;
    const participants = [added, this.#participant].filter((one) => one !== undefined);
    this.#participant = undefined;
    const leave = (fault?: unknown): void => {
      for (const participant of participants.splice(0)) participant.leave(fault);
    };
    const usesKeys = batch.some(({ job }) => job.line[3]?.h === 1);
    const attempt = (): Promise<number> => this.#attempt(membership, batch, participants);
    try {
      const done = await db.retry(async () => {
        if (membership.lost) return answer(batch, batch.length, false);
        const done = usesKeys ? await mutex.run(attempt) : await attempt();
        leave(); // what failed with them is tried again without them
        if (done > 0) return done;
        if (!await membership.isAlive(db)) return answer(batch, batch.length, false);
        await this.#relations.refreshMarks();
        return undefined;
      });
      if (done !== undefined) return done;
      const why = `others changed the same keys for ${PATIENCE_MS / 1000} s`;
      throw new Error(`Ends of jobs could not be stored: ${why}`);
    } catch (thrown) {
      leave(thrown);
      throw thrown;
    } finally {
      leave();
    }
  }

  /** One try. 0: a check failed. */
  async #attempt(
    membership: Membership,
    batch: readonly Item[],
    participants: readonly CommitParticipant[],
  ): Promise<number> {
    const nowMs = Math.max(batch[0]!.nowMs, ...participants.map((one) => one.nowMs));
    const transaction = new Transaction(this.#context, nowMs);
    transaction.check(membership.fence);
    const parts = new Map<HeldPart, PartEnds>();
    const unmarked = new Set<string>();
    let count = 0;
    let goesOn = false;
    for (const { job, settlement, unkept } of batch) {
      if (transaction.isFull || transaction.checksLeft < 4) break;
      count++;
      const ends = endsOf(transaction, parts, job);
      const mark = membership.marked.size === 0 ? "" : markOf(job.segment, job.index);
      const isMarked = mark !== "" && membership.marked.has(mark);
      if (settlement.to === "done" && settlement.charged && job.isPlain && !isMarked && !unkept) {
        const end = endOf(job, settlement);
        const size = recordSize(job, end, job.part.isAscii);
        if (size <= LARGEST_RECORD) {
          addDone(transaction, ends, { job, end }, size);
          continue;
        }
      }
      const requeues = settlement.to === "retry" || settlement.to === "back";
      if (isMarked) unmarked.add(mark);
      if (requeues) goesOn = true;
      await this.#end(
        transaction,
        job,
        requeues && isMarked ? cancelled(settlement) : settlement,
        unkept,
      );
    }
    for (const [part, ends] of parts) writeEnds(transaction, part, ends);
    if (goesOn || unmarked.size > 0) checkMarks(transaction, membership, unmarked);
    const fresh = new Set<FreshPart>();
    try {
      for (const participant of participants) {
        await participant.board(transaction, membership, fresh);
      }
    } catch {
      return await this.#attempt(membership, batch, []); // made alone, it tells of its fault itself
    }
    for (const { key, value } of fresh) transaction.setBytes(key, value);
    if (!await transaction.commit()) return 0;
    for (const participant of participants) participant.arrive();
    for (const [part, { lines }] of parts) progress(part, lines);
    for (const mark of unmarked) membership.marked.delete(mark);
    // A mark that cannot be read now is read when the next check of them fails.
    if (unmarked.size > 0) await this.#relations.refreshMarks().catch(() => {});
    return answer(batch, count, true);
  }

  async #end(
    transaction: Transaction,
    job: KvJob,
    settlement: Settlement,
    unkept: boolean | undefined,
  ): Promise<void> {
    const { to, charged, dueAtMs, error, keepsSlot } = settlement;
    const { startedAtMs } = job.part;
    const { nowMs } = transaction;
    const attempt = job.line[0] + (charged ? 1 : 0);
    if (to === "back" || to === "retry") {
      const isUnstarted = to === "back" && error === undefined; // what is handed back says why
      const change = {
        ...(isUnstarted ? {} : { s: startedAtMs }),
        // The clock may have gone ahead during its attempt, and it is due by that.
        g: to === "retry" && nowMs > startedAtMs + AHEAD_MS ? nowMs : undefined,
        ...(error === undefined ? {} : { e: shortened(error) }),
      };
      const line = changeLine(job.line, { attempts: charged ? 1 : 0, leases: 1 }, change);
      const again = storedWith(job, line);
      if (to === "back") transaction.put("r", again, again.dueMs); // at once, in its old place
      else await this.#requeue(transaction, again, { dueAtMs, keepsSlot });
      transaction.signals = true;
      return;
    }
    await transaction.slots.release(job);
    const { reason } = settlement;
    const result = to === "done" ? resultOf(settlement) : {};
    const end = { state: to, attempt, startedAtMs, ...result, reason, error, told: true };
    transaction.end(job, end, unkept);
  }

  /** A job that keeps the slot of its key has it while it is delayed, and is ready with it once it is due. */
  async #requeue(
    transaction: Transaction,
    job: StoredJob,
    { dueAtMs, keepsSlot }: Pick<Settlement, "dueAtMs" | "keepsSlot">,
  ): Promise<void> {
    if (keepsSlot === true && job.line[3]?.h === 1) {
      const isDue = Math.ceil(dueAtMs) <= transaction.nowMs;
      transaction.put(isDue ? "r" : "z", job, isDue ? transaction.atMs + 0.5 : Math.ceil(dueAtMs));
      return;
    }
    await transaction.slots.release(job);
    const line = changeLine(job.line, {}, { h: undefined });
    const free = storedWith(job, line);
    const dueMs = Math.ceil(dueAtMs);
    if (dueMs > transaction.nowMs) transaction.put("z", free, dueMs);
    // Half a ms: behind all that became claimable in this one.
    else await transaction.slots.enter(free, transaction.atMs + 0.5);
  }
}

function answer(items: readonly Item[], count: number, accepted: boolean): number {
  for (let index = 0; index < count; index++) {
    const item = items[index]!;
    item.isAnswered = true;
    item.answers.answer(item.place, accepted);
    for (const { answers, place } of item.again ?? []) answers.answer(place, accepted);
  }
  return count;
}

function cancelled(settlement: Settlement): Settlement {
  return { ...settlement, to: "cancelled" };
}

function storedWith(
  { ordinal, segment, index, dueMs }: StoredJob,
  line: StoredJob["line"],
): StoredJob {
  return { ordinal, segment, index, dueMs, line, text: JSON.stringify(line) };
}
