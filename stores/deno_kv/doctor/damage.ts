/**
 * Repairs what no commit can get past: a damaged counter fails every commit that changes it.
 * Of a commit that fails there, what comes before it is kept: so commits count first, and all counters
 * are counted again then.
 *
 * @module
 */

import { countIn } from "../read/counts.ts";
import type { Db } from "../io/db.ts";
import { PoolKeys, SIGNAL_KEY } from "../record/keys.ts";
import { countSpace, setCounter } from "./recount.ts";
import { poolNames } from "../io/upgrade.ts";

/** True if a commit failed because something else is where a number should. */
export function isDamaged(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.message.includes("non-U64");
}

/** Counts again where something else is in place of a counter. */
export async function mendCounters(db: Db): Promise<void> {
  const signal = await db.get<unknown>(SIGNAL_KEY);
  const isBroken = signal.versionstamp !== null && !(signal.value instanceof Deno.KvU64);
  if (isBroken) await setCounter(db, signal, Date.now()); // more than anyone has seen: it only grows
  for (const name of await poolNames(db)) {
    const keys = new PoolKeys(name);
    for (const counter of await db.list<unknown>({ prefix: keys.of("c") })) {
      const [, , , , ordinal, space] = counter.key;
      const isKnown = space === "r" || space === "z" || space === "q" || space === "l" ||
        space === "d" || space === "x";
      if (!isKnown || typeof ordinal !== "number") continue;
      const count = await countSpace({ db, keys }, ordinal, space);
      const isRight = counter.value instanceof Deno.KvU64 && countIn(counter.value) === count;
      if (!isRight) await setCounter(db, counter, count);
    }
  }
}
