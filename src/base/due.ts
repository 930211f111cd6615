/**
 * When a leased job was due, whether or not its store says so.
 *
 * @module
 */

import type { Leased } from "../contract/store.ts";

/** When it was due. */
export function dueAtOf({ dueAtMs, readyAtMs }: Pick<Leased, "dueAtMs" | "readyAtMs">): number {
  return dueAtMs ?? readyAtMs;
}

/** True if it was blocked by its key after it was due. */
export function wasBlocked({ dueAtMs, readyAtMs }: Pick<Leased, "dueAtMs" | "readyAtMs">): boolean {
  return dueAtMs !== undefined && dueAtMs < readyAtMs;
}
