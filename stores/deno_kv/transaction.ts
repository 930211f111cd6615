/**
 * One commit in the making: what it checks and changes, and what follows once it is made.
 *
 * It knows its size as it is filled: what is only written at the end counts from when it is noted.
 *
 * @module
 */

import { setApart } from "./add/chunks.ts";
import { type Bytes, changeLine, earliestExpiry, encode, type JobLine } from "./record/codec.ts";
import type { QueueContext } from "./context.ts";
import { UncertainCommit } from "./io/db.ts";
import { type CounterSums, noSums } from "./read/counts.ts";
import {
  type DoneGroup,
  type DonePointer,
  entriesOf,
  LARGEST_RECORD,
  recordSize,
} from "./end/done.ts";
import { type End, endingOf, parseRow, recordIn, rowText, withoutResult } from "./end/ended.ts";
import { tagIn } from "./record/id.ts";
import { delayOf, idOf, readable, type StoredJob } from "./record/job.ts";
import {
  type Counted,
  keySize,
  numberAt,
  SIGNAL_KEY,
  type Space,
  textAt,
  textSize,
} from "./record/keys.ts";
import type { Moved } from "./read/locate.ts";
import { noteHandOn } from "./end/hand_on.ts";
import { freeNames } from "./limit/names.ts";
import { KeySlots } from "./limit/key_slots.ts";
import {
  AtomicOperation,
  type Expected,
  type SetOptions,
  sizeOfSet,
  sizeOfSum,
} from "./io/atomic_operation.ts";

/** Most lines of a value. */
export const PART_LINES = 100;

/** What a small value takes at most: a number, a flag, or a place but for its key. */
const SMALL_BYTES = 64;

/** How many ended jobs are kept, the signal to others, and what tells over a network what became of it. */
const OVERHEAD = { bytes: 1000, keyBytes: 300, mutations: 4 } as const;

interface Ended {
  readonly job: StoredJob;
  readonly end: End;
}

/** Jobs of one part that were ended one by one. */
interface SingleEnds extends DoneGroup {
  readonly jobs: StoredJob[];
  readonly ends: End[];
}

/** One commit in the making. */
export class Transaction {
  /** Now. */
  readonly nowMs: number;
  /** Whole ms: what times in keys are. */
  readonly atMs: number;
  /** Records of keys that this commit changes. */
  readonly slots: KeySlots;
  /** True: other processes should hear of it. */
  signals = false;
  readonly #context: QueueContext;
  readonly #operation: AtomicOperation;
  readonly #tallies = new Map<number, CounterSums>();
  readonly #ended: Ended[] = [];
  readonly #done: DoneGroup[] = [];
  readonly #plain: DoneGroup[] = [];
  readonly #dues: [ordinal: number, space: Space, dueMs: number][] = [];
  readonly #ready: [key: Deno.KvKey, bytes: Bytes | undefined][] = [];
  #single: SingleEnds | undefined;
  #kept = { d: 0, x: 0 };

  /** Begins with nothing. */
  constructor(context: QueueContext, nowMs: number) {
    this.#context = context;
    this.nowMs = nowMs;
    this.atMs = Math.floor(nowMs);
    this.#operation = new AtomicOperation(context.db);
    this.slots = new KeySlots(context, this);
  }

  /** True once no more should be added. False as long as it changes nothing. */
  get isFull(): boolean {
    return this.#operation.isFull;
  }

  /** True if it puts down more waiting jobs, of any lane, than it takes. */
  get adds(): boolean {
    return this.#tallies.values().some(({ r, z, q }) => r > 0 || z > 0 || q > 0);
  }

  /** Checks so far. */
  get checks(): number {
    return this.#operation.checks;
  }

  /** Checks that may still be added, those of the records of keys taken off. */
  get checksLeft(): number {
    return this.#context.db.maxChecks - this.checks - this.slots.size;
  }

  /** Makes the commit depend on a key. */
  check(expected: Expected): void {
    this.#operation.check(expected);
  }

  /** Sets a key. `size`: bytes of the value, no fewer than there are. */
  set(key: Deno.KvKey, value: unknown, size = SMALL_BYTES, options?: SetOptions): void {
    this.#operation.set(key, value, size, options);
  }

  /** Sets a key to lines. */
  setBytes(key: Deno.KvKey, bytes: Bytes): void {
    this.set(key, bytes, bytes.length);
    if (key[3] === "r") this.#ready.push([key, bytes]);
  }

  /** Deletes a key. */
  delete(key: Deno.KvKey): void {
    this.#operation.delete(key);
    if (key[3] === "r") this.#ready.push([key, undefined]);
  }

  /** Counts a key that will be set. */
  reserve(key: Deno.KvKey, valueBytes: number = SMALL_BYTES): void {
    this.#operation.reserve(sizeOfSet(keySize(key), valueBytes));
  }

