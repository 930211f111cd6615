/**
 * One commit in the making: what it checks and changes, and what follows once it is made.
 *
 * An atomic operation that fails midway keeps what came before, so nothing is put into one that the
 * database could refuse: sizes are added up here, and entries are checked before they get here.
 *
 * @module
 */

import { type Bytes, changeLine, earliestExpiry, encode, type Line } from "./codec.ts";
import type { QueueContext } from "./context.ts";
import { noTally, type Tally } from "./counts.ts";
import { type End, outcomeOf, parseRow, recordIn, rowText } from "./ended.ts";
import { tagIn } from "./id.ts";
import { delayOf, idOf, type StoredJob } from "./job.ts";
import { type Counted, keySize, SIGNAL_KEY, type Space } from "./keys.ts";
import { Places } from "./places.ts";

/** KV allows 1000. */
const MOST_MUTATIONS = 700;

/** KV allows 819,200, keys of sets counted twice. */
const MOST_BYTES = 500_000;

/** KV allows 81,920, of keys that are set. */
const MOST_KEY_BYTES = 50_000;

/** Most characters of a value with several lines: no more than 60,000 bytes. */
export const PART_CHARACTERS = 20_000;

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
  readonly text: string;
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
  readonly #ended: Ended[] = [];
  readonly #dues: [ordinal: number, space: Space, dueMs: number][] = [];
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

  /** Sets a key. */
  set(key: Deno.KvKey, value: unknown, size = 64): void {
    this.#atomic.set(key, value);
    const keyBytes = keySize(key);
    this.#mutations++;
    this.#keyBytes += keyBytes;
    this.#bytes += 2 * keyBytes + size;
  }

  /** Sets a key to lines. */
  setBytes(key: Deno.KvKey, bytes: Bytes): void {
    this.set(key, bytes, bytes.length);
  }

  /** Deletes a key. */
  delete(key: Deno.KvKey): void {
    this.#atomic.delete(key);
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

  /** Ends a job that has been taken from where it was. */
  end(job: StoredJob, end: End): void {
    const { keys, keep } = this.#context;
    const extra = job.line[3];
    const text = end.state === "dead" || keep.done > 0 ? rowText(job, end, this.atMs) : "";
    if (extra?.d !== undefined) this.delete(keys.of("i", extra.d));
    this.#bytes += text.length;
    this.#ended.push({ job, end, text });
    const isKept = end.state === "dead" && keep.dead > 0;
    if (isKept) {
      this.setBytes(keys.of("x", this.atMs, job.segment, job.index), encode(text));
      this.set(keys.of("m", job.segment, job.index), ["x", this.atMs, ""]);
      this.#kept.x++;
    } else {
      const staysKnown = end.state !== "dead" && keep.done > 0 && extra?.b !== undefined;
      if (staysKnown) this.set(keys.of("m", job.segment, job.index), ["d", this.atMs, ""]);
      else this.forget(job);
    }
  }

  /** Deletes what is stored of a job beside its line. */
  forget({ segment, index, line }: Pick<StoredJob, "segment" | "index" | "line">): void {
    const { keys } = this.#context;
    const extra = line[3];
    if (extra?.o !== undefined) this.delete(keys.of("m", segment, index));
    for (let chunk = 0; chunk < (extra?.b ?? 0); chunk++) {
      this.delete(keys.of("b", tagIn(segment), segment, index, chunk));
    }
  }

  /** Makes the commit. False: a check failed, and nothing was changed. */
  async commit(): Promise<boolean> {
    const { db, counts } = this.#context;
    this.places.write(this);
    this.#writeDone();
    this.#writeCounts();
    counts.inFlight++;
    try {
      if (!await db.commit({ atomic: this.#atomic, signals: this.signals })) return false;
    } finally {
      counts.inFlight--;
      counts.changes++;
    }
    this.#follow();
    return true;
  }

  #writeDone(): void {
    const { keys, keep, holder } = this.#context;
    const rows = this.#ended.filter(({ end }) => end.state !== "dead");
    if (keep.done === 0 || rows.length === 0) return;
    const surplus = rows.splice(0, Math.max(0, rows.length - keep.done));
    for (const { job } of surplus) this.forget(job);
    this.#kept.d += rows.length;
    for (let from = 0; from < rows.length;) {
      let to = from;
      let size = 0;
      do size += rows[to++]!.text.length + 1; while (
        to < rows.length && to - from < PART_LINES && size + rows[to]!.text.length < PART_CHARACTERS
      );
      const lines = rows.slice(from, to).map(({ text }) => text).join("\n");
      this.setBytes(keys.of("d", this.atMs, holder.names.next(this.atMs)), encode(lines));
      from = to;
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
    for (const { job, end, text } of this.#ended) {
      fates.ended(() => idOf(job), () => outcomeOf(job, end));
      if (end.told) continue;
      const row = text === "" ? rowText(job, end, this.atMs) : text;
      listener.ended(recordIn(parseRow(row), pool, lanes.nameOf(job.ordinal)));
    }
    if (this.signals) others.wake();
    else others.outdate();
  }
}
