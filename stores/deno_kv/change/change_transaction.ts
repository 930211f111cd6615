/**
 * One commit of what is done to jobs from outside: cancel, revive, remove. Jobs that stand together are
 * changed together.
 *
 * @module
 */

import type { Change, Changed } from "../../../src/contract/store.ts";
import { type Bytes, bytesOf, changeLine } from "../record/codec.ts";
import type { QueueContext } from "../context.ts";
import { withoutJobs } from "../end/done.ts";
import { createdIn } from "../record/id.ts";
import { delayOf, type StoredJob } from "../record/job.ts";
import {
  type EndedAt,
  type Located,
  type RunningAt,
  stateOf,
  type WaitingAt,
} from "../read/locate.ts";
import { isTaken, keyAnew, namesIn, own, type Owner, ownerAt } from "../limit/names.ts";
import { jobsIn } from "../claim/promote.ts";
import { Transaction } from "../transaction.ts";
import { MARK_BYTES, markOf, marksIn } from "../members/membership.ts";

/** Most running jobs of a process that are to be cancelled at once. */
const MOST_MARKS = 1000;

/** Most bytes of entries that are written again without some of their jobs. */
const MOST_BYTES = 200_000;

/** An entry that loses jobs: their indexes. */
interface Edit {
  readonly kind: WaitingAt["kind"] | "d";
  readonly entry: Deno.KvEntry<Bytes>;
  readonly gone: Set<number>;
}

/** One commit of changes. */
export class ChangeTransaction {
  readonly #context: QueueContext;
  readonly #transaction: Transaction;
  readonly #edits = new Map<string, Edit>();
  readonly #waiting: StoredJob[] = [];
  readonly #leaving: StoredJob[] = [];
  readonly #owned = new Set<string>();
  readonly #revived: string[] = [];
  #bytes = 0;
  #slots = 0;
  #isAlone = false;
  #isEmpty = true;

  /** Begins with nothing. */
  constructor(context: QueueContext, nowMs: number) {
    this.#context = context;
    this.#transaction = new Transaction(context, nowMs);
  }

  /** True once no other change should be added. */
  get isFull(): boolean {
    const { isFull, checksLeft } = this.#transaction;
    return isFull || checksLeft < 4 + 2 * this.#slots || this.#bytes > MOST_BYTES || this.#isAlone;
  }

  /** Adds a change. `undefined`: it takes a commit of its own. */
  async change(found: Located, change: Change): Promise<Changed | undefined> {
    const changed = await this.#change(found, change);
    if (changed?.ok) this.#isEmpty = false;
    return changed;
  }