  /** Changes a count of a lane. `dueMs`: when the jobs that are more became or become claimable. */
  count(ordinal: number, what: Counted, change: number, dueMs?: number): void {
    let tally = this.#tallies.get(ordinal);
    if (tally === undefined) {
      tally = noSums();
      this.#tallies.set(ordinal, tally);
    }
    if (tally[what] === 0) {
      this.#operation.reserve(sizeOfSum(keySize(this.#context.keys.of("c", ordinal, what))));
    }
    tally[what] += change;
    if (dueMs !== undefined && what !== "l") this.#dues.push([ordinal, what, dueMs]);
  }

  /** Changes how many ended jobs are kept. */
  keep(kind: "d" | "x", change: number): void {
    this.#kept[kind] += change;
  }

  /** Puts one job down on its own, due at `dueMs`. `key`: the one it waits for a place of. */
  put(space: Space, job: StoredJob, dueMs: number, key?: string): void {
    const { keys } = this.#context;
    const delayMs = delayOf(job);
    const isMoved = space === "q" || dueMs !== job.dueMs || job.line[3]?.o !== undefined;
    const line: JobLine = isMoved ? changeLine(job.line, {}, { o: delayMs }) : job.line;
    const place = {
      ordinal: job.ordinal,
      dueMs,
      segment: job.segment,
      first: job.index,
      expiresAtMs: earliestExpiry([line]),
    };
    const bytes = encode(JSON.stringify(line));
    if (space === "q") this.setBytes(keys.queued(key ?? "", place), bytes);
    else this.setBytes(keys.part(space, place), bytes);
    if (isMoved) this.#point(job, [space, dueMs, key ?? ""]);
    this.count(job.ordinal, space, 1, dueMs);
  }

  /**
   * Puts jobs of one part down together, at the times they have. The part is named after the first of
   * them, which is in no other: no two parts have the same key.
   */
  putPart(space: "r" | "z", jobs: readonly StoredJob[]): void {
    const [head] = jobs;
    if (head === undefined) return;
    const { ordinal, dueMs, segment, index: first } = head;
    const lines: string[] = [];
    for (const { index, text } of jobs) {
      while (lines.length < index - first) lines.push("");
      lines.push(text);
    }
    const expiresAtMs = earliestExpiry(jobs.map(({ line }) => line));
    const key = this.#context.keys.part(space, { ordinal, dueMs, segment, first, expiresAtMs });
    this.setBytes(key, encode(lines.join("\n")));
  }

