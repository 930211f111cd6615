/**
 * Ends of leases on their way to the database.
 *
 * @module
 */

import { fitHistory } from "../../../src/base/history.ts";
import type { JobAttempt } from "../../../src/contract/job.ts";
import type { Settlement } from "../../../src/contract/store.ts";
import { byteLength, changeLine } from "../record/codec.ts";
import type { QueueContext } from "../context.ts";
import { LARGEST_RECORD, recordSize } from "./done.ts";
import { resultOf, shortened } from "./ended.ts";
import { type Asked, type Ending, type HeldPart, KvJob, type StoredJob } from "../record/job.ts";
import { checkMarks } from "../change/marks.ts";
import { addDone, endOf, endsOf, type PartEnds, progress, writeEnds } from "./part_ends.ts";
import type { CommitParticipant, CommitSource } from "../commit_participant.ts";
import type { Transaction } from "../transaction.ts";
import { markOf, type Membership } from "../members/membership.ts";
import { AHEAD_MS } from "../members/restamp.ts";
import { BatchAnswers } from "../add/batch_answers.ts";
import { TooLarge } from "../io/atomic_operation.ts";

/** Most jobs of one commit. */
const MOST_JOBS = 5000;

/** Most bytes of a job with its history: there is room for the longest message besides. */
const LARGEST_WITH_HISTORY = 56_000;

/** What is left of a message with which an end is too large, characters. */
const SHORT_ERROR = 100;

interface Item extends Asked, Ending {
  readonly nowMs: number;
  readonly job: KvJob;
  readonly settlement: Settlement;
  /** True: nothing is kept of the job. */
  readonly unkept?: boolean;
}

/** Ends for one queue. */
export class PendingEnds implements CommitSource {
  readonly #context: QueueContext;
  readonly #refreshMarks: () => Promise<void>;
  #waiting: Item[] = [];
  /** Of the ends that were taken last. */
  #membership: Membership | undefined;

  /** Settles for one queue. `refreshMarks` reads again which jobs are to be cancelled. */
  constructor(context: QueueContext, refreshMarks: () => Promise<void>) {
    this.#context = context;
    this.#refreshMarks = refreshMarks;
  }

  /** Ends that wait. */
  get waiting(): number {
    return this.#waiting.length;
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
    answers.promise.catch(() => {
      for (const [place, { job }] of settlements.entries()) {
        if (job instanceof KvJob && answers.answers[place] === true) job.untold = true;
      }
    });
    return answers.promise;
  }

  /** The first that wait, all leased in one membership. Those of one that is lost are answered. */
  take(): CommitParticipant | undefined {
    while (this.#waiting.length > 0) {
      const { membership } = this.#waiting[0]!.job.part;
      const next = this.#waiting.findIndex(({ job }) => job.part.membership !== membership);
      const items = this.#waiting.splice(0, Math.min(MOST_JOBS, next === -1 ? Infinity : next));
      this.#membership = membership;
      if (!membership.lost) {
        return new EndBatch(this.#context, membership, items, {
          waitAgain: (items) => this.#waiting = items.concat(this.#waiting),
          refreshMarks: this.#refreshMarks,
        });
      }
      answer(items, items.length, false);
    }
    return undefined;
  }

  /** Looks whether they can be ended still, and which are to be cancelled. */
  async refresh(): Promise<void> {
    if (await this.#membership?.isAlive(this.#context.db)) await this.#refreshMarks();
  }

  #holds(job: Settlement["job"]): job is KvJob {
    if (!(job instanceof KvJob) || job.settling !== undefined) return false;
    const { membership } = job.part;
    return membership === this.#context.member.membership && !membership.lost;
  }
}

/** What a batch of ends asks of its queue. */
interface EndRelations {
  /** Takes ends back for another commit. */
  waitAgain(items: Item[]): void;
  /** Reads again which jobs are to be cancelled. */
  refreshMarks(): Promise<void>;
}

/** Ends of one membership, as many as fit into a commit. */
class EndBatch implements CommitParticipant {
  readonly nowMs: number;
  readonly membership: Membership;
  readonly isShared = true;
  readonly #context: QueueContext;
  readonly #items: Item[];
  readonly #relations: EndRelations;
  #parts = new Map<HeldPart, PartEnds>();
  #unmarked = new Set<string>();
  #count = 0;

  constructor(
    context: QueueContext,
    membership: Membership,
    items: Item[],
    relations: EndRelations,
  ) {
    this.#context = context;
    this.membership = membership;
    this.nowMs = items[0]!.nowMs;
    this.#items = items;
    this.#relations = relations;
  }

  get usesKeys(): boolean {
    return this.#items.some(({ job }) => job.line[3]?.h === 1);
  }

  /** Ends the first, as many as fit. */
  async board(transaction: Transaction): Promise<boolean> {
    const { membership } = this;
    const parts = this.#parts = new Map();
    const unmarked = this.#unmarked = new Set();
    this.#count = 0;
    let goesOn = false;
    for (const { job, settlement, unkept } of this.#items) {
      if (transaction.isFull || transaction.checksLeft < 4) break;
      this.#count++;
      const ends = endsOf(transaction, parts, job);
      const mark = membership.marked.size === 0 ? "" : markOf(job.segment, job.index);
      const isMarked = mark !== "" && membership.marked.has(mark);
      const isPlain = settlement.to === "done" && settlement.charged && job.isPlain &&
        settlement.history === undefined && !this.#handsOn(job);
      if (isPlain && !isMarked && !unkept) {
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
      const to = requeues && isMarked ? cancelled(settlement) : settlement;
      await this.#end(transaction, job, to, unkept);
    }
    for (const [part, ends] of parts) writeEnds(transaction, part, ends);
    if (goesOn || unmarked.size > 0) checkMarks(transaction, membership, unmarked);
    return this.#count > 0;
  }

  /** True if what is just done is noted to be handed on. */
  #handsOn({ ordinal }: KvJob): boolean {
    return this.#context.lanes.of(ordinal)?.handsOn?.includes("done") === true;
  }

