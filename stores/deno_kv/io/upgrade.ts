/**
 * Brings a database that an earlier release has written up to the layout of this one.
 *
 * @module
 */

import type { Bytes } from "../record/codec.ts";
import type { Db } from "./db.ts";
import { pointerAt } from "../end/done.ts";
import { POINTERS_KEY, PoolKeys, POOLS } from "../record/keys.ts";

/** Pointers of one commit. */
const TOGETHER = 200;

/** Names of the pools of a database. */
export async function poolNames(db: Pick<Db, "list">): Promise<readonly string[]> {
  const names: string[] = [];
  for (let start = POOLS;;) {
    const selector = names.length === 0 ? { prefix: POOLS } : { prefix: POOLS, start };
    const [first] = await db.list(selector, { limit: 1 });
    if (first === undefined) return names;
    const name = String(first.key[POOLS.length]);
    names.push(name);
    start = [...POOLS, `${name}\u0000`];
  }
}

/**
 * Points at all that is done, once. Earlier releases did not: the one that looked for a done job read all that
 * had ended since it was added.
 */
export async function pointAtDone(db: Db): Promise<void> {
  if ((await db.get(POINTERS_KEY)).value !== null) return;
  for (const name of await poolNames(db)) {
    const keys = new PoolKeys(name);
    let atomic = db.kv.atomic();
    let count = 0;
    for await (const entry of db.entries<Bytes>({ prefix: keys.of("d") }, { batchSize: 50 })) {
      const { segment, first, pointer } = pointerAt(entry);
      atomic.set(keys.of("m", segment, first), pointer);
      if (++count % TOGETHER > 0) continue;
      await db.commit({ atomic, signals: false });
      atomic = db.kv.atomic();
    }
    if (count % TOGETHER > 0) await db.commit({ atomic, signals: false });
  }
  await db.commit({ atomic: db.kv.atomic().set(POINTERS_KEY, 1), signals: false });
}
