/** A database that fails: for tests. */

import { throughCommits } from "./_commits.ts";

/** From now on each `every`th call to any database fails, of each kind in turn: nothing was done then. */
export function failInTurn(every: number): void {
  const open = Deno.openKv;
  const value: typeof open = async (path) => faulty(await open(path), every);
  Object.defineProperty(Deno, "openKv", { value });
}

function faulty(kv: Deno.Kv, every: number): Deno.Kv {
  const kinds = ["get", "list", "commit", "getMany"] as const;
  let [calls, turn] = [0, 0];
  const mayFail = (kind: (typeof kinds)[number]): void => {
    if (++calls >= 2 * every) turn++; // one of a kind that is seldom made may not come
    if (calls < every || kinds[turn % kinds.length] !== kind) return;
    calls = 0;
    turn++;
    throw new TypeError(`disk I/O error in ${kind}`);
  };
  const get = kv.get.bind(kv);
  const getMany = kv.getMany.bind(kv);
  const list = kv.list.bind(kv);
  kv.get = async <T>(...given: Parameters<typeof get>) => {
    mayFail("get");
    return await get<T>(...given);
  };
  kv.getMany = async <T extends readonly unknown[]>(
    ...given: Parameters<typeof getMany<T>>
  ) => {
    mayFail("getMany");
    return await getMany<T>(...given);
  };
  kv.list = <T>(...given: Parameters<typeof list>) => {
    mayFail("list");
    return list<T>(...given);
  };
  throughCommits(kv, async (commit) => {
    mayFail("commit");
    return await commit();
  });
  return kv;
}
