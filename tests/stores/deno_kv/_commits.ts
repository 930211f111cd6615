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

/** Kinds of calls to a database. */
export type KvCall = "get" | "getMany" | "list" | "commit";

/** From now on `before` is called before each call of a handle: what it throws is what the call does. */
export function beforeCalls(kv: Deno.Kv, before: (call: KvCall) => void): void {
  const get = kv.get.bind(kv);
  const getMany = kv.getMany.bind(kv);
  const list = kv.list.bind(kv);
  kv.get = async <T>(...given: Parameters<typeof get>) => {
    before("get");
    return await get<T>(...given);
  };
  kv.getMany = async <T extends readonly unknown[]>(...given: Parameters<typeof getMany<T>>) => {
    before("getMany");
    return await getMany<T>(...given);
  };
  kv.list = <T>(...given: Parameters<typeof list>) => {
    before("list");
    return list<T>(...given);
  };
  throughCommits(kv, async (commit) => {
    before("commit");
    return await commit();
  });
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
