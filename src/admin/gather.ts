/**
 * Jobs of requests that come together go to their pool together.
 *
 * @module
 */

import type { Clock } from "../clock.ts";
import type { NewJob } from "../job.ts";
import type { JobHandle, PoolHandle } from "../sluice.ts";

interface Waiting {
  readonly job: NewJob;
  readonly resolve: (handle: JobHandle) => void;
  readonly reject: (thrown: unknown) => void;
}

/**
 * Gathers the jobs of one turn of the event loop. A server under load reads tens of requests in a
 * turn: one by one, each would take a turn of its pool, a commit of some stores, and an answer that
 * wakes its client alone.
 */
export class Gatherer {
  readonly #hop: (run: () => void) => void;
  #gathered = new Map<PoolHandle, Waiting[]>();

  /** Goes by the turns of the clock's event loop; without one, by those of microtasks. */
  constructor(clock: Clock) {
    this.#hop = clock.hop === undefined ? queueMicrotask : (run) => clock.hop?.(run);
  }

  /** Stores a job with what else comes in this turn. Rejects as `pool.enqueue` does. */
  enqueue(pool: PoolHandle, job: NewJob): Promise<JobHandle> {
    const { promise, resolve, reject } = Promise.withResolvers<JobHandle>();
    const waiting = { job, resolve, reject };
    const others = this.#gathered.get(pool);
    if (others !== undefined) {
      others.push(waiting);
      return promise;
    }
    if (this.#gathered.size === 0) this.#hop(this.#give);
    this.#gathered.set(pool, [waiting]);
    return promise;
  }

  readonly #give = (): void => {
    const gathered = this.#gathered;
    this.#gathered = new Map();
    for (const [pool, jobs] of gathered) give(pool, jobs);
  };
}

async function give(pool: PoolHandle, jobs: readonly Waiting[]): Promise<void> {
  try {
    const taken = await pool.enqueueAll(jobs.map(({ job }) => job));
    for (const [index, { resolve, reject }] of jobs.entries()) {
      const one = taken[index]!; // one answer each
      if (one instanceof Error) reject(one);
      else resolve(one);
    }
  } catch (thrown) {
    for (const { reject } of jobs) reject(thrown);
  }
}
