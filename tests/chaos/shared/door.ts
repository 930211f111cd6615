/**
 * One process's door to the store that all processes share: it fails, it answers late, it dies with its
 * process.
 *
 * @module
 */

import type { MemoryStore } from "../../../stores/memory/mod.ts";
import type {
  MaybePromise,
  Queue,
  QueueOptions,
  StateEntry,
  Store,
} from "../../../src/contract/store.ts";
import type { Seat } from "../seat.ts";
import { type Call, CALLS } from "../step.ts";
import { call } from "../store.ts";

/** The store as one process has it. */
export class SharedDoor implements Store {
  readonly #store: MemoryStore;
  readonly #process: Pick<Seat, "clock" | "faults">;

  /** Goes before `store`, which others share and nobody closes. */
  constructor(store: MemoryStore, process: Pick<Seat, "clock" | "faults">) {
    this.#store = store;
    this.#process = process;
  }

  open(options: QueueOptions): Queue {
    const { clock } = this.#process;
    const { listener } = options;
    const queue = this.#store.open({
      ...options,
      listener: {
        wake: () => clock.soon(() => listener.wake()),
        cancelled: (id) => clock.soon(() => listener.cancelled(id)),
        ended: (record) => clock.soon(() => listener.ended(record)),
      },
    });
    const known: ReadonlySet<string | symbol> = new Set(CALLS);
    return new Proxy<Queue>(queue, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        return (...given: unknown[]): unknown => {
          const run = (): unknown => Reflect.apply(value, target, given);
          if (known.has(name)) return call(this.#process, name as Call, run); // it is one of them
          return clock.dead && name === "leave" ? undefined : run();
        };
      },
    });
  }

  get(key: string): MaybePromise<StateEntry | undefined> {
    return call(this.#process, "get", () => this.#store.get(key));
  }

  commit(...given: Parameters<Store["commit"]>): MaybePromise<boolean> {
    return call(this.#process, "commit", () => this.#store.commit(...given)) as MaybePromise<
      boolean
    >;
  }

  close(): void {}
}
