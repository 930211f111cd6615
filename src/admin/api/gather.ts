/**
 * Jobs of requests that come together go to their pool together.
 *
 * @module
 */

import type { Clock } from "../../time/clock.ts";
import type { NewJob } from "../../contract/job.ts";
import type { JobHandle, PoolHandle } from "../../runtime/handles.ts";

/** A job among those of its turn. */
export interface Gathered {
  /** What came of each: a handle, or why there is none. Rejects as `pool.enqueueAll` does. */
  readonly taken: Promise<readonly (JobHandle | Error)[]>;
  /** Which of them is that of this job. */
  readonly place: number;
}

interface Batch extends Pick<Gathered, "taken"> {
  readonly jobs: NewJob[];
}

/**
 * Gathers the jobs of one turn of the event loop. A server under load reads tens of requests in a
 * turn: one by one, each would take a turn of its pool, and an answer that wakes its client alone.
 */
export class Gatherer {
  readonly #hop: (run: () => void) => void;
  readonly #open = new Map<PoolHandle, Batch>();

  /** Goes by the turns of the clock's event loop; without one, by those of microtasks. */
  constructor(clock: Clock) {
    this.#hop = clock.hop === undefined ? queueMicrotask : (run) => clock.hop?.(run);
  }

  /** Gives a job to its pool with what else comes in this turn. */
  add(pool: PoolHandle, job: NewJob): Gathered {
    const { jobs, taken } = this.#open.get(pool) ?? this.#begin(pool);
    return { taken, place: jobs.push(job) - 1 };
  }

  #begin(pool: PoolHandle): Batch {
    const jobs: NewJob[] = [];
    const taken = new Promise<void>((resolve) => this.#hop(resolve)).then(() => {
      this.#open.delete(pool);
      return pool.enqueueAll(jobs);
    });
    const batch = { jobs, taken };
    this.#open.set(pool, batch);
    return batch;
  }
}
