/**
 * Looks at a record in the store that processes share.
 *
 * @module
 */

import type { MaybePromise, StateEntry, Store } from "../contract/store.ts";
import { isPromise } from "./store_guard.ts";

/** How often a commit is tried at once again because others were quicker. */
const MOST_TRIES = 5;

/** What is to be written, and who hears what became of it. */
export interface RecordDraft {
  /** The record. */
  readonly value: unknown;
  /** It is there. False: others were quicker. */
  readonly answered?: (ok: boolean) => void;
  /** It may be there or not. */
  readonly failed?: () => void;
}

/** Makes what is to be written of what was read. `undefined`: nothing is. */
export type DraftRecord = (entry: StateEntry | undefined) => RecordDraft | undefined;

/** Reads one record, and commits what is to change; again if others were quicker. One look at a time. */
export class RecordLooks {
  /** How many were begun or given up. */
  count = 0;
  /** The one that the store has not answered yet. `undefined`: there is none, or all of it came at once. */
  answer: Promise<void> | undefined;
  /** True until a look has ended or is given up. */
  isOpen = false;
  readonly #store: Store;
  readonly #key: string;

  /** Looks at nothing yet. */
  constructor(store: Store, key: string) {
    this.#store = store;
    this.#key = key;
  }

  /** Begins one, and gives up the one before. @param ended Called at its end, unless it was given up. */
  look(draft: DraftRecord, ended: (ok: boolean) => void): void {
    const number = ++this.count;
    this.isOpen = true;
    const end = (ok: boolean): void => {
      if (number !== this.count) return;
      this.#close();
      ended(ok);
    };
    let answer: MaybePromise<void>;
    try {
      answer = this.#take(number, draft, 0);
    } catch {
      return end(false); // the guard of the queue's calls tells of a failing store
    }
    if (isPromise(answer)) this.answer = answer.then(() => end(true), () => end(false));
    else end(true);
  }

  /** What it would have written may be there or not: the next one tells. */
  giveUp(): void {
    this.count++;
    this.#close();
  }

  #close(): void {
    this.isOpen = false;
    this.answer = undefined;
  }

  #take(number: number, draft: DraftRecord, tries: number): MaybePromise<void> {
    const entry = this.#store.get(this.#key);
    return isPromise(entry)
      ? entry.then((read) => this.#write(number, draft, read, tries))
      : this.#write(number, draft, entry, tries);
  }

  #write(
    number: number,
    draft: DraftRecord,
    entry: StateEntry | undefined,
    tries: number,
  ): MaybePromise<void> {
    if (number !== this.count) return; // it was given up
    const drafted = draft(entry);
    if (drafted === undefined) return;
    const answered = (ok: boolean): MaybePromise<void> => {
      if (number !== this.count) return;
      drafted.answered?.(ok);
      if (!ok && tries < MOST_TRIES) return this.#take(number, draft, tries + 1);
    };
    const failed = (thrown: unknown): never => {
      if (number === this.count) drafted.failed?.();
      throw thrown;
    };
    let answer: MaybePromise<boolean>;
    try {
      answer = this.#store.commit({ [this.#key]: entry?.version }, { [this.#key]: drafted.value });
    } catch (thrown) {
      return failed(thrown);
    }
    return isPromise(answer) ? answer.then(answered, failed) : answered(answer);
  }
}
