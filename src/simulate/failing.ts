/**
 * Which strategies fail while a process runs.
 *
 * @module
 */

import type { PoolEvent } from "../contract/event.ts";
import { thousandths } from "../base/format.ts";
import type { FailingStrategy } from "./report.ts";

/** The strategies of one process that failed, each when it did first. */
export class Failing {
  readonly #startMs: number;
  readonly #byPool = new Map<string, Map<string, FailingStrategy>>();

  /** @param startMs When the scenario began, ms since epoch. */
  constructor(startMs: number) {
    this.#startMs = startMs;
  }

  /** Those of one pool, in the order in which they failed. */
  of(pool: string): readonly FailingStrategy[] {
    return [...this.#byPool.get(pool)?.values() ?? []];
  }

  /** Takes an event in. */
  readonly hear = (event: PoolEvent): void => {
    if (event.kind !== "plugin-failed") return;
    const { pool, plugin, error, atMs } = event;
    const known = this.#byPool.get(pool) ?? new Map<string, FailingStrategy>();
    this.#byPool.set(pool, known);
    if (known.has(plugin)) return;
    known.set(plugin, { plugin, error, atMs: thousandths(atMs - this.#startMs) });
  };
}
