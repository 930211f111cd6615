/**
 * Jobs that put their payload in the place of that of an earlier one with the same dedupe key, while that
 * has not been leased.
 *
 * @module
 */

import { dueAgain, UNTIL_LEASED } from "../../../src/base/dedupe.ts";
import { checksum, chunksIn } from "./chunks.ts";
import type { Item } from "./conditional_add.ts";
import { changeLine, encode, type JobLine } from "../record/codec.ts";
import type { QueueContext } from "../context.ts";
import { addedAtMs } from "../members/restamp.ts";
import { locate, type WaitingAt } from "../read/locate.ts";
import { tagIn } from "../record/id.ts";
import { delayOf } from "../record/job.ts";
import { type Owner, ownerSize } from "../limit/names.ts";
import type { Transaction } from "../transaction.ts";

/** What is written beside a line, at most: pointer, owner and the counters of a lane, bytes. */
const BESIDE_BYTES = 4000;

/** An earlier job with what it is to work on. */
interface Repeat {
  readonly found: WaitingAt;
  readonly item: Item;
  readonly dueMs: number;
}

/** The repeats of one commit. */
export class Repeats {
  readonly #context: QueueContext;
  readonly #transaction: Transaction;
  readonly #byId = new Map<string, Repeat>();
  #isAlone = false;

  /** Begins with none. */
  constructor(context: QueueContext, transaction: Transaction) {
    this.#context = context;
    this.#transaction = transaction;
  }

  /** True if nothing else is to go with them. */
  get isAlone(): boolean {
    return this.#isAlone;
  }

  /** True if there is something to write. */
  get any(): boolean {
    return this.#byId.size > 0;
  }

  /**
   * Notes a repeat of the job that has a key. `kept`: its job is not to be changed, and that is no more than
   * a duplicate. `lost`: the key is another's by now. `alone`: it takes a commit of its own.
   */
  async note(
    item: Item,
    { key, value, versionstamp }: Deno.KvEntryMaybe<Owner>,
    isFirst: boolean,
  ): Promise<"noted" | "kept" | "lost" | "alone"> {
    const id = value?.[0] ?? "";
    const { db } = this.#context;
    const before = this.#byId.get(id);
    const found = before?.found ?? await locate(this.#context, id);
    const isWaiting = found !== undefined && !("ended" in found) && found.kind !== "l";
    const extra = isWaiting ? found.job.line[3] : undefined;
    if (!isWaiting || extra?.i !== UNTIL_LEASED) {
      return (await db.get(key)).versionstamp === versionstamp ? "kept" : "lost";
    }
    const { job, entry, kind } = found;
    const { b: chunks, h: hasSlot } = extra;
    const isMuch = item.apart > 0 || chunks !== undefined;
    if (isMuch && !isFirst) return "alone";
    this.#isAlone = isMuch;
    if (before === undefined) this.#transaction.check(entry);
    this.#transaction.reserve(entry.key, entry.value.length + BESIDE_BYTES + 3 * item.bytes);
    const dueMs = before?.dueMs ?? job.dueMs;
    const isDelayed = kind === "z" && hasSlot !== 1 && dueMs > item.atMs;
    const createdAtMs = addedAtMs(job);
    const nextMs = isDelayed ? dueAgain(item.entry, { createdAtMs, dueAtMs: dueMs }) : dueMs;
    this.#byId.set(id, { found, item, dueMs: Math.ceil(nextMs) });
    return "noted";
  }

  /** Adds them to the commit. Called once. */
  write(): void {
    const { keys } = this.#context;
    const transaction = this.#transaction;
    for (const [id, { found: { kind, entry, job }, item, dueMs }] of this.#byId) {
      const { ordinal, segment, index, line: [attempts, leases, , extra = {}] } = job;
      const { type, traceparent, expiresAtMs, payload } = item.entry;
      const bytes = item.apart > 0 ? encode(item.payload ?? "") : undefined;
      const chunks = bytes === undefined ? [] : chunksIn(bytes);
      const chunkKey = (chunk: number): Deno.KvKey =>
        keys.of("b", tagIn(segment), segment, index, chunk);
      for (let old = chunks.length; old < (extra.b ?? 0); old++) transaction.delete(chunkKey(old));
      for (const [chunk, part] of chunks.entries()) transaction.setBytes(chunkKey(chunk), part);
      const inline = bytes === undefined ? payload ?? null : null;
      const x = expiresAtMs < Infinity ? expiresAtMs : undefined;
      const line: JobLine = changeLine([attempts, leases, inline, extra], {}, {
        t: type === "" ? undefined : type,
        p: traceparent,
        x,
        u: item.payload === undefined ? 1 : undefined,
        ...(bytes === undefined
          ? { b: undefined, c: undefined }
          : { b: chunks.length, c: checksum(bytes), o: delayOf(job) }),
      });
      transaction.delete(entry.key);
      transaction.count(ordinal, kind, -1);
      const key = kind === "q" ? extra.k : undefined;
      transaction.put(kind, { ...job, line, text: JSON.stringify(line) }, dueMs, key);
      if (x === extra.x || extra.d === undefined) continue;
      const owner: Owner = [id, x ?? 0];
      transaction.set(keys.of("i", extra.d), owner, ownerSize(owner));
    }
  }
}
