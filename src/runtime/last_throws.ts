/**
 * What jobs died of in this process, for those who wait for them.
 *
 * @module
 */

/** Most that are kept: of jobs that nobody waits for too. */
const MOST = 1000;

/** The end of a job that a handler threw. */
export interface LastThrow {
  /** Which attempt it was. */
  readonly attempt: number;
  /** What it threw. */
  readonly thrown: unknown;
}

/** Keeps throws by job while anyone waits for a job. */
export class LastThrows {
  readonly #byJob = new Map<string, LastThrow>();
  #waiting = 0;

  /** Someone waits for a job. */
  began(): void {
    this.#waiting++;
  }

  /** Someone waits no more. */
  ended(): void {
    if (--this.#waiting === 0) this.#byJob.clear();
  }

  /** A job is dead. */
  note(id: string, attempt: number, thrown: unknown): void {
    if (this.#waiting === 0) return;
    this.#byJob.set(id, { attempt, thrown });
    if (this.#byJob.size <= MOST) return;
    const [oldest] = this.#byJob.keys();
    this.#byJob.delete(oldest!); // there is one: it holds more than none
  }

  /** What a job died of. `undefined`: not known here. */
  of(id: string): LastThrow | undefined {
    return this.#byJob.get(id);
  }
}
