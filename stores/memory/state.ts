/**
 * Shared state of the memory store, with compare-and-set.
 *
 * @module
 */

import type { StateEntry } from "../../src/contract/store.ts";

/** Keys with values and versions. Values are copied in and frozen: no one changes them but by `commit`. */
export class MemoryState {
  readonly #entries = new Map<string, StateEntry>();
  #version = 0;

  /** Reads a key. */
  get(key: string): StateEntry | undefined {
    return this.#entries.get(key);
  }

  /** Keys with a prefix, in their order, with what is there. */
  under(prefix: string): readonly (readonly [key: string, entry: StateEntry])[] {
    const found = [...this.#entries].filter(([key]) => key.startsWith(prefix));
    return found.sort(([a], [b]) => a < b ? -1 : 1);
  }

  /** Sets keys if all of `checks` have the versions given. False: nothing was changed. */
  commit(
    checks: Readonly<Record<string, string | undefined>>,
    sets: Readonly<Record<string, unknown>>,
  ): boolean {
    for (const [key, version] of Object.entries(checks)) {
      if (this.#entries.get(key)?.version !== version) return false;
    }
    // Copied before the first change: a value that cannot be copied throws, and nothing is set.
    const copies = structuredClone(Object.entries(sets));
    for (const [key, value] of copies) {
      if (value === undefined) this.#entries.delete(key);
      else {
        const entry = { value: freeze(value), version: `${++this.#version}` };
        this.#entries.set(key, Object.freeze(entry));
      }
    }
    return true;
  }

  /** Forgets all. */
  clear(): void {
    this.#entries.clear();
  }
}

function freeze(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const part of Object.values(value)) freeze(part);
  return value;
}
