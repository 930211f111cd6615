/**
 * The latest events, numbered: what a stream sends, and where one that was cut off goes on.
 *
 * @module
 */

import type { PoolEvent } from "../../contract/event.ts";

/** Which events a stream wants. */
export interface EventFilter {
  /** Names of pools; events about no single pool pass too. Empty: all. */
  readonly pools: ReadonlySet<string>;
  /** Kinds of events. Empty: all. */
  readonly kinds: ReadonlySet<string>;
}

/** A piece of the ring as text. */
export interface Slice {
  /** Events in the form of an event stream. May be empty: none passed the filter. */
  readonly text: string;
  /** Number of the last event looked at. */
  readonly upTo: number;
}

/** Longest text of a slice, characters. */
const LONGEST_SLICE = 65_536;

interface Entry {
  readonly event: PoolEvent;
  /** Made when a stream first wants it. */
  text: string | undefined;
}

/** Keeps the latest events, this many at most. */
export class EventRing {
  /** Number of the latest event; 0 if there was none. */
  latest = 0;
  readonly #entries: (Entry | undefined)[];
  #count = 0;
  readonly #prefix: string;
  readonly #textOf: (event: PoolEvent) => string;

  /** `prefix` tells the ids of this ring from those of another process; `textOf` makes an event's JSON. */
  constructor(capacity: number, prefix: string, textOf: (event: PoolEvent) => string) {
    this.#entries = new Array(capacity);
    this.#prefix = prefix;
    this.#textOf = textOf;
  }

  /** Number of the oldest event kept; one above `latest` if there is none. */
  get oldest(): number {
    return this.latest - this.#count + 1;
  }

  /** Adds an event. */
  push(event: PoolEvent): void {
    this.#entries[++this.latest % this.#entries.length] = { event, text: undefined };
    if (this.#count < this.#entries.length) this.#count++;
  }

  /** Forgets all events; the numbers go on, with a hole that no stream can resume over. */
  clear(): void {
    this.latest++;
    this.#count = 0;
    this.#entries.fill(undefined);
  }

  /** Id of a number, as written after `id:`. */
  idOf(number: number): string {
    return `${this.#prefix}-${number}`;
  }

  /** The number after which a stream with this last id goes on. `undefined`: events in between are lost. */
  resume(id: string): number | undefined {
    const [, prefix, digits] = /^([a-z0-9]+)-(\d{1,15})$/.exec(id) ?? [];
    const number = Number(digits);
    if (prefix !== this.#prefix) return undefined;
    return number >= this.oldest - 1 && number <= this.latest ? number : undefined;
  }

  /** Text of events after a number, as much as fits a slice. */
  slice(after: number, filter: EventFilter): Slice {
    let text = "";
    let number = Math.max(after, this.oldest - 1);
    while (number < this.latest && text.length < LONGEST_SLICE) {
      const entry = this.#entries[++number % this.#entries.length];
      if (entry === undefined || !passes(entry.event, filter)) continue;
      entry.text ??= `id: ${this.idOf(number)}\ndata: ${this.#textOf(entry.event)}\n\n`;
      text += entry.text;
    }
    return { text, upTo: number };
  }
}

function passes({ pool, kind }: PoolEvent, { pools, kinds }: EventFilter): boolean {
  if (pools.size > 0 && pool !== "" && !pools.has(pool)) return false;
  return kinds.size === 0 || kinds.has(kind);
}
