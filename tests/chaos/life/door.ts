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
  Renewal,
  StateEntry,
  Store,
} from "../../../src/contract/store.ts";
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

/** Calls that are answered at once, or much later: time does not wait for them. */
const DIRECT: ReadonlySet<string> = new Set([
  "outcome",
  "readySince",
  "readyAtMs",
  "laneOf",
  "place",
]);

/** Calls that write, and whether an answer says that something was written. */
const WRITES: Readonly<Record<string, (answer: unknown) => boolean>> = {
  add: () => true,
  lease: (jobs) => (jobs as readonly unknown[]).length > 0,
  settle: () => true,
  renew: (renewal) => (renewal as Renewal).reaped > 0,
  reopen: () => true,
  change: () => true,
  leave: () => true,
};

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

  /** Goes before a store; `closes`: it is this process's own. */
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

  /** All calls go through it, also those that a store may leave out. */
  #doorTo(queue: Queue): Queue {
    this.#queues.push(queue as Hearing); // a queue that cannot hear has no such method
    return new Proxy(queue, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        const call = (...given: unknown[]): unknown => Reflect.apply(value, target, given);
        if (DIRECT.has(String(name))) return call;
        const hasWritten = WRITES[String(name)];
        return (...given: unknown[]): unknown =>
          hasWritten === undefined
            ? this.#call(() => call(...given))
            : this.#write(() => call(...given), hasWritten);
      },
    });
  }

  /** `hasWritten`: whether there is something that others should hear of. */
  #write<T>(
    operation: () => MaybePromise<T>,
    hasWritten: (answer: unknown) => boolean = () => true,
  ): MaybePromise<T> {
    if (this.#clock.trueMs < this.#around.fullUntilMs && !this.#clock.dead) {
      return Promise.reject(new Error("database or disk is full"));
    }
    const answer = this.#call(operation);
    if (!(answer instanceof Promise)) {
      this.wrote ||= hasWritten(answer);
      return answer;
    }
    return answer.then((value) => {
      this.wrote ||= hasWritten(value);
      return value;
    });
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
