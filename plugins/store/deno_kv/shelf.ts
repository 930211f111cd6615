/**
 * The head of a lane as this process knows it without reading: what it has read once, moved by its own
 * commits since. Each claim still checks the version of what it takes, so a shelf may be wrong, and only
 * costs a commit then.
 *
 * @module
 */

import type { Bytes } from "./codec.ts";
import { numberAt, textAt } from "./keys.ts";

/** Most parts known of a lane. */
const MOST_PARTS = 64;

/** The first parts of one lane, none left out. */
export class Shelf {
  /** How often something was put down in the lane: what is read meanwhile may not hold it. */
  puts = 0;
  #parts: Deno.KvEntry<Bytes>[] = [];
  #whole = false;

  /** The first parts, oldest first. */
  get parts(): readonly Deno.KvEntry<Bytes>[] {
    return this.#parts;
  }

  /** True if there are no others. */
  get whole(): boolean {
    return this.#whole;
  }

  /** Adds what stands behind the parts that are known. `whole`: nothing stands behind that. */
  extend(entries: readonly Deno.KvEntry<Bytes>[], whole: boolean): void {
    this.#parts.push(...entries);
    this.#whole = whole;
    this.#limit();
  }

  /** Nothing is known any more. */
  forget(): void {
    this.#parts = [];
    this.#whole = false;
  }

  /** The lane is empty. */
  clear(): void {
    this.#parts = [];
    this.#whole = true;
  }

  /** A part was put down. What comes before it is not known unless something behind it is. */
  put(entry: Deno.KvEntry<Bytes>): void {
    this.puts++;
    const at = this.#parts.findLastIndex(({ key }) => compare(key, entry.key) <= 0);
    const isKnown = at >= 0 && compare(this.#parts[at]!.key, entry.key) === 0;
    if (isKnown) this.#parts[at] = entry;
    else if (this.#whole || at + 1 < this.#parts.length) this.#parts.splice(at + 1, 0, entry);
    this.#limit();
  }

  /** A part was taken away. */
  drop(key: Deno.KvKey): void {
    const at = this.#parts.findIndex((part) => compare(part.key, key) === 0);
    if (at >= 0) this.#parts.splice(at, 1);
  }

  #limit(): void {
    if (this.#parts.length <= MOST_PARTS) return;
    this.#parts.length = MOST_PARTS;
    this.#whole = false;
  }
}

/** The order of two keys of one lane. */
function compare(a: Deno.KvKey, b: Deno.KvKey): number {
  const [one, other] = [textAt(a, 6), textAt(b, 6)];
  return numberAt(a, 5) - numberAt(b, 5) || (one < other ? -1 : one > other ? 1 : 0) ||
    numberAt(a, 7) - numberAt(b, 7);
}
