/**
 * A member: one open queue, with its sign of life.
 *
 * @module
 */

import { sight, type Sighting } from "../../src/base/liveness.ts";
import type { QueueListener, QueueOptions } from "../../src/contract/store.ts";
import { type MemoryJob, RUNNING } from "./job.ts";

/** What a member is made of. */
type MemberOptions = Pick<QueueOptions, "listener" | "leaseMs" | "leases">;

/** What one queue holds. Whether another member lives is judged by its `beats`. */
export class MemoryMember {
  /** Told of what others do. */
  readonly listener: QueueListener;
  /** It is dead once others have not seen it renew for so long. */
  leaseMs: number;
  /** False: it never leases. */
  readonly leases: boolean;
  /** Index of a lane in this queue by the lane's ordinal. */
  places: readonly (number | undefined)[] = [];
  /** Jobs it has leased. */
  readonly held: MemoryJob[] = [];
  /** How often it has renewed. */
  beats = 0;
  /** Whether others watch it. False once it was declared dead, until it joins again. */
  joined = true;
  /** True if it was declared dead and has not been told so. */
  lost = false;

  readonly #seen = new WeakMap<MemoryMember, Sighting<number>>();

  /** Holds nothing yet. */
  constructor({ listener, leaseMs, leases = true }: MemberOptions) {
    this.listener = listener;
    this.leaseMs = leaseMs;
    this.leases = leases;
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

  /** Looks at another member, `sinceMs` after the last look: false if that one is dead. */
  sees(other: MemoryMember, sinceMs: number): boolean {
    const seen = sight(this.#seen.get(other), other.beats, sinceMs, other.leaseMs);
    this.#seen.set(other, seen);
    return seen.silentMs < other.leaseMs;
  }
}
