/**
 * What all pools of a database share, checked: its version, the signal, the number of the latest member.
 *
 * @module
 */

import type { Db } from "./io/db.ts";
import { MEMBERS_KEY, PoolKeys, SCHEMA, SCHEMA_KEY, SIGNAL_KEY } from "./record/keys.ts";
import type { Mend, StoreFault } from "./doctor/inventory.ts";
import { highestMember } from "./members/membership.ts";
import { poolNames } from "./io/upgrade.ts";

/** What is called a pool where none is meant. */
const ALL = "(all pools)";

/** What is wrong in it. */
export async function findShared(
  db: Db,
): Promise<readonly (StoreFault & { readonly pool: string })[]> {
  const [version, signal, memberIds] = await db.getMany<unknown>([
    SCHEMA_KEY,
    SIGNAL_KEY,
    MEMBERS_KEY,
  ]);
  const faults: (StoreFault & { readonly pool: string })[] = [];
  const fault = (kind: StoreFault["kind"], saw: string, repair: string, mend: Mend): void => {
    faults.push({ pool: ALL, kind, saw, repair, mends: [mend] });
  };
  if (version?.versionstamp !== null && typeof version?.value !== "number") {
    const saw = "The version of the database cannot be read";
    fault("unreadable", saw, `set it to ${SCHEMA}`, [SCHEMA_KEY, SCHEMA]);
  }
  if (signal?.versionstamp !== null && !(signal?.value instanceof Deno.KvU64)) {
    const value = new Deno.KvU64(BigInt(Date.now())); // more than anyone has seen: it only grows
    const saw = "The signal between processes is not a number";
    fault("unreadable", saw, "reset it", [SIGNAL_KEY, value]);
  }
  let highest = 0;
  for (const name of await poolNames(db)) {
    highest = Math.max(highest, await highestMember(db, new PoolKeys(name)));
  }
  const latest = memberIds?.value ?? 0;
  if (typeof latest !== "number" || latest < highest) {
    const is = typeof latest === "number" ? latest : "no number";
    const saw =
      `The number of the latest member is ${is}, but there are records of member ${highest}`;
    fault("member-broken", saw, `set it to ${highest}`, [MEMBERS_KEY, highest]);
  }
  return faults;
}
