/**
 * Ends of leases, on their way to the database: one commit in flight, what gathers meanwhile goes
 * into the next. Two at once could overtake each other over the network.
 *
 * @module
 */

import type { Settlement } from "../../../src/store.ts";
import { changeLine } from "./codec.ts";
import type { QueueContext } from "./context.ts";
import { shortened } from "./ended.ts";
import { markOf, type Marks } from "./holder.ts";
import { type HeldPart, KvJob, type StoredJob } from "./job.ts";
import { Step } from "./step.ts";

/** Most jobs of one commit. */
const MOST_JOBS = 5000;

/** How often others may be quicker in a row. */
const MOST_TRIES = 50;

interface Ticket {
  readonly answers: boolean[];
  readonly resolve: (answers: readonly boolean[]) => void;
  readonly reject: (thrown: unknown) => void;
  left: number;
  nowMs: number;
}

interface Item {
  readonly ticket: Ticket;
  readonly place: number;
  readonly job: KvJob;
  readonly settlement: Settlement;
}

/** Settles for one queue. */
export class FinishLoop {
  readonly #context: QueueContext;
  readonly #refreshMarks: () => Promise<void>;
  #waiting: Item[] = [];
  #running: Promise<void> | undefined;

  /** `refreshMarks` reads anew which jobs are to be cancelled. */
  constructor(context: QueueContext, refreshMarks: () => Promise<void>) {
    this.#context = context;
    this.#refreshMarks = refreshMarks;
  }

  /** Ends leases. False for one that is lost: nothing was changed. */
  settle(settlements: readonly Settlement[], nowMs: number): Promise<readonly boolean[]> {
    return new Promise((resolve, reject) => {
      const answers = settlements.map(() => false);
      const ticket: Ticket = { answers, resolve, reject, left: 0, nowMs };
      settlements.forEach((settlement, place) => {
        const { job } = settlement;
        if (!this.#holds(job) || job.fence !== settlement.fence) return;
        job.settling = true;
        ticket.left++;
        this.#waiting.push({ ticket, place, job, settlement });
      });
      if (ticket.left === 0) resolve(answers);
      else this.#running ??= this.#run();
    });
  }

  /** Resolves once nothing is on its way. */
  async idle(): Promise<void> {
    await this.#running;
  }

  #holds(job: Settlement["job"]): job is KvJob {
    return job instanceof KvJob && !job.settling &&
      job.part.holder === this.#context.holder.identity;
  }

