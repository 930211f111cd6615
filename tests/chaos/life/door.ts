/**
 * One process's door to the store that all processes of a life share: it dies with its process, it fails
 * while the disk is full, and it counts what has not been answered, so that time can wait for it.
 *
 * @module
 */

import type {
  MaybePromise,
  Queue,
  QueueListener,
  QueueOptions,
  StateEntry,
  Store,
} from "../../../src/store.ts";
import type { SkewedClock } from "../clock.ts";

/** What the store of all processes is like now. */
export class Surroundings {
  /** Until then (true time) nothing can be written. */
  fullUntilMs = -Infinity;
  /** Called once nothing is on its way. */
  #waiting: (() => void)[] = [];
  #pending = 0;

  /** Resolves once nothing is on its way. False: nothing was. */
  async answered(): Promise<boolean> {
    if (this.#pending === 0) return false;
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return true;
  }

  /** Counts a call until it has been answered. */
  async during<T>(answer: Promise<T>): Promise<T> {
    this.#pending++;
    try {
      return await answer;
    } finally {
      this.#pending--;
      if (this.#pending === 0) { for (const resolve of this.#waiting.splice(0)) resolve(); }
    }
  }
}

/** What a queue of a store hears of other processes by, if it can. */
interface Hearing {
  changed?(): Promise<void>;
}

/** The store as one process has it. */
export class Door implements Store {
  /** True once it has written what others have not heard of. */
  wrote = false;
  /** True once the process has left. */
  left = false;
  readonly #store: Store;
  readonly #clock: SkewedClock;
  readonly #around: Surroundings;
  readonly #queues: Hearing[] = [];

  /** Stands before a store; `closes`: it is this process's own. */
  constructor(store: Store, clock: SkewedClock, around: Surroundings, readonly closes: boolean) {
    this.#store = store;
    this.#clock = clock;
    this.#around = around;
  }

  open(options: QueueOptions): MaybePromise<Queue> {
    const listener = this.#listen(options.listener);
    const opened = this.#call(() => this.#store.open({ ...options, listener }));
    return opened instanceof Promise
      ? opened.then((queue) => this.#doorTo(queue))
      : this.#doorTo(opened);
  }

  get(key: string): MaybePromise<StateEntry | undefined> {
    return this.#call(() => this.#store.get(key));
  }

  commit(...given: Parameters<Store["commit"]>): MaybePromise<boolean> {
    return this.#write(() => this.#store.commit(...given));
  }

  async close(): Promise<void> {
    if (this.left) return;
    this.left = true;
    if (this.closes) await this.#store.close();
  }

  /** Hears of what others have written. */
  hear(): void {
    if (this.left || this.#clock.dead) return;
    for (const queue of this.#queues) {
      const heard = queue.changed?.();
      if (heard !== undefined) this.#around.during(heard).catch(() => {});
    }
  }

  #listen(to: QueueListener): QueueListener {
    return {
      wake: () => this.#clock.soon(() => to.wake()),
      cancelled: (id) => this.#clock.soon(() => to.cancelled(id)),
      ended: (record) => this.#clock.soon(() => to.ended(record)),
    };
  }

  #doorTo(queue: Queue): Queue {
    this.#queues.push(queue as Hearing); // a queue that cannot hear has no such method
    const { readyAtMs, reopen } = queue;
    return {
      ...queue.leasesAdded === undefined ? {} : { leasesAdded: queue.leasesAdded },
      add: (entries, nowMs) => this.#write(() => queue.add(entries, nowMs)),
      lease: (wants, nowMs) => this.#write(() => queue.lease(wants, nowMs)),
      settle: (ends, nowMs) => this.#write(() => queue.settle(ends, nowMs)),
      renew: (nowMs, steadyMs) => this.#write(() => queue.renew(nowMs, steadyMs)),
      count: (nowMs) => this.#call(() => queue.count(nowMs)),
      readySince: (lane, atMs) => queue.readySince(lane, atMs),
      ...readyAtMs === undefined
        ? {}
        : { readyAtMs: (lane, earlier) => readyAtMs.call(queue, lane, earlier) },
      ...reopen === undefined
        ? {}
        : { reopen: (rules) => this.#write(() => reopen.call(queue, rules)) },
      find: (id) => this.#call(() => queue.find(id)),
      list: (query) => this.#call(() => queue.list(query)),
      change: (id, change, nowMs) => this.#write(() => queue.change(id, change, nowMs)),
      outcome: (job) => queue.outcome(job),
      leave: (nowMs) => this.#write(() => queue.leave(nowMs)),
    };
  }

  #write<T>(operation: () => MaybePromise<T>): MaybePromise<T> {
    this.wrote = true;
    if (this.#clock.trueMs < this.#around.fullUntilMs && !this.#clock.dead) {
      return Promise.reject(new Error("database or disk is full"));
    }
    return this.#call(operation);
  }

  #call<T>(operation: () => MaybePromise<T>): MaybePromise<T> {
    if (this.#clock.dead) return new Promise(() => {});
    const answer = operation();
    if (!(answer instanceof Promise)) return answer;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#around.during(answer).then(
      // A process that stalls or has died meanwhile hears nothing, or later.
      (value) => this.#clock.soon(() => resolve(value)),
      (thrown) => this.#clock.soon(() => reject(thrown)),
    );
    return promise;
  }
}
