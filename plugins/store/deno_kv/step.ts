/**
 * One commit in the making: what it checks and changes, and what follows once it is made.
 *
 * An atomic operation that fails midway keeps what came before, so nothing is put into one that the
 * database could refuse: sizes are added up here, and entries are checked before they get here.
 *
 * @module
 */

import { IDEMPOTENT_FOR_MS } from "../../../src/job.ts";
import { type Bytes, changeLine, earliestExpiry, encode, type Extra, type Line } from "./codec.ts";
import type { QueueContext } from "./context.ts";
import { noTally, type Tally } from "./counts.ts";
import { type DoneGroup, type DonePointer, entriesOf } from "./done.ts";
import { type End, endingOf, parseRow, recordIn, rowText } from "./ended.ts";
import { tagIn } from "./id.ts";
import { delayOf, idOf, type StoredJob } from "./job.ts";
import { type Counted, keySize, numberAt, SIGNAL_KEY, type Space, textAt } from "./keys.ts";
import { namesIn, ownerAfter, ownerSize } from "./names.ts";
import { Places } from "./places.ts";

/** KV allows 1000. */
const MOST_MUTATIONS = 700;

/** KV allows 819,200, keys of sets counted twice. */
const MOST_BYTES = 500_000;

/** KV allows 81,920, of keys that are set. */
const MOST_KEY_BYTES = 50_000;

/** About what a check takes, or a change of a counter. */
const SMALL_BYTES = 70;

/** Most lines of a value. */
export const PART_LINES = 100;

/** A key and the version it must have. */
export interface Expected {
  /** The key. */
  readonly key: Deno.KvKey;
  /** Its version. `null`: there is no such key. */
  readonly versionstamp: string | null;
}

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
export class Step {
  /** Now. */
  readonly nowMs: number;
  /** Whole ms: what times in keys are. */
  readonly atMs: number;
  /** Records of keys that this commit changes. */
  readonly places: Places;
  /** True: other processes should hear of it. */
  signals = false;
  /** Checks so far. */
  checks = 0;
  readonly #context: QueueContext;
  readonly #atomic: Deno.AtomicOperation;
  readonly #tallies = new Map<number, Tally>();
  readonly #shortEnds: number[] = [];
  #shortRounds: number | undefined;
  readonly #ended: Ended[] = [];
  readonly #done: DoneGroup[] = [];
  readonly #plain: DoneGroup[] = [];
  readonly #dues: [ordinal: number, space: Space, dueMs: number][] = [];
  readonly #ready: [key: Deno.KvKey, bytes: Bytes | undefined][] = [];
  #single: SingleEnds | undefined;
  #kept = { d: 0, x: 0 };
  #mutations = 0;
  #bytes = 0;
  #keyBytes = 0;

  /** Begins with nothing. */
  constructor(context: QueueContext, nowMs: number) {
    this.#context = context;
    this.nowMs = nowMs;
    this.atMs = Math.floor(nowMs);
    this.#atomic = context.db.kv.atomic();
    this.places = new Places(context);
  }

  /** True once no more should be added: what is added together stays below the limits. */
  get isFull(): boolean {
    return this.#mutations + this.places.size >= MOST_MUTATIONS || this.#bytes >= MOST_BYTES ||
      this.#keyBytes >= MOST_KEY_BYTES;
  }

  /** Checks that may still be added, those of the records of keys taken off. */
  get checksLeft(): number {
    return this.#context.db.maxChecks - this.checks - this.places.size;
  }

  /** Bytes so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Makes the commit depend on a key. */
  check({ key, versionstamp }: Expected): void {
    this.#atomic.check({ key, versionstamp });
    this.checks++;
  }

  /** Sets a key. `expireIn`: the database may drop it after so many ms. */
  set(key: Deno.KvKey, value: unknown, size = 64, options?: { readonly expireIn: number }): void {
    this.#atomic.set(key, value, options);
    const keyBytes = keySize(key);
    this.#mutations++;
    this.#keyBytes += keyBytes;
    this.#bytes += 2 * keyBytes + size;
  }

  /** Sets a key to lines. */
  setBytes(key: Deno.KvKey, bytes: Bytes): void {
    this.set(key, bytes, bytes.length);
    if (key[3] === "r") this.#ready.push([key, bytes]);
  }

  /** Deletes a key. */
  delete(key: Deno.KvKey): void {
    this.#atomic.delete(key);
    if (key[3] === "r") this.#ready.push([key, undefined]);
    this.#mutations++;
    this.#bytes += 100;
  }

  /** Changes a count of a lane. `dueMs`: when the jobs that are more became or become claimable. */
  count(ordinal: number, what: Counted, change: number, dueMs?: number): void {
    let tally = this.#tallies.get(ordinal);
    if (tally === undefined) {
      tally = noTally();
      this.#tallies.set(ordinal, tally);
      this.#mutations += 4;
    }
    tally[what] += change;
    if (dueMs !== undefined && what !== "l") this.#dues.push([ordinal, what, dueMs]);
  }

  /** Notes that jobs of a lane end that were short. `rounds`: how often they would end in what is short. */
  endsShort(ordinal: number, count: number, rounds: number): void {
    this.#shortEnds[ordinal] = this.shortEnds(ordinal) + count;
    this.#shortRounds = Math.min(this.#shortRounds ?? Infinity, rounds);
  }

