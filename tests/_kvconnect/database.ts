/**
 * What a KV Connect server keeps: keys in SQLite, with the limits that denokv holds.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { DatabaseSync } from "node:sqlite";
import {
  type AtomicWrite,
  Encoding,
  type Entry,
  type Mutation,
  MutationType,
  type ReadRange,
} from "./messages.ts";
import { type Bytes, NO_BYTES } from "./wire.ts";

/** A request that no repetition makes right. */
export class BadRequest extends Error {}

/** What came of a write. */
export type Written = { readonly versionstamp: Bytes } | { readonly failed: readonly number[] };

/** Limits that denokv holds (proto/limits.rs), those on checks aside. */
const MOST = {
  ranges: 10,
  entries: 1000,
  keyBytes: 2048,
  valueBytes: 65_536,
  mutations: 1000,
  writeBytes: 819_200,
} as const;

/** Expired keys are dropped so long after the last time, ms: until then they are read. */
const SWEEP_MS = 1000;

interface Row {
  readonly k: Bytes;
  readonly v: Bytes;
  readonly e: number;
  readonly s: number;
}

/** Keys and their values. */
export class Database {
  readonly #db: DatabaseSync;
  readonly #maxChecks: number;
  readonly #writeBytes: number;
  readonly #watchers = new Set<Watcher>();
  #sweptAtMs = 0;

