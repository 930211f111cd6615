/**
 * What must hold of every job, whatever happens: it hears of every call to the store and of every
 * run, and keeps the first breach.
 *
 * @module
 */

import type { Job, JobRecord } from "../../src/contract/job.ts";
import type { Change, Changed, Leased, Renewal, Settlement } from "../../src/contract/store.ts";
import type { VirtualClock } from "../../src/time/virtual_clock.ts";
import {
  CAP,
  CLUSTER_CAP,
  DRAIN_MS,
  LEASE_MS,
  LONG_MS,
  LONG_STARTS,
  LOW_PER_SEC,
  STARTS_PER_SEC,
  TIMEOUT_MS,
} from "./config.ts";
import type { Run, Seat } from "./seat.ts";

/** After a disturbance shares of a cap are in place once a lease and the longest job are over, ms. */
const CALM_MS = LEASE_MS * 1.5 + TIMEOUT_MS + 1500;

/** How often a process renews, at most this many ms apart, while it has peers. */
const BEAT_MS = LEASE_MS * 1.5 / 3;

/** What is known of a job. */
export interface Known {
  readonly id: string;
  /** Who has leased it. `undefined`: nobody. */
  lease: { readonly seat: Seat; readonly fence: number } | undefined;
  fence: number;
  /** How it ended. `undefined`: it has not, or was revived. */
  ended: string | undefined;
  removed: boolean;
  cancelling: boolean;
  starts: number;
  readonly runs: Set<{ readonly seat: Seat; readonly run: Run }>;
}

/** Watches all processes that share one store. */
export class Referee {
  /** The first breach. */
  broken: string | undefined;
  /** All jobs that the store took, by id. */
  readonly jobs = new Map<string, Known>();
  readonly seats: Seat[] = [];
  readonly #clock: VirtualClock;
  readonly #starts: number[] = [];
  readonly #lowStarts: number[] = [];
  #disturbedUntilMs = -Infinity;
  #rateExcusedUntilMs = -Infinity;

  /** Watches from now on. */
  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  /** Records a breach. */
  breach(what: string): void {
    this.broken ??= what;
  }

  /** Shares of cluster caps may move for a while from now on, or from `ms` later. */
  disturbed(ms = 0): void {
    const nowMs = this.#clock.nowMs();
    this.#disturbedUntilMs = Math.max(this.#disturbedUntilMs, nowMs + ms);
    if (ms > 0) {
      const untilMs = nowMs + ms + BEAT_MS + 1000;
      this.#rateExcusedUntilMs = Math.max(this.#rateExcusedUntilMs, untilMs);
    }
  }

  /** True if all shares have long been in place. */
  get calm(): boolean {
    return this.#clock.nowMs() - this.#disturbedUntilMs > CALM_MS;
  }

  /** True if others may hold a process for dead: it is, or was silent for a lease, and not by its own fault. */
  mayHaveLost(seat: Seat): boolean {
    if (seat.clock.dead || seat.left) return true;
    const nowMs = this.#clock.nowMs();
    return nowMs - seat.lastBeatMs >= LEASE_MS && seat.lastBeatMs <= seat.excusedUntilMs &&
      this.seats.some((other) => other !== seat && nowMs - other.joinedAtMs >= LEASE_MS);
  }

  /** The store has taken a job. */
  added(id: string, duplicate: boolean): void {
    const known = this.jobs.get(id);
    if (duplicate) {
      if (known === undefined || known.removed) this.breach(`${id} owns a key and is not known`);
      else if (known.ended !== undefined) this.breach(`${id} has ended and keeps its key`);
      return;
    }
    if (known !== undefined) this.breach(`${id} was given to two jobs`);
    this.jobs.set(id, {
      id,
      lease: undefined,
      fence: 0,
      ended: undefined,
      removed: false,
      cancelling: false,
      starts: 0,
      runs: new Set(),
    });
  }

  /** The store has leased a job. */
  leased(seat: Seat, { id, fence }: Leased): void {
    const known = this.#known(id);
    if (known.ended !== undefined) this.breach(`${id} is leased after its end: ${known.ended}`);
    if (fence <= known.fence) this.breach(`the fence of ${id} fell to ${fence}`);
    this.#checkFree(known, `is leased by ${seat.name}`);
    if (seat.draining) this.breach(`${seat.name} leases ${id} while it drains`);
    known.lease = { seat, fence };
    known.fence = fence;
  }

  /** The store has taken the end of a lease. */
  settled(seat: Seat, { job, fence, to }: Settlement, record: JobRecord | undefined): void {
    const known = this.#known(job.id);
    if (known.lease?.seat !== seat || known.lease.fence !== fence) {
      this.breach(`${seat.name} ended ${job.id} without its lease`);
    }
    known.lease = undefined;
    if (to === "retry" || to === "back") {
      if (record?.endedAtMs === undefined) return;
      if (!known.cancelling) this.breach(`${job.id} ended by a ${to}`);
    }
    this.#ended(known, to);
  }

  /** A job ended without a settlement. */
  endedUnsettled({ id, state, reason }: JobRecord): void {
    const known = this.#known(id);
    this.#checkFree(known, `ended ${reason ?? state}`);
    known.lease = undefined;
    this.#ended(known, reason ?? state);
  }

  /** Someone is about to change a job. */
  changing(id: string, change: Change): void {
    const known = this.jobs.get(id);
    if (change === "cancel" && known !== undefined) known.cancelling = true;
  }

