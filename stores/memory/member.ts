/**
 * A holder of leases: one open queue, with its sign of life.
 *
 * @module
 */

import type { QueueListener } from "../../src/contract/store.ts";
import { type MemoryJob, RUNNING } from "./job.ts";

interface Sighting {
  beats: number;
  silentMs: number;
}

/**
 * What one queue holds. Whether another holder lives is judged by its `beats` having changed and by
 * the observer's own time since: clocks of two holders are never compared. And an observer that has
 * itself been away (a blocked event loop, a suspended machine) counts no more than half a lease of
 * it, so that the others, who were away with it, can speak first.
 */
export class MemoryMember {
  /** Told of what others do. */
  readonly listener: QueueListener;
  /** It is dead once others have not seen it renew for so long. */
  leaseMs: number;
  /** Index of a lane in this queue by the lane's ordinal. */
  places: readonly (number | undefined)[];
  /** Jobs it has leased. */
  readonly held: MemoryJob[] = [];
  /** How often it has renewed. */
  beats = 0;
  /** Whether others watch it. False once it was declared dead, until it joins anew. */
  joined = true;
  /** True if it was declared dead and has not been told so. */
  lost = false;

  readonly #seen = new WeakMap<MemoryMember, Sighting>();

  /** Holds nothing yet. */
  constructor(
    listener: QueueListener,
    leaseMs: number,
    places: readonly (number | undefined)[],
  ) {
    this.listener = listener;
    this.leaseMs = leaseMs;
    this.places = places;
  }

  /** Leases a job. */
  hold(job: MemoryJob, fence: number, nowMs: number): void {
    job.code = RUNNING;
    job.holder = this;
    job.fence = fence;
    job.startedAtMs = nowMs;
    job.attempt++;
    job.slot = this.held.length;
    this.held.push(job);
    job.home.running++;
  }

  /** Ends a lease. */
  letGo(job: MemoryJob): void {
    const last = this.held.pop();
    if (last !== undefined && last !== job) {
      last.slot = job.slot;
      this.held[job.slot] = last;
    }
    job.holder = undefined;
    job.home.running--;
  }

  /** Looks at another holder, `sinceMs` after the last look: false if that one is dead. */
  sees(other: MemoryMember, sinceMs: number): boolean {
    const seen = this.#seen.get(other);
    if (seen === undefined) {
      this.#seen.set(other, { beats: other.beats, silentMs: 0 });
      return true;
    }
    const moved = seen.beats !== other.beats;
    seen.beats = other.beats;
    seen.silentMs = moved ? 0 : seen.silentMs + Math.min(sinceMs, other.leaseMs / 2);
    return seen.silentMs < other.leaseMs;
  }
}
