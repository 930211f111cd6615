/**
 * One process's door to the store that all share: it fails, it answers late, and it tells the
 * referee what became of every call.
 *
 * @module
 */

import type { MemoryQueue } from "../../stores/memory/queue.ts";
import type { MemoryStore } from "../../stores/memory/mod.ts";
import type {
  Leased,
  MaybePromise,
  Queue,
  QueueListener,
  QueueOptions,
  StateEntry,
  Store,
} from "../../src/contract/store.ts";
import type { Seat } from "./seat.ts";
import type { Call } from "./step.ts";

/** The store as one process has it. */
export class ChaosStore implements Store {
  readonly #store: MemoryStore;
  readonly #seat: Seat;

  /** Goes before `store`, which others share and nobody closes. */
  constructor(store: MemoryStore, seat: Seat) {
    this.#store = store;
    this.#seat = seat;
  }

  open(options: QueueOptions): Queue {
    const queue = this.#store.open({ ...options, listener: listen(options.listener, this.#seat) });
    this.#seat.joined(queue);
    return door(queue, this.#seat);
  }

  get(key: string): MaybePromise<StateEntry | undefined> {
    return call(this.#seat, "get", () => this.#store.get(key));
  }

  commit(
    checks: Readonly<Record<string, string | undefined>>,
    sets: Readonly<Record<string, unknown>>,
  ): MaybePromise<boolean> {
    return call(this.#seat, "commit", () => {
      const ok = this.#store.commit(checks, sets);
      if (ok) this.#seat.committedAtMs = this.#seat.clock.trueMs;
      return ok;
    });
  }

  close(): void {}
}

/** A process that stalls hears later, a dead one nothing. The referee hears at once. */
function listen(to: QueueListener, seat: Seat): QueueListener {
  return {
    wake: () => seat.clock.soon(() => to.wake()),
    cancelled: (id) => seat.clock.soon(() => to.cancelled(id)),
    ended: (record) => {
      seat.referee.endedUnsettled(record);
      seat.clock.soon(() => to.ended(record));
    },
  };
}

function door(queue: MemoryQueue, seat: Seat): Queue {
  const { referee } = seat;
  return {
    add: (entries, nowMs) =>
      call(seat, "add", () => {
        const added = queue.add(entries, nowMs);
        for (const { id, duplicate } of added) referee.added(id, duplicate);
        return added;
      }),
    leaseCalls: 3,
    lease: (wants, nowMs, ahead) =>
      call(seat, "lease", () => {
        const leased = queue.lease(wants, nowMs, ahead);
        for (const job of leased) referee.leased(seat, job);
        return leased.map(copyOf);
      }),
    settle: (settlements, nowMs) =>
      call(seat, "settle", () => {
        const answers = queue.settle(settlements, nowMs);
        settlements.forEach((settlement, index) => {
          if (answers[index]) referee.settled(seat, settlement, queue.find(settlement.job.id));
        });
        return answers;
      }),
    renew: (nowMs, steadyMs) =>
      call(seat, "renew", () => {
        const renewal = queue.renew(nowMs, steadyMs);
        referee.renewed(seat, renewal);
        return renewal;
      }),
    count: (nowMs) => call(seat, "count", () => queue.count(nowMs)),
    readySince: (lane, atMs) => queue.readySince(lane, atMs),
    readyAtMs: (lane, earlier) => queue.readyAtMs(lane, earlier),
    reopen: (rules) => call(seat, "reopen", () => queue.reopen(rules)),
    find: (id) => call(seat, "find", () => queue.find(id)),
    list: (query) => call(seat, "find", () => queue.list(query)),
    change: (id, change, nowMs) =>
      call(seat, "change", () => {
        referee.changing(id, change); // its handler hears of it within the call
        const changed = queue.change(id, change, nowMs);
        referee.changed(id, change, changed);
        return changed;
      }),
    outcome: (job) => queue.outcome(job),
    leave: (nowMs) => {
      if (seat.clock.dead) return;
      queue.leave(nowMs);
      seat.gone();
    },
  };
}

/** Does what is asked at once, or not at all; the answer may come later. */
export function call<T>(
  seat: Pick<Seat, "clock" | "faults">,
  name: Call,
  operation: () => T,
): MaybePromise<T> {
  const { clock, faults } = seat;
  if (clock.dead) return new Promise(() => {});
  const nowMs = clock.trueMs;
  if (nowMs < faults.untilMs && faults.calls.includes(name)) {
    const error = new Error(`The schedule makes ${name} fail`);
    if (faults.how === "throw") throw error;
    return Promise.reject(error);
  }
  const value = operation();
  if (nowMs >= faults.lateUntilMs) return value;
  return new Promise((resolve) => clock.at(clock.nowMs() + faults.latencyMs, () => resolve(value)));
}

/** A job as it was when it was leased: the store's own object lives on. */
function copyOf(job: Leased): Leased {
  const { id, lane, type, payload, key, createdAtMs, attempt, cursor, traceparent } = job;
  const { laneIndex, readyAtMs, fence, expiresAtMs } = job;
  return {
    ...{ id, lane, type, payload, key, createdAtMs, attempt, cursor, traceparent },
    ...{ laneIndex, readyAtMs, fence, expiresAtMs },
  };
}
