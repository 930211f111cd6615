/** A database that counts what is read of it, and what is committed. */

import { Db } from "../../../stores/deno_kv/io/db.ts";
import { KvStore } from "../../../stores/deno_kv/store.ts";
import { throughCommits } from "./_commits.ts";

/** What was done since it was asked last. */
export interface Cost {
  /** Requests that read. */
  readonly reads: number;
  /** Bytes of what they brought. */
  readonly bytes: number;
  /** Commits. */
  readonly commits: number;
}

/** A store on a database in memory whose costs are counted. */
export interface Counted {
  readonly kv: Deno.Kv;
  readonly store: KvStore;
  /** The cost since the last call. */
  cost(): Cost;
}

/** Opens one. */
export async function openCounted(path = ":memory:"): Promise<Counted> {
  const kv = await Deno.openKv(path);
  let [reads, bytes, commits] = [0, 0, 0];
  const sizeOf = (value: unknown): number => value instanceof Uint8Array ? value.length : 16;
  const [get, getMany, list] = [kv.get.bind(kv), kv.getMany.bind(kv), kv.list.bind(kv)];
  Object.assign(kv, {
    get: async (key: Deno.KvKey) => {
      const entry = await get(key);
      reads++;
      bytes += sizeOf(entry.value);
      return entry;
    },
    getMany: async (keys: Deno.KvKey[]) => {
      const entries = await getMany(keys);
      reads++;
      for (const { value } of entries) bytes += sizeOf(value);
      return entries;
    },
    list: (selector: Deno.KvListSelector, options: Deno.KvListOptions = {}) => {
      const read = list(selector, options);
      const next = read.next.bind(read);
      const batch = options.batchSize ?? options.limit ?? 100;
      let left = 0;
      read.next = async () => {
        if (left-- === 0) {
          reads++;
          left = batch - 1;
        }
        const answer = await next();
        if (answer.done !== true) bytes += sizeOf(answer.value.value);
        return answer;
      };
      return read;
    },
  });
  throughCommits(kv, (commit) => {
    commits++;
    return commit();
  });
  const db = new Db(kv, { remote: false, maxChecks: 100, random: () => 0.1 });
  return {
    kv,
    store: new KvStore(db, { file: undefined, remote: false, pollMs: Infinity, seen: 0 }),
    cost() {
      const cost = { reads, bytes, commits };
      [reads, bytes, commits] = [0, 0, 0];
      return cost;
    },
  };
}
