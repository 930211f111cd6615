/**
 * Who has which dedupe key or idempotency key: until its job ends, and the latter for a while after. A
 * dedupe key may be free before, or after, as its mode has it.
 *
 * @module
 */

import { GIVEN_UP, UNTIL_LEASED } from "../../src/base/dedupe.ts";
import { Heap } from "../../src/base/heap.ts";
import { IdempotencyError } from "../../src/contract/errors.ts";
import { IDEMPOTENT_FOR_MS } from "../../src/contract/job.ts";
import type { Added, JobEntry } from "../../src/contract/store.ts";
import type { MemoryJob } from "./job.ts";

/** What an idempotency key means once its job has ended. */
interface Remembered {
  readonly id: string;
  readonly fingerprint: string;
  readonly untilMs: number;
}

/** A dedupe key that is a job's until some time, whatever becomes of it. */
interface Window {
  readonly name: string;
  readonly id: string;
  readonly untilMs: number;
}

/** An entry whose name is taken. */
export interface Known {
  /** What `add` answers. */
  readonly answer: Added;
  /** The job that has its dedupe key and has not been leased. `undefined`: there is none. */
  readonly repeated?: MemoryJob | undefined;
}

/** Keys of jobs, by name. */
export class Owners {
  readonly #open = new Map<string, MemoryJob>();
  readonly #ended = new Map<string, Remembered>(); // in the order of their ends
  readonly #windows = new Map<string, Window>();
  readonly #byEnd = new Heap<Window>((a, b) => a.untilMs < b.untilMs);
  readonly #isOpen: (job: MemoryJob, nowMs: number) => boolean;

  /** `isOpen`: false for a job that has waited too long, which is ended then. */
  constructor(isOpen: (job: MemoryJob, nowMs: number) => boolean) {
    this.#isOpen = isOpen;
  }

  /** Whose names an entry has. `undefined`: they are free. */
  find({ dedupeKey, idempotency }: JobEntry, nowMs: number): Known | undefined {
    if (idempotency !== undefined) {
      const { key, fingerprint } = idempotency;
      const owner = this.#owner(key, nowMs);
      const known = owner === undefined ? this.#remembered(key, nowMs) : {
        id: owner.id,
        fingerprint: rememberedAs(owner, key) ?? fingerprint,
      };
      if (known !== undefined && known.fingerprint !== fingerprint) {
        return { answer: { id: "", duplicate: false, error: new IdempotencyError(key) } };
      }
      const id = known?.id ?? this.#window(key, nowMs);
      if (id !== undefined) return { answer: { id, duplicate: true } };
    }
    if (dedupeKey === undefined || dedupeKey === idempotency?.key) return undefined;
    const owner = this.#owner(dedupeKey, nowMs);
    const id = owner?.id ?? this.#window(dedupeKey, nowMs);
    if (id === undefined) return undefined;
    const { extra } = owner ?? {};
    const isUnstarted = extra?.dedupeKey === dedupeKey && extra.keyUntilMs === UNTIL_LEASED;
    return { answer: { id, duplicate: true }, repeated: isUnstarted ? owner : undefined };
  }

  /** Gives a job its keys. */
  take(job: MemoryJob): void {
    for (const name of namesOf(job)) this.#open.set(name, job);
    const { dedupeKey: name, keyUntilMs: untilMs = 0 } = job.extra ?? {};
    if (name === undefined || untilMs <= 0) return;
    const window = { name, id: job.id, untilMs };
    this.#windows.set(name, window);
    this.#byEnd.push(window);
  }

  /** Gives a job that lives again its keys. False if another one has its dedupe key by now. */
  retake(job: MemoryJob, nowMs: number): boolean {
    const { extra } = job;
    const wasGivenUp = extra?.keyUntilMs === GIVEN_UP;
    if (wasGivenUp) extra.keyUntilMs = UNTIL_LEASED;
    const names = namesOf(job);
    const dedupeKey = extra?.dedupeKey;
    const isTaken = (name: string): boolean =>
      this.#owner(name, nowMs) !== undefined || this.#window(name, nowMs) !== undefined;
    if (dedupeKey !== undefined && names.includes(dedupeKey) && isTaken(dedupeKey)) {
      if (wasGivenUp) extra.keyUntilMs = GIVEN_UP;
      return false;
    }
    for (const name of names) if (!isTaken(name)) this.#open.set(name, job);
    return true;
  }

  /** Puts another object in a job's place. */
  replace(job: MemoryJob, other: MemoryJob): void {
    for (const name of namesOf(job)) {
      if (this.#open.get(name) === job) this.#open.set(name, other);
    }
  }

  /** Frees the dedupe key of a job that was its own until now. */
  giveUp(job: MemoryJob): void {
    const { extra } = job;
    if (extra?.dedupeKey === undefined) return;
    this.#open.delete(extra.dedupeKey);
    extra.keyUntilMs = GIVEN_UP;
  }

  /** Frees the keys of a job that has just ended; what its idempotency key names is remembered. */
  leave(job: MemoryJob, nowMs: number): void {
    for (const name of namesOf(job)) {
      if (this.#open.get(name) !== job) continue;
      this.#open.delete(name);
      const fingerprint = rememberedAs(job, name);
      this.#ended.delete(name); // so that it goes to the end
      if (fingerprint === undefined) continue;
      this.#ended.set(name, { id: job.id, fingerprint, untilMs: nowMs + IDEMPOTENT_FOR_MS });
    }
  }

  /** Forgets what has been remembered long enough. */
  dropOld(nowMs: number): void {
    for (
      let next = this.#byEnd.peek();
      next !== undefined && next.untilMs <= nowMs;
      next = this.#byEnd.peek()
    ) {
      this.#byEnd.pop();
      if (this.#windows.get(next.name) === next) this.#windows.delete(next.name);
    }
    for (const [name, { untilMs }] of this.#ended) {
      if (untilMs > nowMs) return;
      this.#ended.delete(name);
    }
  }

  #owner(name: string, nowMs: number): MemoryJob | undefined {
    const owner = this.#open.get(name);
    return owner !== undefined && this.#isOpen(owner, nowMs) ? owner : undefined;
  }

  #window(name: string, nowMs: number): string | undefined {
    const window = this.#windows.get(name);
    return window !== undefined && window.untilMs > nowMs ? window.id : undefined;
  }

  #remembered(name: string, nowMs: number): Remembered | undefined {
    const known = this.#ended.get(name);
    return known !== undefined && known.untilMs > nowMs ? known : undefined;
  }
}

/** The names that are a job's until it ends, or until it is leased. */
function namesOf({ extra }: MemoryJob): readonly string[] {
  const { dedupeKey, keyUntilMs = UNTIL_LEASED, idempotency } = extra ?? {};
  const names = new Set([keyUntilMs === UNTIL_LEASED ? dedupeKey : undefined, idempotency?.key]);
  return [...names].filter((name) => name !== undefined);
}

/** What a name of a job is to stand for after its end. `undefined`: nothing. */
function rememberedAs({ extra }: MemoryJob, name: string): string | undefined {
  return extra?.idempotency?.key === name ? extra.idempotency.fingerprint : undefined;
}
