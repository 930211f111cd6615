/**
 * A database file whose calls fail as a test says, and that writes down when it was asked.
 *
 * @module
 */

import type { Store } from "../../src/contract/store.ts";
import { openStore } from "../stores/deno_kv/_store.ts";
import { beforeCalls, type KvCall } from "../stores/deno_kv/_commits.ts";

/** What a test holds of its database. */
export interface KvFault {
  /** Kinds of calls that fail now. */
  failing: readonly KvCall[];
  /** When those were made that failed, ms. */
  readonly failures: number[];
  /** How many calls were made. */
  calls: number;
}

/** Opens a store on a file whose calls fail as `fault` says. `nowMs` reads the clock of the test. */
export async function openFailing(
  path: string,
  fault: KvFault,
  nowMs: () => number,
): Promise<Store> {
  const open = Deno.openKv;
  const value: typeof open = async (path) => failing(await open(path), fault, nowMs);
  Object.defineProperty(Deno, "openKv", { value, configurable: true });
  try {
    return await openStore({ path, pollMs: 60_000 });
  } finally {
    Object.defineProperty(Deno, "openKv", { value: open, configurable: true });
  }
}

function failing(kv: Deno.Kv, fault: KvFault, nowMs: () => number): Deno.Kv {
  const mayFail = (call: KvCall): void => {
    fault.calls++;
    if (!fault.failing.includes(call)) return;
    fault.failures.push(nowMs());
    throw new TypeError(`disk I/O error in ${call}`);
  };
  beforeCalls(kv, mayFail);
  return kv;
}
