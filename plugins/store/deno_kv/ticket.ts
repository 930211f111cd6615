/**
 * What callers of a loop wait for: one answer an entry, told together once all are there.
 *
 * @module
 */

/** The answers of one call. */
export class Ticket<Answer> {
  /** Resolves once each entry has its answer. */
  readonly promise: Promise<readonly Answer[]>;
  readonly #answers: Answer[] = [];
  #left: number;
  #resolve!: (answers: readonly Answer[]) => void; // set at once by the promise
  #reject!: (thrown: unknown) => void;

  /** Waits for so many answers. */
  constructor(entries: number) {
    this.#left = entries;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    if (entries === 0) this.#resolve([]);
  }

  /** Answers one entry. */
  answer(place: number, answer: Answer): void {
    this.#answers[place] = answer;
    if (--this.#left === 0) this.#resolve(this.#answers);
  }

  /** Fails the call. */
  fail(thrown: unknown): void {
    this.#reject(thrown);
  }
}
