/**
 * The head of a lane as this process knows it without reading: what it has read once, moved by its own
 * commits since. Each claim still checks the version of what it takes, so a shelf may be wrong, and only
 * costs a commit then. Without it a process alone reads 1.2 to 1.5 times as often (bench/README.md).
 *
 * @module
 */

import { type Bytes, countJobs } from "../record/codec.ts";
import { numberAt, textAt } from "../record/keys.ts";

/** Most parts known of a lane. */
const MOST_PARTS = 64;

/** The first parts of one lane, none left out. */
export class HeadCache {
  /** When it was read from the first part on, by the clock of who asked. */
  readAtMs = -Infinity;
  /** How often others had put something down before. */
  asOf = 0;
  #parts: Deno.KvEntry<Bytes>[] = [];
  readonly #jobs = new WeakMap<Bytes, number>(); // in a part, by its bytes: only those that were asked for
  #whole = false;
  /** All parts up to this one are known. `undefined`: none is, unless all are. */
  #upTo: Deno.KvKey | undefined;
  /** What was put down and taken away since a read began, which may not have seen it. */
  #since: (() => void)[] | undefined;

  /** The first parts, oldest first. */
  get parts(): readonly Deno.KvEntry<Bytes>[] {
    return this.#parts;
  }

  /** True if there are no others. */
  get whole(): boolean {
    return this.#whole;
  }

  /** When the job with this many others before it is due. `undefined`: it is not known. */
  dueMs(earlier: number): number | undefined {
    let left = earlier;
    for (const { key, value } of this.#parts) {
      left -= this.#jobsIn(value);
      if (left < 0) return numberAt(key, 5);
    }
    return undefined;
  }

  /** True if any part is known, or that there is none. */
  get isKnown(): boolean {
    return this.#whole || this.#upTo !== undefined;
  }

  /** Parts are read from now on. */
  reads(): void {
    this.#since = [];
  }

  /** All parts are read from now on: nothing that was known before holds. */
  readsAnew(nowMs: number, asOf: number): void {
    this.forget();
    this.reads();
    this.readAtMs = nowMs;
    this.asOf = asOf;
  }

  /** Adds what was read behind `after`, without that from the start. `whole`: nothing stood behind that. */
  extend(
    after: Deno.KvKey | undefined,
    entries: readonly Deno.KvEntry<Bytes>[],
    whole: boolean,
  ): void {
    const since = this.#since;
    this.#since = undefined;
    if (since === undefined || this.#whole) return; // all is known, or others have changed something
    if (after !== undefined && !this.#reaches(after)) return; // what is before it is not known any more
    this.#parts.push(...entries.filter(({ key }) => !this.#reaches(key)));
    this.#upTo = this.#parts.at(-1)?.key;
    this.#whole = whole;
    for (const change of since) change();
  }

  /** Nothing is known any more. */
  forget(): void {
    this.#parts = [];
    this.#whole = false;
    this.#upTo = undefined;
    this.#since = undefined;
  }

  /** The lane is empty. */
  clear(asOf: number): void {
    this.forget();
    this.#whole = true;
    this.asOf = asOf;
  }

  /** A part was put down. */
  put(entry: Deno.KvEntry<Bytes>): void {
    this.#since?.push(() => this.put(entry));
    if (!this.#whole && !this.#reaches(entry.key)) return; // others may stand before it
    const at = this.#parts.findLastIndex(({ key }) => compare(key, entry.key) <= 0);
    const isKnown = at >= 0 && compare(this.#parts[at]!.key, entry.key) === 0;
    this.#parts.splice(isKnown ? at : at + 1, isKnown ? 1 : 0, entry);
    if (this.#parts.length <= MOST_PARTS) return;
    this.#parts.pop();
    this.#whole = false;
    this.#upTo = this.#parts.at(-1)!.key;
  }

  /** A part was taken away. */
  drop(key: Deno.KvKey): void {
    this.#since?.push(() => this.drop(key));
    const at = this.#parts.findIndex((part) => compare(part.key, key) === 0);
    if (at >= 0) this.#parts.splice(at, 1);
  }

  #jobsIn(value: Bytes): number {
    let jobs = this.#jobs.get(value);
    if (jobs === undefined) this.#jobs.set(value, jobs = countJobs(value));
    return jobs;
  }

  /** True if a part would be known, were it there. */
  #reaches(key: Deno.KvKey): boolean {
    return this.#upTo !== undefined && compare(key, this.#upTo) <= 0;
  }
}

/** The order of two keys of one lane. */
function compare(a: Deno.KvKey, b: Deno.KvKey): number {
  const [one, other] = [textAt(a, 6), textAt(b, 6)];
  return numberAt(a, 5) - numberAt(b, 5) || (one < other ? -1 : one > other ? 1 : 0) ||
    numberAt(a, 7) - numberAt(b, 7);
}