  /** Ends a job that waits. */
  end({ entry, job, kind }: WaitingAt, why: "expired" | "cancelled"): void {
    const transaction = this.#transaction;
    this.#isEmpty = false;
    this.#edit({ kind, entry }, job.index);
    transaction.count(job.ordinal, kind, -1);
    (kind === "q" ? this.#waiting : this.#leaving).push(job);
    if (job.line[3]?.h === 1) this.#slots++; // it is given up with the commit, and one that waits gets it
    const common = { attempt: job.line[0], startedAtMs: job.line[3]?.s };
    transaction.end(
      job,
      why === "expired"
        ? { ...common, state: "dead", reason: "expired", told: false }
        : { ...common, state: "cancelled", told: true },
    );
    transaction.signals = true;
  }

  /** Makes the commit. False: someone else has changed one of the jobs, and nothing was changed. */
  async commit(): Promise<boolean> {
    if (this.#isEmpty) return true;
    const transaction = this.#transaction;
    for (const { kind, entry, gone } of this.#edits.values()) {
      if (kind === "d") this.#rewriteDone(entry, gone);
      else if (kind !== "q") { // a job that waits for a place is alone
        const jobs = jobsIn(this.#context.keys.placeIn(entry.key), entry.value);
        transaction.putPart(kind, jobs.filter(({ index }) => !gone.has(index)));
      }
    }
    // Those that wait for places leave first: the places that others give up are for who stays.
    for (const job of this.#waiting) await transaction.slots.leave(job);
    for (const job of this.#leaving) await transaction.slots.release(job);
    if (!await transaction.commit()) return false;
    for (const id of this.#revived) this.#context.completions.revived(id);
    return true;
  }

  async #change(found: Located, change: Change): Promise<Changed | undefined> {
    if (!("ended" in found)) {
      if (change !== "cancel") return { ok: false, state: stateOf(found.kind) };
      if (found.kind === "l") return this.#isEmpty ? await this.#mark(found) : undefined;
      this.end(found, "cancelled");
      return { ok: true, state: "cancelled" };
    }
    const { row: [, state] } = found.ended;
    if (change === "cancel") return { ok: false, state };
    if (change === "remove") {
      this.#remove(found);
      return { ok: true, state: "removed" };
    }
    const revived = state === "dead" ? await this.#revive(found) : undefined;
    return revived === undefined ? { ok: false, state } : { ok: true, state: revived };
  }

  /** Asks the member of a running job to cancel it. Any end but `done` then counts as cancelled. */
  async #mark({ entry, progress, place, job }: RunningAt): Promise<Changed> {
    const { db, keys } = this.#context;
    const transaction = this.#transaction;
    this.#isAlone = true;
    const marks = await db.get<unknown>(keys.of("y", place.memberId));
    const before = marksIn(marks.value);
    const changed = { ok: true, state: "running" } as const;
    const name = markOf(job.segment, job.index);
    if (before.some(([segment, index]) => markOf(segment, index) === name)) return changed;
    if (before.length >= MOST_MARKS) {
      throw new RangeError(
        `Expected at most ${MOST_MARKS} running jobs of a process to be cancelled at once: retry later`,
      );
    }
    transaction.check(entry);
    transaction.check(progress);
    transaction.check(marks);
    transaction.set(
      marks.key,
      [...before, [job.segment, job.index]],
      MARK_BYTES * (before.length + 1),
    );
    transaction.signals = true;
    return changed;
  }

  /** State of the revived job. `undefined`: its `dedupeKey` is another's by now. */
  async #revive({ entry, ended }: EndedAt): Promise<"ready" | "delayed" | "blocked" | undefined> {
    const { db, keys } = this.#context;
    const [id, , , startedAtMs, attempts, dueMs, line] = ended.row;
    const { segment, ordinal, index } = ended.id;
    const transaction = this.#transaction;
    const dead: StoredJob = { ordinal, segment, index, dueMs, line, text: "" };
    const expiresAtMs = line[3]?.x === undefined
      ? undefined
      : line[3].x + Math.max(0, transaction.nowMs - createdIn(segment));
    const anew = keyAnew(line[3] ?? {});
    let lost = {};
    for (const name of namesIn({ ...line[3], ...anew })) {
      const owner = await db.get<Owner>(keys.of("i", name.key));
      const known = ownerAt(owner.value);
      const isOpen = known !== undefined && isTaken(known, transaction.nowMs);
      if (!isOpen && !this.#owned.has(name.key)) {
        this.#owned.add(name.key);
        own(transaction, owner, name, { id, expiresAtMs: expiresAtMs ?? Infinity });
      } else if (name.key === line[3]?.d) return undefined;
      else lost = { f: undefined, n: undefined }; // its idempotency key is another's by now
    }
    const alive = changeLine(line, { attempts: -line[0], leases: 1 }, {
      o: delayOf(dead),
      r: Math.max(0, transaction.nowMs - createdIn(segment)),
      y: (line[3]?.y ?? 0) + attempts,
      h: undefined,
      v: undefined,
      x: expiresAtMs,
      s: startedAtMs ?? undefined,
      ...anew,
      ...lost,
    });
    transaction.check(entry);
    transaction.delete(entry.key);
    transaction.keep("x", -1);
    const job = { ...dead, line: alive, text: JSON.stringify(alive) };
    const state = await transaction.slots.enter(job, transaction.atMs);
    transaction.signals = true;
    this.#revived.push(id);
    return state;
  }

  #remove({ kind, entry, ended }: EndedAt): void {
    const { keys } = this.#context;
    const { segment, index } = ended.id;
    const transaction = this.#transaction;
    if (kind === "x") {
      transaction.check(entry);
      transaction.delete(entry.key);
      transaction.delete(keys.of("m", segment, index));
    } else this.#edit({ kind, entry }, index);
    transaction.keep(kind, -1);
    transaction.forgetPayload({ segment, index, line: ended.row[6] });
  }

  /** Takes a job out of its entry. */
  #edit({ kind, entry }: Pick<Edit, "kind" | "entry">, index: number): void {
    const name = JSON.stringify(entry.key);
    let edit = this.#edits.get(name);
    if (edit === undefined) {
      edit = { kind, entry, gone: new Set() };
      this.#edits.set(name, edit);
      this.#bytes += bytesOf(entry.value).length;
      this.#transaction.check(entry);
      this.#transaction.reserve(entry.key, entry.value.length);
      if (kind !== "d") this.#transaction.delete(entry.key);
    }
    edit.gone.add(index);
  }

  #rewriteDone(entry: Deno.KvEntry<Bytes>, gone: ReadonlySet<number>): void {
    const left = withoutJobs(entry, ({ id }) => gone.has(id.index));
    if (left === undefined) this.#transaction.deleteDone(entry.key);
    else this.#transaction.setBytes(entry.key, left);
  }
}
