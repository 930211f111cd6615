/**
 * Erlang's formulas: how often and how long jobs wait for a worker under random arrivals.
 *
 * Arrivals are Poisson, run times exponential: a queue M/M/c. Even arrivals and even run times wait
 * less, so what holds here holds for them.
 *
 * @module
 */

/** A queue M/M/c. */
export interface Servers {
  /** Workers, whole, >= 0. */
  readonly workers: number;
  /** Offered load, erlangs: arrivals per second times mean run time in seconds. >= 0. */
  readonly load: number;
  /** Mean run time, ms, > 0. */
  readonly serviceMs: number;
}

/** Offered load by Little's law, erlangs: the workers that are busy on average. */
export function offeredLoad(perSec: number, serviceMs: number): number {
  return perSec * serviceMs / 1000;
}

/**
 * Share of jobs that find all workers busy where none may wait.
 *
 * `B(0, a) = 1, B(c, a) = a B(c - 1, a) / (c + a B(c - 1, a))` (Erlang, 1917).
 */
export function erlangB(workers: number, load: number): number {
  let blocked = 1;
  for (let count = 1; count <= workers; count++) {
    blocked = load * blocked / (count + load * blocked);
  }
  return blocked;
}

/**
 * Share of jobs that have to wait for a worker, 0 to 1. 1 at a load that the workers cannot carry.
 *
 * `C(c, a) = B / (1 - (a / c)(1 - B))` with `B = B(c, a)`.
 */
export function erlangC(workers: number, load: number): number {
  if (load >= workers) return 1;
  const blocked = erlangB(workers, load);
  return blocked / (1 - load / workers * (1 - blocked));
}

/**
 * Share of jobs that wait longer than `ms`, first come, first served. 1 at a load that the workers
 * cannot carry.
 *
 * `P(W > t) = C(c, a) e^(-(c - a) t / S)`.
 */
export function waitsBeyond({ workers, load, serviceMs }: Servers, ms: number): number {
  if (load >= workers) return 1;
  return erlangC(workers, load) * Math.exp(-(workers - load) * ms / serviceMs);
}

/** Mean wait, ms: `C(c, a) S / (c - a)`. `Infinity` at a load that the workers cannot carry. */
export function meanWaitMs({ workers, load, serviceMs }: Servers): number {
  if (load >= workers) return Infinity;
  return erlangC(workers, load) * serviceMs / (workers - load);
}

/** Fewest workers that carry a load at all: one more than its whole part. */
export function leastWorkers(load: number): number {
  return Math.floor(load + 1e-9) + 1;
}
