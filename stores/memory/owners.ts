/**
 * Who has which dedupe key or idempotency key: until its job ends, and the latter for a while after.
 *
 * @module
 */

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

/** Keys of jobs, by name. */
export class Owners {
  readonly #open = new Map<string, MemoryJob>();
  readonly #ended = new Map<string, Remembered>(); // in the order of their ends
  readonly #isOpen: (job: MemoryJob, nowMs: number) => boolean;

  /** `isOpen`: false for a job that has waited too long, which is ended then. */
  constructor(isOpen: (job: MemoryJob, nowMs: number) => boolean) {
    this.#isOpen = isOpen;
  }

  /** What `add` answers without storing anything. `undefined`: the keys are free. */
  find({ dedupeKey, idempotency }: JobEntry, nowMs: number): Added | undefined {
    if (idempotency !== undefined) {
      const { key, fingerprint } = idempotency;
      const owner = this.#owner(key, nowMs);
      const known = owner === undefined ? this.#remembered(key, nowMs) : {
        id: owner.id,
        fingerprint: rememberedAs(owner, key) ?? fingerprint,
      };
      if (known !== undefined && known.fingerprint !== fingerprint) {
        return { id: "", duplicate: false, error: new IdempotencyError(key) };
      }
      if (known !== undefined) return { id: known.id, duplicate: true };
    }
    if (dedupeKey === undefined || dedupeKey === idempotency?.key) return undefined;
    const owner = this.#owner(dedupeKey, nowMs);
    return owner === undefined ? undefined : { id: owner.id, duplicate: true };
  }

  /** Gives a job its keys. */
  take(job: MemoryJob): void {
    for (const name of namesOf(job)) this.#open.set(name, job);
  }

  /** Gives a job that lives again its keys. False if another one has its dedupe key by now. */
  retake(job: MemoryJob, nowMs: number): boolean {
    const { dedupeKey } = job.extra ?? {};
    if (dedupeKey !== undefined && this.#owner(dedupeKey, nowMs) !== undefined) return false;
    for (const name of namesOf(job)) {
      if (this.#owner(name, nowMs) === undefined) this.#open.set(name, job);
    }
    return true;
  }

  /** Puts another object in a job's place. */
  replace(job: MemoryJob, other: MemoryJob): void {
    for (const name of namesOf(job)) {
      if (this.#open.get(name) === job) this.#open.set(name, other);
    }
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
    for (const [name, { untilMs }] of this.#ended) {
      if (untilMs > nowMs) return;
      this.#ended.delete(name);
    }
  }

  #owner(name: string, nowMs: number): MemoryJob | undefined {
    const owner = this.#open.get(name);
    return owner !== undefined && this.#isOpen(owner, nowMs) ? owner : undefined;
  }

  #remembered(name: string, nowMs: number): Remembered | undefined {
    const known = this.#ended.get(name);
    return known !== undefined && known.untilMs > nowMs ? known : undefined;
  }
}

/** The names by which others find out that they are duplicates of a job. */
function namesOf({ extra }: MemoryJob): readonly string[] {
  const { dedupeKey, idempotency } = extra ?? {};
  const names = new Set([dedupeKey, idempotency?.key]);
  return [...names].filter((name) => name !== undefined);
}

/** What a name of a job is to stand for after its end. `undefined`: nothing. */
function rememberedAs({ extra }: MemoryJob, name: string): string | undefined {
  return extra?.idempotency?.key === name ? extra.idempotency.fingerprint : undefined;
}
