/**
 * Signs of life: tells the store that this process lives, several times in a lease, and hears what has
 * become of others.
 *
 * @module
 */

import type { Dispatch } from "./dispatch.ts";
import type { Permits } from "./permits.ts";
import type { PoolCore } from "./pool_core.ts";
import type { Runner } from "./runner.ts";
import type { Queue, Renewal } from "../contract/store.ts";
import { judgeRenewal } from "./store_answers.ts";
import type { StoreGuard } from "./store_guard.ts";

/** How many renewals fit into a lease, unless the store says when. */
const RENEWALS_PER_LEASE = 3;

/** What renewals need of their pool. Of its state they own `peers`. */
export interface RenewalsContext extends Pick<PoolCore, "state" | "hub" | "clock"> {
  /** Where leases are held. */
  readonly queue: Queue;
  /** Backs off from a store that fails. */
  readonly guard: StoreGuard;
  /** Holds leases that were lost. */
  readonly dispatch: Dispatch;
  /** Runs jobs that were lost. */
  readonly runner: Runner;
  /** Hears that this process lives. */
  readonly permits: Permits;
  /** Jobs have come back from others that died. */
  readonly came: () => void;
  /** Asks for a turn. */
  readonly changed: () => void;
}

/** Owns the rhythm of one pool's signs of life. */
export class Renewals {
  /** Jobs taken back from members that had died. */
  reaped = 0;
  readonly #context: RenewalsContext;
  #isUnderWay = false;
  #dueAtMs = -Infinity;

  /** Begins with one that is due. */
  constructor(context: RenewalsContext) {
    this.#context = context;
  }

  /** When the next one is due. One that is under way is waited for. */
  nextAtMs(): number {
    return this.#isUnderWay ? Infinity : this.#dueAtMs;
  }

  /** Renews if that is due. */
  attend(nowMs: number): void {
    if (nowMs >= this.#dueAtMs) this.renew(nowMs);
  }

  /** Something was heard of others: renews if the store works again, or had nobody else to tell. */
  wake(nowMs: number): void {
    const resumeAtMs = this.#context.guard.resumeAtMs("renew");
    const isFreed = resumeAtMs > -Infinity && resumeAtMs <= nowMs;
    if (isFreed || this.#dueAtMs === Infinity) this.renew(nowMs);
  }

  /** Renews, then goes on. Without `then` an answer that comes later asks for a turn. */
  renew(nowMs: number, then?: () => void): void {
    const { guard, queue, state, changed } = this.#context;
    if (this.#isUnderWay) return;
    this.#isUnderWay = true;
    this.#dueAtMs = nowMs + state.settings.leaseMs / RENEWALS_PER_LEASE;
    let atOnce = true;
    const goOn = then ?? (() => {
      if (!atOnce) changed();
    });
    guard.call("renew", {
      ask: (nowMs) => queue.renew(state.wall.at(nowMs), nowMs),
      judge: judgeRenewal,
      ok: (renewal) => {
        this.#isUnderWay = false;
        this.#renewed(renewal);
        goOn();
      },
      failed: () => {
        this.#isUnderWay = false;
        this.#dueAtMs = guard.resumeAtMs("renew");
        goOn();
      },
      // What it says of leases that were lost is said once.
      late: (renewal) => this.#renewed(renewal),
    }, nowMs);
    atOnce = false;
  }

  #renewed({ alive, peers, reaped, nextAtMs }: Renewal): void {
    const { state, runner, hub, clock, dispatch, permits, came } = this.#context;
    state.peers = peers;
    this.#dueAtMs = nextAtMs;
    permits.renewed(nextAtMs === Infinity);
    const nowMs = clock.nowMs();
    if (!alive) {
      dispatch.giveBack(nowMs);
      runner.lost(nowMs);
    }
    this.reaped += reaped;
    if (reaped === 0) return;
    came();
    if (hub.watched) {
      hub.emit({ kind: "jobs-reaped", atMs: nowMs, pool: state.pool, count: reaped });
    }
  }
}