  async #run(): Promise<void> {
    await null; // what is settled in this turn of the event loop goes together
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, MOST_JOBS);
      try {
        const done = await this.#commit(batch);
        this.#waiting = batch.slice(done).concat(this.#waiting);
      } catch (thrown) {
        for (const { ticket, job } of batch) {
          job.settling = false;
          ticket.reject(thrown);
        }
      }
    }
    this.#running = undefined;
  }

  /** Commits the first of a batch, as many as fit. How many those were. */
  async #commit(batch: readonly Item[]): Promise<number> {
    const { holder, gate, db } = this.#context;
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      if (holder.lost) return answer(batch, false);
      const usesKeys = batch.some(({ job }) => job.line[3]?.h === 1);
      const attempt = (): Promise<number> => this.#attempt(batch);
      const done = usesKeys ? await gate.run(attempt) : await attempt();
      if (done > 0) return done;
      if (!await holder.isAlive(db)) return answer(batch, false);
      await this.#refreshMarks();
      await db.pause(tries);
    }
    throw new Error("Ends of jobs could not be stored: others change the same keys all the time");
  }

  /** One try. 0: a check failed. */
  async #attempt(batch: readonly Item[]): Promise<number> {
    const step = new Step(this.#context, batch[0]!.ticket.nowMs);
    step.check(this.#context.holder.fence);
    const ended = new Map<HeldPart, number[]>();
    const unmarked = new Set<string>();
    let count = 0;
    let goesOn = false;
    for (const { job, settlement } of batch) {
      // Each part that is touched takes up to two mutations at the end.
      if (step.isFull || ended.size > 300 || step.checksLeft < 4) break;
      const mark = markOf(job.segment, job.index);
      const isMarked = this.#context.holder.marked.has(mark);
      const requeues = settlement.to === "retry" || settlement.to === "back";
      if (isMarked) unmarked.add(mark);
      if (requeues) goesOn = true;
      await this.#end(step, job, requeues && isMarked ? cancelled(settlement) : settlement);
      step.count(job.ordinal, "l", -1);
      const lines = ended.get(job.part);
      if (lines === undefined) ended.set(job.part, [job.index - job.part.first]);
      else lines.push(job.index - job.part.first);
      count++;
    }
    for (const [part, lines] of ended) writeProgress(step, part, lines);
    if (goesOn || unmarked.size > 0) this.#checkMarks(step, unmarked);
    if (!await step.commit()) return 0;
    for (const [part, lines] of ended) this.#progress(part, lines);
    // A mark that cannot be read now is read when the next check of them fails.
    if (unmarked.size > 0) await this.#refreshMarks().catch(() => {});
    return answer(batch.slice(0, count), true);
  }

  async #end(step: Step, job: KvJob, settlement: Settlement): Promise<void> {
    const { to, charged, dueAtMs, error } = settlement;
    const { startedAtMs } = job.part;
    const attempt = job.line[0] + (charged ? 1 : 0);
    if (to === "back" || to === "retry") {
      const change = { s: startedAtMs, ...(error === undefined ? {} : { e: shortened(error) }) };
      const line = changeLine(job.line, { attempts: charged ? 1 : 0, leases: 1 }, change);
      await this.#requeue(step, storedWith(job, line), to === "back" ? undefined : dueAtMs);
      step.signals = true;
      return;
    }
    await step.places.release(step, job);
    const { result, reason } = settlement;
    step.end(job, { state: to, attempt, startedAtMs, result, reason, error, told: true });
  }

  /** `dueAtMs`: when it is claimable again. `undefined`: at once, in its old place. */
  async #requeue(step: Step, job: StoredJob, dueAtMs: number | undefined): Promise<void> {
    if (dueAtMs === undefined) {
      step.put("r", job, job.dueMs);
      return;
    }
    await step.places.release(step, job);
    const line = changeLine(job.line, {}, { h: undefined });
    const free = storedWith(job, line);
    const dueMs = Math.ceil(dueAtMs);
    if (dueMs > step.nowMs) step.put("z", free, dueMs);
    // Half a ms: behind all that became claimable in this one.
    else await step.places.enter(step, free, step.atMs + 0.5);
  }

  /** Whoever cancels changes this key: a job that goes on does so only if nobody has. */
  #checkMarks(step: Step, unmarked: ReadonlySet<string>): void {
    const { marks, marked } = this.#context.holder;
    step.check(marks);
    if (unmarked.size === 0) return;
    const left: Marks = [...marked].filter((mark) => !unmarked.has(mark)).map((mark) => {
      const [segment = "", index] = mark.split(".");
      return [segment, Number(index)];
    });
    if (left.length === 0) step.delete(marks.key);
    else step.set(marks.key, left, 40 * left.length);
  }

  #progress(part: HeldPart, lines: readonly number[]): void {
    part.left -= lines.length;
    part.ended.push(...lines);
    part.hasProgress = true;
    if (part.left === 0) this.#context.holder.parts.delete(part);
  }
}

function writeProgress(step: Step, part: HeldPart, lines: readonly number[]): void {
  if (part.left > lines.length) {
    step.setBytes(part.progressKey, Uint8Array.from([...part.ended, ...lines]));
    return;
  }
  step.delete(part.key);
  if (part.hasProgress) step.delete(part.progressKey);
}

function answer(items: readonly Item[], accepted: boolean): number {
  for (const { ticket, place } of items) {
    ticket.answers[place] = accepted;
    if (--ticket.left === 0) ticket.resolve(ticket.answers);
  }
  return items.length;
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