  /** How often a worker ends the longest of them in what is short. 0: none ends. */
  get shortRounds(): number {
    return this.#shortRounds ?? 0;
  }

  /** How many jobs of a lane end that were short. */
  shortEnds(ordinal: number): number {
    return this.#shortEnds[ordinal] ?? 0;
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
    const line: Line = isMoved ? changeLine(job.line, {}, { o: delayMs }) : job.line;
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
    if (isMoved) this.set(keys.of("m", job.segment, job.index), [space, dueMs, key ?? ""]);
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

  /** Ends a job that has been taken from where it was. */
  end(job: StoredJob, end: End): void {
    const { keys, keep } = this.#context;
    const extra = job.line[3];
    if (extra?.d !== undefined || extra?.f !== undefined) this.#freeNames(job, extra);
    this.#ended.push({ job, end });
    if (end.state === "dead") {
      if (keep.dead === 0) {
        this.forget(job);
        return;
      }
      const key = keys.of("x", this.atMs, job.segment, job.index);
      this.setBytes(key, encode(rowText(job, end, this.atMs)));
      this.set(keys.of("m", job.segment, job.index), ["x", this.atMs, ""]);
      this.#kept.x++;
      return;
    }
    this.#bytes += job.text.length;
    this.#endBeside(job, end);
  }

  /** Frees the names of a job that ends; its idempotency key stands for it a while longer. */
  #freeNames(job: StoredJob, extra: Readonly<Extra>): void {
    for (const name of namesIn(extra)) {
      const key = this.#context.keys.of("i", name.key);
      const owner = ownerAfter(name, idOf(job), this.nowMs);
      if (owner === undefined) this.delete(key);
      else this.set(key, owner, ownerSize(owner), { expireIn: 2 * IDEMPOTENT_FOR_MS });
    }
  }

  /** Ends jobs of a lease of which nothing is stored beside their lines. */
  endPlain(group: DoneGroup): void {
    this.#done.push(group);
    this.#mutations++;
    this.#bytes += group.bytes?.length ?? 200 * group.jobs.length;
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

  /** Makes the commit. False: a check failed, and nothing was changed. */
  async commit(): Promise<boolean> {
    const { db, counts } = this.#context;
    this.places.write(this);
    this.#writeDone();
    this.#writeCounts();
    counts.inFlight++;
    try {
      const bytes = this.#bytes + SMALL_BYTES * (this.checks + 4 * this.#tallies.size);
      const version = await db.commit({ atomic: this.#atomic, signals: this.signals, bytes });
      if (version === undefined) return false;
      for (const [key, value] of this.#ready) counts.shelve(key, value, version);
    } finally {
      counts.inFlight--;
      counts.changes++;
    }
    this.#follow();
    return true;
  }

  /** Jobs of one part that end one after the other are kept together. */
  #endBeside(job: StoredJob, end: End): void {
    const { startedAtMs } = end;
    const group = this.#single;
    const last = group?.jobs.at(-1);
    const isNext = last !== undefined && group?.startedAtMs === startedAtMs &&
      last.segment === job.segment && last.dueMs === job.dueMs && last.index < job.index;
    if (isNext) {
      group?.jobs.push(job);
      group?.ends.push(end);
      return;
    }
    this.#single = { startedAtMs, jobs: [job], ends: [end], bytes: undefined };
    this.#done.push(this.#single);
  }

  /** Keeps the latest of the done jobs: no more than are kept at all. */
  #writeDone(): void {
    const { keys, keep, holder } = this.#context;
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
        const name = holder.term.names.next(this.atMs);
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
    const sum = (key: Deno.KvKey, change: number): void => {
      if (change !== 0) this.#atomic.sum(key, BigInt.asUintN(64, BigInt(change)));
    };
    for (const [ordinal, tally] of this.#tallies) {
      sum(keys.of("c", ordinal, "r"), tally.r);
      sum(keys.of("c", ordinal, "z"), tally.z);
      sum(keys.of("c", ordinal, "q"), tally.q);
      sum(keys.of("c", ordinal, "l"), tally.l);
    }
    sum(keys.of("c", -1, "d"), this.#kept.d);
    sum(keys.of("c", -1, "x"), this.#kept.x);
    if (this.signals) sum(SIGNAL_KEY, 1);
  }

  /** What follows from a commit that was made. */
  #follow(): void {
    const { counts, fates, listener, others, pool, lanes } = this.#context;
    counts.moves++;
    for (const [ordinal, tally] of this.#tallies) counts.of(ordinal)?.move(tally);
    for (const [ordinal, space, dueMs] of this.#dues) counts.of(ordinal)?.sees(space, dueMs);
    counts.kept.d += this.#kept.d;
    counts.kept.x += this.#kept.x;
    for (const { job, end } of this.#ended) {
      if (fates.note()) fates.ended(idOf(job), endingOf(job, end));
      if (end.told) continue;
      listener.ended(
        recordIn(parseRow(rowText(job, end, this.atMs)), pool, lanes.nameOf(job.ordinal)),
      );
    }
    for (const { jobs, ends } of this.#plain) {
      for (const [index, job] of jobs.entries()) {
        if (fates.note()) fates.ended(idOf(job), { state: "done", result: ends[index]?.result });
      }
    }
    if (this.signals) others.wake();
    else others.outdate();
  }
}