  /** Ends a job that has been taken from where it was. `unkept`: nothing is kept of it. */
  end(given: StoredJob, end: End, unkept = false): void {
    const { keys, keep } = this.#context;
    const job = readable(given);
    const extra = job.line[3];
    if (extra?.d !== undefined || extra?.f !== undefined) freeNames(this, keys, job, extra);
    if (!unkept) noteHandOn(this, this.#context, job, end);
    if (unkept || (end.state === "dead" && keep.dead === 0)) {
      this.#ended.push({ job, end });
      this.forget(job);
      return;
    }
    if (end.state === "dead") {
      this.#ended.push({ job, end });
      const key = keys.of("x", this.atMs, job.segment, job.index);
      this.setBytes(key, encode(rowText(job, end, this.atMs)));
      this.#point(job, ["x", this.atMs, ""]);
      this.#kept.x++;
      return;
    }
    const isInline = extra?.b === undefined;
    const isApart = isInline && recordSize(job, end) > LARGEST_RECORD;
    const stored = isApart ? setApart(this, keys, job) : job;
    const kept = recordSize(stored, end) > LARGEST_RECORD ? withoutResult(end) : end;
    this.#ended.push({ job: stored, end: kept });
    this.reserveEntries(job.segment, 1, recordSize(stored, kept));
    const deletes = (stored.line[3]?.b ?? 0) + 1; // its payload if it is not kept, and what pointed at it
    this.#operation.reserve({ bytes: 100 * deletes, keyBytes: 0, mutations: deletes });
    this.#endBeside(stored, kept, isApart);
  }

  /** Counts entries of done jobs that will be written, with this many bytes of their lines. */
  reserveEntries(segment: string, count: number, bytes: number): void {
    if (count === 0) {
      this.#operation.bytes += bytes;
      return;
    }
    const key = this.#context.keys.of("d", 0, segment, segment, 0, 0, 0, 0, 0);
    // An empty line for each that is in another, and a pointer that is shorter.
    const entry = sizeOfSet(keySize(key), PART_LINES);
    this.#operation.reserve({
      bytes: 2 * count * entry.bytes + bytes,
      keyBytes: 2 * count * entry.keyBytes,
      mutations: 2 * count,
    });
  }

  /** Ends jobs of a lease of which nothing is stored beside their lines. Their size is counted. */
  endPlain(group: DoneGroup): void {
    this.#done.push(group);
    this.#plain.push(group);
  }

  /** Deletes what is stored of a job beside its line. */
  forget(job: Pick<StoredJob, "segment" | "index" | "line">): void {
    const { segment, index, line } = job;
    if (line[3]?.o !== undefined) this.delete(this.#context.keys.of("m", segment, index));
    this.forgetPayload(job);
  }

  /** Deletes a payload that is stored apart. */
  forgetPayload({ segment, index, line }: Pick<StoredJob, "segment" | "index" | "line">): void {
    for (let chunk = 0; chunk < (line[3]?.b ?? 0); chunk++) {
      this.delete(this.#context.keys.of("b", tagIn(segment), segment, index, chunk));
    }
  }

  /** Deletes an entry of done jobs, with what points at it. */
  deleteDone(key: Deno.KvKey): void {
    this.delete(key);
    this.delete(this.#context.keys.of("m", textAt(key, 6), numberAt(key, 7)));
  }

  /**
   * Makes the commit. False: a check failed, or it was too large for the database, and nothing was changed:
   * the next try takes less.
   *
   * @throws {TooLarge} If the database refuses it although it takes one job only.
   */
  async commit(): Promise<boolean> {
    const { counts } = this.#context;
    this.#operation.reserve(OVERHEAD);
    this.slots.write();
    this.#writeDone();
    this.#writeCounts();
    counts.inFlight++;
    let version: string;
    try {
      const made = await this.#operation.commit(this.signals);
      if (made === undefined) return false;
      version = made;
      for (const [key, value] of this.#ready) counts.shelve(key, value, version);
    } catch (thrown) {
      // What it ended or leased may be so: made again it would be so twice. Others take back what is left.
      if (thrown instanceof UncertainCommit) this.#context.member.membership.lost = true;
      throw thrown;
    } finally {
      counts.inFlight--;
      counts.changes++;
    }
    this.#follow(version);
    return true;
  }

  /** Jobs of one part that end one after the other are kept together. What is pointed at itself starts again. */
  #endBeside(job: StoredJob, end: End, isPointed: boolean): void {
    const { startedAtMs } = end;
    const group = this.#single;
    const last = group?.jobs.at(-1);
    const isNext = !isPointed && last !== undefined && group?.startedAtMs === startedAtMs &&
      last.segment === job.segment && last.dueMs === job.dueMs && last.index < job.index;
    if (isNext) {
      group?.jobs.push(job);
      group?.ends.push(end);
      return;
    }
    this.#single = { startedAtMs, jobs: [job], ends: [end], bytes: undefined };
    this.#done.push(this.#single);
    if (isPointed) this.#single = undefined;
  }

  /** Notes where a job is that has left its first place. */
  #point({ segment, index }: StoredJob, place: Moved): void {
    this.set(this.#context.keys.of("m", segment, index), place, SMALL_BYTES + textSize(place[2]));
  }

  /** Keeps the latest of the done jobs: no more than are kept at all. */
  #writeDone(): void {
    const { keys, keep, member } = this.#context;
    const kept: DoneGroup[] = [];
    for (const group of this.#done.reverse()) {
      if (this.#kept.d >= keep.done) {
        for (const job of group.jobs) this.forget(job);
      } else {
        this.#kept.d += group.jobs.length;
        kept.push(group);
      }
    }
    for (const group of kept.reverse()) {
      const firsts = new Set<number>();
      for (const { key, last, bytes } of entriesOf(group)) {
        const name = member.membership.names.next(this.atMs);
        const pointer: DonePointer = ["d", this.atMs, name, last];
        this.setBytes(keys.of("d", this.atMs, name, ...key), bytes);
        this.set(keys.of("m", key[0], key[1]), pointer);
        firsts.add(key[1]);
      }
      for (const { segment, index, line } of group.jobs) {
        const isPointed = line[3]?.o !== undefined && !firsts.has(index);
        if (isPointed) this.delete(keys.of("m", segment, index));
      }
    }
  }

  #writeCounts(): void {
    const { keys } = this.#context;
    const sum = (key: Deno.KvKey, change: number): void => this.#operation.sum(key, change);
    for (const [ordinal, tally] of this.#tallies) {
      for (const k of ["r", "z", "q", "l"] as const) sum(keys.of("c", ordinal, k), tally[k]);
    }
    sum(keys.of("c", -1, "d"), this.#kept.d);
    sum(keys.of("c", -1, "x"), this.#kept.x);
    if (this.signals) sum(SIGNAL_KEY, 1);
  }

  /** What follows from a commit that was made. */
  #follow(version: string): void {
    const { counts, completions, listener, others, pool, lanes } = this.#context;
    counts.moved(this.#tallies, version);
    for (const [ordinal, space, dueMs] of this.#dues) counts.of(ordinal)?.sees(space, dueMs);
    counts.kept.d += this.#kept.d;
    counts.kept.x += this.#kept.x;
    for (const { job, end } of this.#ended) {
      if (completions.note()) completions.ended(idOf(job), endingOf(job, end));
      if (end.told) continue;
      listener.ended(
        recordIn(parseRow(rowText(job, end, this.atMs)), pool, lanes.nameOf(job.ordinal)),
      );
    }
    for (const { jobs, ends } of this.#plain) {
      for (const [index, job] of jobs.entries()) {
        if (!completions.note()) continue;
        const end = ends[index];
        const ending = end === undefined
          ? { state: "done", result: undefined } as const
          : endingOf(job, end);
        completions.ended(idOf(job), ending);
      }
    }
    if (this.signals) others.wake();
    else others.outdate();
  }
}
