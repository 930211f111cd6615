/**
 * Reads that several looks share: what one of them has read is not read again.
 *
 * @module
 */

import type { Db, RangeOptions } from "../io/db.ts";

/** What looking for jobs takes. */
export type Readable = Pick<Db, "get" | "list" | "entries">;

/** Remembers what it has read of a database. A commit that changes it checks its version. */
export class SharedReads implements Readable {
  readonly #db: Db;
  readonly #known = new Map<string, Promise<unknown>>();

  /** Knows nothing yet. */
  constructor(db: Db) {
    this.#db = db;
  }

  /** Reads keys that are going to be asked for: those that differ in their last part only, together. */
  async prefetch(keys: readonly Deno.KvKey[]): Promise<void> {
    const groups = Map.groupBy(keys, (key) => nameOf(key.slice(0, -1)));
    const alone: Deno.KvKey[] = [];
    for (const group of groups.values()) {
      if (group.length === 1) alone.push(...group);
      else await this.#prefetchGroup(group);
    }
    for (const entry of await this.#db.getMany(alone)) this.#know(entry);
  }

  async #prefetchGroup(group: readonly Deno.KvKey[]): Promise<void> {
    const prefix = group[0]!.slice(0, -1); // a group is not empty
    for (const key of group) this.#know({ key, value: null, versionstamp: null });
    for (const entry of await this.#db.list({ prefix })) this.#know(entry);
  }

  #know(entry: Deno.KvEntryMaybe<unknown>): void {
    this.#known.set(nameOf(entry.key), Promise.resolve(entry));
  }

  /** Reads one key. */
  get<T>(key: Deno.KvKey): Promise<Deno.KvEntryMaybe<T>> {
    return this.#once(nameOf(key), () => this.#db.get<T>(key));
  }

  /** Reads entries in the order of their keys. */
  list<T>(selector: Deno.KvListSelector, options: RangeOptions = {}): Promise<Deno.KvEntry<T>[]> {
    const name = JSON.stringify([selector, options]);
    return this.#once(name, () => this.#db.list<T>(selector, options));
  }

  /** Reads entries for as long as they are asked for. These are not remembered. */
  entries<T>(
    selector: Deno.KvListSelector,
    options?: RangeOptions,
  ): AsyncIterable<Deno.KvEntry<T>> {
    return this.#db.entries<T>(selector, options);
  }

  #once<T>(name: string, read: () => Promise<T>): Promise<T> {
    const known = this.#known.get(name) ?? read();
    this.#known.set(name, known);
    return known as Promise<T>; // the name says what is read
  }
}

function nameOf(key: Deno.KvKey): string {
  return JSON.stringify(key);
}
