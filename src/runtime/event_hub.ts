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

/** Kinds that come with jobs and decisions: many a second. */
const FREQUENT: ReadonlySet<PoolEvent["kind"]> = new Set([
  "decided",
  "job-added",
  "job-unstored",
  "job-shed",
  "job-started",
  "job-done",
  "job-failed",
  "job-deferred",
  "job-dead",
  "job-cancelled",
  "job-handed-back",
  "lease-lost",
  "shadow-differs",
  "shadow-agrees",
]);

/**
 * Tells each observer of each event. A part that emits what comes with jobs or decisions asks `active`
 * first, any other one `watched`: unseen events are not made.
 */
export class EventHub {
  readonly #observers = new Set<Observer>();
  readonly #watchers = new Set<Observer>();
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

  /** True if anyone observes everything. */
  get active(): boolean {
    return this.#observers.size > 0;
  }

  /** True if anyone observes what comes with no job and no decision. */
  get watched(): boolean {
    return this.#observers.size + this.#watchers.size > 0;
  }

  /**
   * Adds an observer until the function it returns is called.
   *
   * @param jobs False: it is not called with what comes with jobs and decisions.
   */
  observe(observer: Observer, jobs = true): () => void {
    const observers = jobs ? this.#observers : this.#watchers;
    observers.add(observer);
    return () => {
      observers.delete(observer);
    };
  }

  /** Tells all observers. One that throws harms no other. */
  emit(given: PoolEvent): void {
    const isShown = this.#wall === undefined || this.#wall.aheadMs === 0;
    const timed = isShown ? given : { ...given, atMs: this.#wall.at(given.atMs) };
    const event = this.#redaction.event(timed);
    for (const observer of this.#observers) this.#tell(observer, event);
    if (this.#watchers.size === 0 || isFrequent(event)) return;
    for (const observer of this.#watchers) this.#tell(observer, event);
  }

  #tell(observer: Observer, event: PoolEvent): void {
    try {
      const answer: unknown = observer(event); // one that is asynchronous is nobody's to wait for
      if (answer instanceof Promise) answer.catch((thrown) => this.#threw(event, thrown));
    } catch (thrown) {
      this.#threw(event, thrown);
    }
  }

  #threw({ kind: event }: PoolEvent, thrown: unknown): void {
    this.#log.error("An observer threw", { event, error: messageOf(thrown) });
  }
}

/** Circuit breakers of keys open and close with jobs, that of a pool does not. */
function isFrequent(event: PoolEvent): boolean {
  const isBreaker = event.kind === "cooldown-began" || event.kind === "cooldown-ended";
  return FREQUENT.has(event.kind) || (isBreaker && event.key !== undefined);
}