  /** Someone changed a job. */
  changed(id: string, change: Change, changed: Changed): void {
    if (!changed.ok) return;
    const known = this.#known(id);
    if (change === "remove") known.removed = true;
    else if (change === "revive") {
      if (known.ended === undefined) this.breach(`${id} was revived before its end`);
      known.ended = undefined;
      known.cancelling = false;
    } else if (changed.state === "cancelled") this.#ended(known, "cancelled");
  }

  /** A process shows that it lives. */
  renewed(seat: Seat, { alive, reaped }: Renewal): void {
    const nowMs = this.#clock.nowMs();
    if (!alive) {
      if (!this.mayHaveLost(seat)) {
        this.breach(`${seat.name} was declared dead after ${nowMs - seat.lastBeatMs} ms`);
      }
      seat.lostFence = Math.max(0, ...[...this.jobs.values()].map(({ fence }) => fence));
    }
    if (!alive || reaped > 0) this.disturbed();
    seat.lastBeatMs = nowMs;
  }

  /** A run begins. Answers how often its job has started. */
  started(seat: Seat, run: Run, { id, lane }: Job): number {
    const known = this.#known(id);
    const owns = known.lease?.seat === seat && known.lease.fence === run.fence;
    if (!owns && !this.#isZombie(seat, run)) {
      this.breach(`${seat.name} runs ${id} without its lease`);
    }
    for (const other of known.runs) {
      if (other.run.givenUp || this.#isZombie(other.seat, other.run)) continue;
      this.breach(`${id} runs in ${seat.name} while it runs in ${other.seat.name}`);
    }
    known.runs.add({ seat, run });
    known.starts++;
    seat.runs.add(run);
    if (seat.runs.size > CAP) this.breach(`${seat.runs.size} jobs run in ${seat.name}`);
    this.#checkCluster();
    this.#checkRates(lane);
    return known.starts;
  }

  /** A run has ended. */
  stopped(seat: Seat, run: Run): void {
    seat.runs.delete(run);
    this.vanished(seat, run);
  }

  /** A run is over, its process with it. */
  vanished(_seat: Seat, run: Run): void {
    const known = this.#known(run.id);
    for (const one of known.runs) if (one.run === run) known.runs.delete(one);
  }

  /** A handler was asked to stop. */
  aborted(seat: Seat, run: Run, why: string): void {
    const nowMs = this.#clock.nowMs();
    const known = this.#known(run.id);
    const ranMs = nowMs - run.startedAtMs;
    const isDue = why === "timeout"
      ? ranMs >= TIMEOUT_MS
      : why === "cancelled"
      ? known.cancelling
      : why === "drain"
      ? nowMs - seat.drainingSinceMs >= DRAIN_MS
      : why === "lease-lost" && (this.#isZombie(seat, run) || this.#mayLackPermits(seat));
    if (!isDue) this.breach(`${run.id} was interrupted after ${ranMs} ms: ${why}`);
  }

  #checkFree({ id, lease }: Known, what: string): void {
    if (lease === undefined || this.mayHaveLost(lease.seat)) return;
    if (lease.fence <= lease.seat.lostFence) return;
    this.breach(`${id} ${what} while ${lease.seat.name} holds it`);
  }

  /** It could not show for long that it keeps its permits: others may take them. */
  #mayLackPermits(seat: Seat): boolean {
    const joined = this.seats.filter((other) => other !== seat).map(({ joinedAtMs }) => joinedAtMs);
    return this.#clock.nowMs() - Math.max(seat.committedAtMs, ...joined) >= LEASE_MS / 2;
  }

  #isZombie(seat: Seat, run: Run): boolean {
    return run.fence <= seat.lostFence || this.mayHaveLost(seat);
  }

  #ended(known: Known, how: string): void {
    if (known.ended !== undefined) this.breach(`${known.id} ended ${known.ended}, then ${how}`);
    known.ended = how;
  }

  #checkCluster(): void {
    if (!this.calm) return;
    let running = 0;
    for (const { clock, runs } of this.seats) {
      if (clock.dead) continue;
      for (const { givenUp } of runs) if (!givenUp) running++;
    }
    if (running > CLUSTER_CAP) this.breach(`${running} jobs run in all`);
  }

  #checkRates(lane: string): void {
    const nowMs = this.#clock.nowMs();
    this.#starts.push(nowMs);
    if (lane === "low") this.#lowStarts.push(nowMs);
    // Over a long window processes go by their wall clocks: it is held as exactly as those agree.
    const isSkewed = this.seats.some(({ clock }) =>
      clock.offsetMs !== this.seats[0]!.clock.offsetMs
    );
    if (!isSkewed) this.#checkRate(this.#starts, LONG_STARTS, LONG_MS);
    if (nowMs < this.#rateExcusedUntilMs) return;
    this.#checkRate(this.#starts, STARTS_PER_SEC, 1000);
    if (lane === "low") this.#checkRate(this.#lowStarts, LOW_PER_SEC, 1000);
  }

  #checkRate(starts: readonly number[], most: number, perMs: number): void {
    const nowMs = this.#clock.nowMs();
    const first = starts[starts.length - 1 - most];
    if (first === undefined || nowMs - first >= perMs) return;
    this.breach(`${most + 1} jobs started within ${nowMs - first} ms`);
  }

  #known(id: string): Known {
    const known = this.jobs.get(id);
    if (known !== undefined) return known;
    this.breach(`${id} is not known`);
    this.added(id, false);
    return this.#known(id);
  }
}
