/**
 * What callers of a loop wait for: one answer an entry, told together once all are there.
 *
 * @module
 */

/** The answers of one call. */
export class BatchAnswers<Answer> {
  /** Resolves once each entry has its answer. Fails once each has, if the call has failed. */
  readonly promise: Promise<readonly Answer[]>;
  /** Answers so far, in the place of their entry. */
  readonly answers: Answer[] = [];
  readonly #entries: number;
  readonly #failed: ((thrown: unknown) => Answer) | undefined;
  readonly #faults: unknown[] = [];
  #left: number;
  #resolve!: (answers: readonly Answer[]) => void; // set at once by the promise
  #reject!: (thrown: unknown) => void;

  /**
   * Waits for the answers of `count` entries. `failed`: the answer of an entry that failed where others
   * did not. Omitted: the whole call fails then.
   */
  constructor(entries: number, failed?: (thrown: unknown) => Answer) {
    this.#entries = entries;
    this.#failed = failed;
    this.#left = entries;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    if (entries === 0) this.#resolve([]);
  }

  /** Answers one entry. */
  answer(place: number, answer: Answer): void {
    this.answers[place] = answer;
    this.#tell();
  }

  /** Fails one entry. */
  fail(place: number, thrown: unknown): void {
    this.#faults.push(thrown);
    if (this.#failed !== undefined) this.answers[place] = this.#failed(thrown);
    this.#tell();
  }

  #tell(): void {
    if (--this.#left > 0) return;
    const most = this.#failed === undefined ? 0 : this.#entries - 1;
    if (this.#faults.length > most) this.#reject(this.#faults[0]);
    else this.#resolve(this.answers);
  }
}
