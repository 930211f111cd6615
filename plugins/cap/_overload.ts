/**
 * What `context.overloaded()` leaves of a pool.
 *
 * @module
 */

import type { PoolView } from "../../src/contract/view.ts";

/** What stays when the downstream says so: a saw tooth from 0.85 to 1 of its limit is 93 % of it on average. */
const BACK_OFF = 0.85;
/** One worker comes back after so long, ms, and ten run times: all but one in e^10 were begun at this size then. */
const REGROW_MS = 1000;

/** Additive increase, multiplicative decrease (Chiu and Jain, 1989), by what the downstream says. */
export class OverloadHeard {
  /** How many workers it leaves. `Infinity`: nothing was said. */
  workers = Infinity;
  #atMs = -Infinity;
  #heard: number | undefined;

  /** Listens. True if the pool is to be smaller than before. */
  hear({ nowMs, size, live, lanes, totals: { overloads } }: PoolView): boolean {
    const isSaid = overloads > (this.#heard ?? overloads);
    this.#heard = overloads;
    const runMs = Math.max(...lanes.map(({ meanServiceMs }) => meanServiceMs));
    const quietMs = nowMs - this.#atMs;
    // Before two run times have passed, it speaks of attempts that were begun at the size before.
    if (isSaid && quietMs >= Math.max(REGROW_MS / 5, 2 * runMs)) {
      this.#atMs = nowMs;
      this.workers = Math.max(size.min, 1, Math.floor(BACK_OFF * Math.min(live, this.workers)));
      return true;
    }
    if (this.workers < Infinity && quietMs >= Math.max(REGROW_MS, 10 * runMs)) {
      this.#atMs = nowMs;
      this.workers = this.workers < size.max ? this.workers + 1 : Infinity;
    }
    return false;
  }
}
