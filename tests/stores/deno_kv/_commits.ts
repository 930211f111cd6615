/** Databases whose commits a test has a hand in. */

import { Db } from "../../../stores/deno_kv/io/db.ts";
import { KvStore } from "../../../stores/deno_kv/store.ts";

/** Makes a commit. */
export type Commit = () => Promise<Deno.KvCommitResult | Deno.KvCommitError>;

/** From now on each commit of a handle goes through `through`. */
export function throughCommits(kv: Deno.Kv, through: (commit: Commit) => ReturnType<Commit>): void {
  const atomic = kv.atomic.bind(kv);
  kv.atomic = () => {
    const operation = atomic();
    const commit: Commit = operation.commit.bind(operation);
    operation.commit = () => through(commit);
    return operation;
  };
}

/** Another handle on a database in memory. */
export async function twinOf(kv: Deno.Kv): Promise<Deno.Kv> {
  const twin = await Deno.openKv(":memory:"); // its methods are replaced by those of the other
  for (const name of ["get", "getMany", "list", "watch", "atomic"] as const) {
    Object.assign(twin, { [name]: kv[name].bind(kv) });
  }
  return twin;
}

/** A store that hears of no other process. `nowMs`: how its patience is measured. */
export function deafStore(kv: Deno.Kv, random: () => number, nowMs?: () => number): KvStore {
  const db = new Db(kv, { remote: false, maxChecks: 100, random, nowMs });
  return new KvStore(db, { file: undefined, remote: false, pollMs: Infinity, seen: 0 });
}