  /** Answers those that have ended. The others wait for the next commit. */
  async made(): Promise<void> {
    for (const [part, { lines }] of this.#parts) progress(part, lines);
    for (const mark of this.#unmarked) this.membership.marked.delete(mark);
    if (this.#count < this.#items.length) {
      this.#relations.waitAgain(this.#items.slice(this.#count));
    }
    // A mark that cannot be read now is read when the next check of them fails.
    if (this.#unmarked.size > 0) await this.#relations.refreshMarks().catch(() => {});
    answer(this.#items, this.#count, true);
  }

  /** They wait again. */
  back(): void {
    this.#relations.waitAgain(this.#items);
  }

  /** Fails them. If one is too large, less of that is stored, and the others have not been tried. */
  fail(thrown: unknown): void {
    const [first, ...rest] = this.#items as [Item, ...Item[]]; // there was one at least
    const isAlone = thrown instanceof TooLarge;
    const lesser = isAlone ? this.#lessen(first, thrown) : undefined;
    if (lesser !== undefined) {
      first.job.settling = lesser;
      return this.#relations.waitAgain([lesser, ...rest]);
    }
    for (const { answers, place, job, again } of isAlone ? [first] : this.#items) {
      job.settling = undefined;
      answers.fail(place, thrown);
      for (const asked of again ?? []) asked.answers.fail(asked.place, thrown);
    }
    if (isAlone) this.#relations.waitAgain(rest);
  }

  /** An end of which less is stored. `undefined`: no less can be. */
  #lessen(item: Item, { message }: TooLarge): Item | undefined {
    const { settlement, job, unkept } = item;
    const { result, error, history } = settlement;
    if (history !== undefined && history.length > 0) {
      return { ...item, settlement: { ...settlement, history: [] } };
    }
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

  async #end(
    transaction: Transaction,
    job: KvJob,
    settlement: Settlement,
    unkept: boolean | undefined,
  ): Promise<void> {
    const { to, charged, error, history } = settlement;
    const beganAtMs = transaction.slots.counts(job) ? settlement.beganAtMs : undefined;
    const { startedAtMs } = job.part;
    const { nowMs } = transaction;
    const attempt = job.line[0] + (charged ? 1 : 0);
    if (to === "back" || to === "retry") {
      const isUnstarted = to === "back" && error === undefined; // what is handed back says why
      const change = {
        ...(isUnstarted ? {} : { s: startedAtMs }),
        // The clock may have gone ahead during its attempt, and it is due by that.
        g: to === "retry" && nowMs > startedAtMs + AHEAD_MS ? nowMs : undefined,
        ...(to === "retry" ? { v: undefined } : {}),
        ...(error === undefined ? {} : { e: shortened(error) }),
        ...(history === undefined ? {} : { l: historyBeside(job, history) }),
      };
      const line = changeLine(job.line, { attempts: charged ? 1 : 0, leases: 1 }, change);
      const again = storedWith(job, line);
      if (to === "retry") await this.#requeue(transaction, again, settlement, beganAtMs);
      else if (beganAtMs === undefined) transaction.put("r", again, again.dueMs); // at once, in its old place
      else await transaction.slots.keep(again, beganAtMs, transaction.atMs);
      transaction.signals = true;
      return;
    }
    await transaction.slots.release(job, beganAtMs);
    const { reason } = settlement;
    const result = to === "done" ? resultOf(settlement) : {};
    const end = { state: to, attempt, startedAtMs, ...result, reason, error, told: true };
    transaction.end(
      history === undefined ? job : withHistory(job, to, history, result.resultText),
      end,
      unkept,
    );
  }

  /** A job that keeps the slot of its key has it while it is delayed, and is ready with it once it is due. */
  async #requeue(
    transaction: Transaction,
    job: StoredJob,
    { dueAtMs, keepsSlot }: Settlement,
    beganAtMs: number | undefined,
  ): Promise<void> {
    if (keepsSlot === true && beganAtMs !== undefined) {
      return await transaction.slots.keep(job, beganAtMs, dueAtMs);
    }
    if (keepsSlot === true && job.line[3]?.h === 1) {
      const isDue = Math.ceil(dueAtMs) <= transaction.nowMs;
      transaction.put(isDue ? "r" : "z", job, isDue ? transaction.atMs + 0.5 : Math.ceil(dueAtMs));
      return;
    }
    await transaction.slots.release(job, beganAtMs);
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

/** The history that fits into a value beside the rest of its job, and what is stored with it. */
function historyBeside(
  { line: [, , , extra], text }: StoredJob,
  history: readonly JobAttempt[],
  besideBytes = 0,
): readonly JobAttempt[] | undefined {
  const before = extra?.l === undefined ? 0 : byteLength(JSON.stringify(extra.l));
  return fitHistory(history, LARGEST_WITH_HISTORY - besideBytes - (byteLength(text) - before));
}

function withHistory(
  job: StoredJob,
  to: Settlement["to"],
  history: readonly JobAttempt[],
  resultText = "",
): StoredJob {
  const l = historyBeside(job, history, byteLength(resultText));
  const e = to === "done" ? undefined : job.line[3]?.e;
  return storedWith(job, changeLine(job.line, {}, { l, e }));
}

function storedWith(
  { ordinal, segment, index, dueMs }: StoredJob,
  line: StoredJob["line"],
): StoredJob {
  return { ordinal, segment, index, dueMs, line, text: JSON.stringify(line) };
}