  /** Opens a file, or `:memory:`. */
  constructor(path: string, maxChecks: number, writeBytes: number = MOST.writeBytes) {
    this.#db = new DatabaseSync(path);
    this.#maxChecks = maxChecks;
    this.#writeBytes = writeBytes;
    this.#db.exec(`pragma journal_mode = wal; pragma synchronous = full;
      create table if not exists kv
        (k blob primary key, v blob not null, e integer not null, s integer not null, x integer not null)
        without rowid;
      create table if not exists version (one integer primary key, s integer not null);
      insert or ignore into version values (1, 0);`);
  }

  /** Reads ranges, all at one moment. */
  read(ranges: readonly ReadRange[]): readonly (readonly Entry[])[] {
    if (ranges.length > MOST.ranges) throw new BadRequest("Too many ranges");
    this.#sweep();
    let left: number = MOST.entries;
    return ranges.map(({ start, end, limit, reverse }) => {
      if (start.length > MOST.keyBytes + 1 || end.length > MOST.keyBytes + 1) {
        throw new BadRequest("Key too large");
      }
      if ((left -= limit) < 0) throw new BadRequest("Too many entries");
      const rows = this.#all(
        `select k, v, e, s from kv where k >= ? and k < ? order by k ${
          reverse ? "desc" : "asc"
        } limit ?`,
        start,
        end,
        limit,
      );
      return rows.map(entryOf);
    });
  }

  /** Makes all changes, or none if a check fails. */
  write({ checks, mutations }: AtomicWrite): Written {
    this.#hold(checks.length, mutations);
    this.#sweep();
    this.#db.exec("begin immediate");
    try {
      const failed = checks.flatMap(({ key, versionstamp }, index) =>
        isSame(this.get(key)?.versionstamp ?? NO_BYTES, versionstamp) ? [] : [index]
      );
      if (failed.length > 0) {
        this.#db.exec("rollback");
        return { failed };
      }
      const [version] = this.#all("update version set s = s + 1 returning s") as { s: number }[];
      const number = version!.s; // the table has one row
      for (const mutation of mutations) this.#change(mutation, number);
      this.#db.exec("commit");
      this.#tell(mutations);
      return { versionstamp: versionstampOf(number) };
    } catch (thrown) {
      if (this.#db.isTransaction) this.#db.exec("rollback");
      throw thrown;
    }
  }

  /** Reads one key. */
  get(key: Bytes): Entry | undefined {
    const [row] = this.#all("select k, v, e, s from kv where k = ?", key);
    return row === undefined ? undefined : entryOf(row);
  }

  /** How many keys there are. */
  get size(): number {
    const [row] = this.#all("select count(*) as n from kv") as unknown as { n: number }[];
    return row!.n; // an aggregate has one row
  }

  /** Calls `changed` after each write to one of the keys, until what it returns is called. */
  watch(keys: readonly Bytes[], changed: () => void): () => void {
    const watcher = { keys: new Set(keys.map(nameOf)), changed };
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  /** Closes the file. */
  close(): void {
    this.#db.close();
  }

  #hold(checks: number, mutations: readonly Mutation[]): void {
    if (checks > this.#maxChecks) throw new BadRequest("Too many checks");
    if (mutations.length > MOST.mutations) throw new BadRequest("Too many mutations");
    let bytes = 0;
    for (const { key, value } of mutations) {
      if (key.length > MOST.keyBytes) throw new BadRequest("Key too large");
      if (value.length > MOST.valueBytes) throw new BadRequest("Value too large");
      bytes += key.length + value.length;
    }
    if (bytes > this.#writeBytes) throw new BadRequest("Write too large");
  }

  #change({ key, value, encoding, type, expiresAtMs }: Mutation, version: number): void {
    switch (type) {
      case MutationType.set:
        return this.#put(key, value, encoding, version, expiresAtMs);
      case MutationType.setVersioned: {
        const suffix = Buffer.from(`\x02${nameOf(versionstampOf(version))}\x00`, "latin1");
        const versioned = Uint8Array.from([...key, ...suffix]);
        return this.#put(versioned, value, encoding, version, expiresAtMs);
      }
      case MutationType.delete:
        this.#all("delete from kv where k = ?", key);
        return;
      case MutationType.sum:
      case MutationType.max:
      case MutationType.min:
        return this.#put(key, this.#reckoned(key, value, type), Encoding.le64, version, 0);
      default:
        throw new BadRequest(`Expected a mutation of a known type but received ${type}`);
    }
  }

  #reckoned(key: Bytes, value: Bytes, type: number): Bytes {
    const before = this.get(key);
    if (value.length !== 8 || (before !== undefined && before.encoding !== Encoding.le64)) {
      throw new BadRequest("Expected a 64-bit number");
    }
    if (before === undefined) return value;
    const [a, b] = [numberIn(before.value), numberIn(value)];
    const result = type === MutationType.sum
      ? BigInt.asUintN(64, a + b)
      : (type === MutationType.max) === (a > b)
      ? a
      : b;
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setBigUint64(0, result, true);
    return bytes;
  }

  #put(key: Bytes, value: Bytes, encoding: number, version: number, expiresAtMs: number): void {
    this.#all(
      "insert or replace into kv values (?, ?, ?, ?, ?)",
      key,
      value,
      encoding,
      version,
      expiresAtMs,
    );
  }

  #tell(mutations: readonly Mutation[]): void {
    const names = new Set(mutations.map(({ key }) => nameOf(key)));
    for (const { keys, changed } of [...this.#watchers]) {
      if (!keys.isDisjointFrom(names)) changed();
    }
  }

  #sweep(): void {
    const nowMs = Date.now();
    if (nowMs - this.#sweptAtMs < SWEEP_MS) return;
    this.#sweptAtMs = nowMs;
    this.#all("delete from kv where x > 0 and x <= ?", nowMs);
  }

  readonly #statements = new Map<string, ReturnType<DatabaseSync["prepare"]>>();

  #all(sql: string, ...values: (Bytes | number)[]): Row[] {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement.all(...values) as unknown as Row[]; // each statement selects what is in a row
  }
}

interface Watcher {
  readonly keys: ReadonlySet<string>;
  readonly changed: () => void;
}

function entryOf({ k, v, e, s }: Row): Entry {
  return { key: k, value: v, encoding: e, versionstamp: versionstampOf(s) };
}

function versionstampOf(version: number): Bytes {
  const bytes = new Uint8Array(10);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(version));
  return bytes;
}

function numberIn(bytes: Bytes): bigint {
  return new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0, true);
}

function nameOf(bytes: Bytes): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex");
}

function isSame(a: Bytes, b: Bytes): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
