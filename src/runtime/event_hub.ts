/**
 * Where events meet their observers.
 *
 * @module
 */

import { messageOf } from "../contract/errors.ts";
import type { Observer, PoolEvent } from "../contract/event.ts";
import type { Logger } from "../contract/job.ts";
import type { Redaction } from "../config/redaction.ts";
import type { Wall } from "../time/wall.ts";

/** Tells each observer of each event. A part that emits asks `active` first: unseen events are not made. */
export class EventHub {
  readonly #observers = new Set<Observer>();
  readonly #log: Logger;
  readonly #wall: Wall | undefined;

  readonly #redaction: Redaction;

  /**
   * `log` hears of observers that throw; `redaction` says what observers may have; `wall`: what the times
   * of events are shown by.
   */
  constructor(log: Logger, redaction: Redaction, wall?: Wall) {
    this.#wall = wall;
    this.#log = log;
    this.#redaction = redaction;
  }

  /** True if anyone observes. */
  get active(): boolean {
    return this.#observers.size > 0;
  }

  /** Adds an observer until the function it returns is called. */
  observe(observer: Observer): () => void {
    this.#observers.add(observer);
    return () => {
      this.#observers.delete(observer);
    };
  }

  /** Tells all observers. One that throws harms no other. */
  emit(given: PoolEvent): void {
    const isShown = this.#wall === undefined || this.#wall.aheadMs === 0;
    const timed = isShown ? given : { ...given, atMs: this.#wall.at(given.atMs) };
    const event = this.#redaction.event(timed);
    for (const observer of this.#observers) {
      try {
        const answer: unknown = observer(event); // one that is asynchronous is nobody's to wait for
        if (answer instanceof Promise) answer.catch((thrown) => this.#threw(event, thrown));
      } catch (thrown) {
        this.#threw(event, thrown);
      }
    }
  }

  #threw({ kind: event }: PoolEvent, thrown: unknown): void {
    this.#log.error("An observer threw", { event, error: messageOf(thrown) });
  }
}
