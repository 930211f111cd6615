/**
 * A holder of leases: one open queue of one process, with its fence and its sign of life.
 *
 * @module
 */

import type { Db } from "./db.ts";
import { SegmentNames } from "./id.ts";
import type { HeldPart } from "./job.ts";
import { type PoolKeys, SIGNAL_KEY, WORKERS_KEY } from "./keys.ts";
import type { Expected } from "./step.ts";

/** What a heartbeat says. */
export interface Beat {
  /** Its worker is dead once others have seen no change for so long. */
  readonly leaseMs: number;
}

/** Jobs of a worker that are to be cancelled: segment and index. */
export type Marks = readonly (readonly [segment: string, index: number])[];

interface Sighting {
  versionstamp: string;
  silentMs: number;
}

/**
 * What this queue holds. Whether another worker lives is judged by its heartbeat having changed and
 * by the observer's own time since: clocks of two processes are never compared. And an observer that
 * has itself been away (a blocked event loop, a suspended machine) counts no more than half a lease
 * of it, so that the others, who were away with it, can speak first.
 */
export class Holder {
  /** Its number: no other worker of the database ever has it. */
  worker = 0;
  /** How many leases it has had. */
  leases = 0;
  /** Names for its segments. */
  names: SegmentNames = new SegmentNames(0);
  /** Checked by each claim and each end: fails once it was declared dead. */
  fence: Expected = { key: [], versionstamp: null };
  /** What its parts were leased under: another object after it joined anew. */
  identity: object = {};
  /** True once it was declared dead, until it joins anew. */
  lost = false;
  /** What it has leased. */
  readonly parts = new Set<HeldPart>();
  /** Names of its jobs that are to be cancelled. */
  readonly marked = new Set<string>();
  /** Version of the key that says so. */
  marks: Expected = { key: [], versionstamp: null };
  /** Live workers of the pool when it last looked, this one included. */
  peers = 1;
  /** False: others have committed something since it last looked, or are known to live. */
  alone = true;
  readonly #leaseMs: number;
  readonly #seen = new Map<number, Sighting>();

  /** Holds nothing yet. */
  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
  }

  /** Joins, or joins anew, under a number of its own. */
  async join(db: Db, keys: PoolKeys): Promise<void> {
    const beat: Beat = { leaseMs: this.#leaseMs };
    for (let tries = 0;; tries++) {
      const latest = await db.get<number>(WORKERS_KEY);
      const worker = (latest.value ?? 0) + 1;
      const atomic = db.kv.atomic().check(latest).set(WORKERS_KEY, worker)
        .set(keys.of("w", worker), 1).set(keys.of("h", worker), beat).sum(SIGNAL_KEY, 1n);
      if (!await db.commit({ atomic, signals: true })) {
        await db.pause(tries);
        continue;
      }
      const { key, versionstamp } = await db.get(keys.of("w", worker));
      this.worker = worker;
      this.names = new SegmentNames(worker);
      this.fence = { key, versionstamp };
      this.identity = {};
      this.lost = versionstamp === null;
      this.marked.clear();
      this.marks = { key: keys.of("y", worker), versionstamp: null };
      return;
    }
  }

  /** It was declared dead: its jobs are others' now. */
  lose(): void {
    this.lost = true;
    this.identity = {};
    this.parts.clear();
  }

  /** Looks whether its fence still stands. */
  async isAlive(db: Db): Promise<boolean> {
    const { versionstamp } = await db.get(this.fence.key);
    if (versionstamp !== this.fence.versionstamp) this.lose();
    return !this.lost;
  }

  /** Looks at another worker's heartbeat, `sinceMs` after the last look: false if that one is dead. */
  sees(worker: number, versionstamp: string, beat: Beat, sinceMs: number): boolean {
    const seen = this.#seen.get(worker);
    if (seen === undefined || seen.versionstamp !== versionstamp) {
      this.#seen.set(worker, { versionstamp, silentMs: 0 });
      return true;
    }
    seen.silentMs += Math.min(sinceMs, beat.leaseMs / 2);
    return seen.silentMs < beat.leaseMs;
  }

  /** Forgets workers that are there no more. */
  forgetBut(workers: ReadonlySet<number>): void {
    for (const worker of this.#seen.keys()) if (!workers.has(worker)) this.#seen.delete(worker);
  }
}

/** Name of a job among the marked. */
export function markOf(segment: string, index: number): string {
  return `${segment}.${index}`;
}
