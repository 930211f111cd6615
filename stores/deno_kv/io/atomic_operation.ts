/**
 * An atomic operation that knows its size, as the database counts it, and how much it may still take.
 *
 * @module
 */

import type { Db } from "./db.ts";
import { keySize } from "../record/keys.ts";

/** A key and the version it must have. */
export interface Expected {
  /** The key. */
  readonly key: Deno.KvKey;
  /** Its version. `null`: there is no such key. */
  readonly versionstamp: string | null;
}

/** Looks whether a key has the version still. */
export async function isAsItWas(db: Db, { key, versionstamp }: Expected): Promise<boolean> {
  return (await db.get(key)).versionstamp === versionstamp;
}

/** What is put into a commit, or will be. */
export interface Size {
  /** Bytes: each key of a check or change, and of what is set key and value besides. */
  readonly bytes: number;
  /** Bytes of the keys that are set. */
  readonly keyBytes: number;
  /** Keys that are changed. */
  readonly mutations: number;
}

/** How a key is set. */
export interface SetOptions {
  /** It may be dropped after this many ms. */
  readonly expireIn: number;
}

/** A key that is set, or deleted if the value is `undefined`. */
interface Write {
  readonly key: Deno.KvKey;
  readonly value: unknown;
  readonly options: SetOptions | undefined;
}

/** KV allows 819,200. What one job takes at most, with what follows from its end, stays free. */
const FULL_BYTES = 600_000;

/** KV allows 81,920, of keys that are set. */
const FULL_KEY_BYTES = 60_000;

/** KV allows 1000. */
const FULL_MUTATIONS = 800;

/** Bytes of a number of 64 bits. */
const NUMBER_BYTES = 8;

/** Sums up what one commit changes. */
export class AtomicOperation implements Size {
  bytes = 0;
  keyBytes = 0;
  mutations = 0;
  /** Checks so far. */
  checks = 0;
  readonly #atomic: Deno.AtomicOperation;
  readonly #writes: Write[] = [];
  readonly #share: number;
  readonly #db: Db;

  /** Begins with nothing. */
  constructor(db: Db) {
    this.#db = db;
    this.#atomic = db.kv.atomic();
    this.#share = db.allowance.share;
  }

  /** True once no more should be added: the next job might be too much. False while there is nothing. */
  get isFull(): boolean {
    if (this.#share === 0) return this.mutations > 0;
    return this.bytes >= this.#share * FULL_BYTES ||
      this.keyBytes >= this.#share * FULL_KEY_BYTES ||
      this.mutations >= this.#share * FULL_MUTATIONS;
  }

  /** Counts what will be put in later. */
  reserve({ bytes, keyBytes, mutations }: Size): void {
    this.bytes += bytes;
    this.keyBytes += keyBytes;
    this.mutations += mutations;
  }

  /** Makes the commit depend on a key. */
  check({ key, versionstamp }: Expected): void {
    this.#atomic.check({ key, versionstamp });
    this.checks++;
    this.bytes += keySize(key);
  }

  /** Sets a key. `size`: bytes of the value, no fewer than there are. */
  set(key: Deno.KvKey, value: unknown, size: number, options?: SetOptions): void {
    this.#writes.push({ key, value, options });
    this.reserve(sizeOfSet(keySize(key), size));
  }

  /** Deletes a key. */
  delete(key: Deno.KvKey): void {
    this.#writes.push({ key, value: undefined, options: undefined });
    this.mutations++;
    this.bytes += keySize(key);
  }

  /** Changes a counter whose size is reserved. */
  sum(key: Deno.KvKey, change: number): void {
    if (change !== 0) this.#atomic.sum(key, BigInt.asUintN(64, BigInt(change)));
  }

  /**
   * Makes the commit. The version of what it has set. `undefined`: nothing was changed, because a check
   * failed, or because the database refuses so much at once: the next ones take less.
   *
   * @throws {TooLarge} If the database refuses it although it is as small as can be.
   */
  async commit(signals: boolean): Promise<string | undefined> {
    const { allowance } = this.#db;
    // After the counters: of a commit that fails at one that was damaged, what comes before it is kept.
    for (const { key, value, options } of this.#writes) {
      if (value === undefined) this.#atomic.delete(key);
      else this.#atomic.set(key, value, options);
    }
    try {
      const { bytes } = this;
      const version = await this.#db.commit({ atomic: this.#atomic, signals, bytes });
      allowance.taken();
      return version;
    } catch (thrown) {
      if (!isTooLarge(thrown)) throw thrown;
      if (!allowance.refused(this.#share)) throw new TooLarge(thrown);
      return undefined;
    }
  }
}

/** What setting a key takes. */
export function sizeOfSet(keyBytes: number, valueBytes: number): Size {
  return { bytes: 2 * keyBytes + valueBytes, keyBytes, mutations: 1 };
}

/** What changing a counter takes. */
export function sizeOfSum(keyBytes: number): Size {
  return sizeOfSet(keyBytes, NUMBER_BYTES);
}

/** The database refuses what cannot be divided any further. */
export class TooLarge extends RangeError {
  override readonly name = "TooLarge";

  /** Keeps what the database said. */
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/**
 * How much a commit may take: what KV allows, or less where a server has refused that. Owned by the
 * database: all who commit to it learn from what one of them was refused.
 */
export class Allowance {
  /** Share of what KV allows. 0: one job a commit. */
  share = 1;
  #taken = 0;

  /** A commit was refused that was filled up to `share`. False: it could not have been smaller. */
  refused(share: number): boolean {
    this.#taken = 0;
    if (share === 0) {
      this.share = 1; // it was that one job: others are not to be stored one by one for it
      return false;
    }
    const half = share / 2;
    this.share = Math.min(this.share, half < SMALLEST_SHARE ? 0 : half);
    return true;
  }

  /** A commit was made. */
  taken(): void {
    if (this.share === 1 || ++this.#taken < TAKEN) return;
    this.#taken = 0;
    this.share = Math.min(1, Math.max(SMALLEST_SHARE, this.share * 2));
  }
}

/** Below it a commit takes one job. */
const SMALLEST_SHARE = 1 / 128;

/** After this many commits more is tried. */
const TAKEN = 100;

/**
 * What KV says of a commit that is too large in any way, and a server that has limits of its own: one
 * that refuses a request for another reason refuses it for one job as well.
 */
function isTooLarge(thrown: unknown): boolean {
  return thrown instanceof Error && /too large|Too many|status=4(?:00|13)/.test(thrown.message);
}
