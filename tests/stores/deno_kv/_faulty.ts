/** A database that fails: for tests. */

import { beforeCalls, type KvCall } from "./_commits.ts";

/** From now on each `every`th call to any database fails, of each kind in turn: nothing was done then. */
export function failInTurn(every: number): void {
  const open = Deno.openKv;
  const value: typeof open = async (path) => faulty(await open(path), every);
  Object.defineProperty(Deno, "openKv", { value });
}

function faulty(kv: Deno.Kv, every: number): Deno.Kv {
  const kinds: readonly KvCall[] = ["get", "list", "commit", "getMany"];
  let [calls, turn] = [0, 0];
  const mayFail = (kind: KvCall): void => {
    if (++calls >= 2 * every) turn++; // one of a kind that is seldom made may not come
    if (calls < every || kinds[turn % kinds.length] !== kind) return;
    calls = 0;
    turn++;
    throw new TypeError(`disk I/O error in ${kind}`);
  };
  beforeCalls(kv, mayFail);
  return kv;
}
