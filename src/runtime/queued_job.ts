/**
 * A job that was accepted, as the one that sent it holds it.
 *
 * @module
 */

import type { JobHandle } from "./handles.ts";
import type { Added, Queue } from "../contract/store.ts";

/** A job that a queue has. */
export class QueuedJob implements JobHandle {
  readonly #queue: Queue;
  readonly #added: Added;
  readonly duplicate: boolean;

  /** `added` is what the queue answered. */
  constructor(queue: Queue, added: Added) {
    this.#queue = queue;
    this.#added = added;
    this.duplicate = added.duplicate;
  }

  get id(): string {
    return this.#added.id;
  }

  get done(): JobHandle["done"] {
    return this.#queue.outcome(this.#added);
  }
}
