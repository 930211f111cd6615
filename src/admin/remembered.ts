/**
 * Remembers which job each `Idempotency-Key` brought in, for a while after the job has ended: a request
 * whose answer was lost is sent again when a short job is long done.
 *
 * @module
 */

/** A key is remembered for so long, ms. */
const REMEMBERED_FOR_MS = 600_000;

/** Most keys that are remembered; the oldest go first. */
const MOST_KEYS = 50_000;

interface Entry {
  readonly id: string;
  readonly untilMs: number;
}

/** Ids of jobs by the key that brought them in. */
export class Remembered {
  readonly #nowMs: () => number;
  readonly #most: number;
  readonly #entries = new Map<string, Entry>(); // oldest first
  readonly #running = new Map<string, Promise<void>>(); // the last in line for a key

  /** Takes time from `nowMs`. */
  constructor(nowMs: () => number, most = MOST_KEYS) {
    this.#nowMs = nowMs;
    this.#most = most;
  }

  /** Runs what has the same key one after the other: of requests at the same moment one brings the job. */
  async inTurn<T>(pool: string, key: string, run: () => Promise<T>): Promise<T> {
    const place = keyOf(pool, key);
    const turn = (this.#running.get(place) ?? Promise.resolve()).then(run);
    const over = turn.then(() => {}, () => {}); // told to the one who asked
    this.#running.set(place, over);
    try {
      return await turn;
    } finally {
      if (this.#running.get(place) === over) this.#running.delete(place);
    }
  }

  /** Id of the job that a key brought into a pool. `undefined`: none that is remembered. */
  find(pool: string, key: string): string | undefined {
    const entry = this.#entries.get(keyOf(pool, key));
    return entry !== undefined && entry.untilMs > this.#nowMs() ? entry.id : undefined;
  }

  /** Remembers the job that a key has brought into a pool. */
  keep(pool: string, key: string, id: string): void {
    const nowMs = this.#nowMs();
    const place = keyOf(pool, key);
    this.#entries.delete(place); // so that it goes to the end
    this.#entries.set(place, { id, untilMs: nowMs + REMEMBERED_FOR_MS });
    for (const [oldest, { untilMs }] of this.#entries) {
      if (untilMs > nowMs && this.#entries.size <= this.#most) return;
      this.#entries.delete(oldest);
    }
  }
}

function keyOf(pool: string, key: string): string {
  return `${pool}\n${key}`; // no name has a line break
}
