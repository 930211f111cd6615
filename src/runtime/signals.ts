/**
 * Readings of downstream systems, taken before each tick.
 *
 * @module
 */

import { messageOf } from "../errors.ts";
import type { Logger } from "../job.ts";
import type { PoolState } from "./pool_state.ts";
import { isPromise } from "./store_guard.ts";
import type { SignalReader } from "../strategy.ts";

/** A reading that takes longer than so many ms leaves its signal stale meanwhile. */
const SLOW_READING_MS = 1000;

interface Source {
  readonly name: string;
  readonly read: SignalReader;
  value: number;
  failed: boolean;
  readingSinceMs: number | undefined;
}

/** Owns the signals of one pool. A slow reader never holds a tick back. */
export class Signals {
  #sources: readonly Source[] = [];
  readonly #state: PoolState;
  readonly #log: Logger;

  /** Begins with all signals stale at 0. */
  constructor(readers: ReadonlyMap<string, SignalReader>, state: PoolState, log: Logger) {
    this.#state = state;
    this.#log = log;
    this.adopt(readers);
  }

  /** Reads these from now on. A known one goes on with its last value, others are stale at 0. */
  adopt(readers: ReadonlyMap<string, SignalReader>): void {
    const known = new Map(this.#sources.map((source) => [source.name, source]));
    this.#sources = [...readers].map(([name, read]) => {
      const source = known.get(name);
      if (source?.read === read) return source;
      return { name, read, value: 0, failed: true, readingSinceMs: undefined };
    });
    this.#publish(this.#state.nowMs);
  }

  /** Takes a reading of each signal; what answers later counts for the tick after. */
  sample(nowMs: number): void {
    if (this.#sources.length === 0) return;
    for (const source of this.#sources) {
      if (source.readingSinceMs === undefined) this.#read(source, nowMs);
    }
    this.#publish(nowMs);
  }

  #read(source: Source, nowMs: number): void {
    try {
      const reading = source.read();
      if (!isPromise(reading)) {
        this.#take(source, reading);
        return;
      }
      source.readingSinceMs = nowMs;
      reading.then((value) => this.#take(source, value), (thrown) => this.#fail(source, thrown));
    } catch (thrown) {
      this.#fail(source, thrown);
    }
  }

  #take(source: Source, value: number): void {
    source.readingSinceMs = undefined;
    if (typeof value !== "number" || !Number.isFinite(value)) {
      this.#fail(source, new TypeError(`Expected a finite number but received ${String(value)}`));
      return;
    }
    source.value = value;
    source.failed = false;
  }

  #fail(source: Source, thrown: unknown): void {
    source.readingSinceMs = undefined;
    if (!source.failed) {
      this.#log.warn("A signal cannot be read", { signal: source.name, error: messageOf(thrown) });
    }
    source.failed = true;
  }

  #publish(nowMs: number): void {
    this.#state.signals = Object.fromEntries(
      this.#sources.map((source) => {
        const slow = source.readingSinceMs !== undefined &&
          nowMs - source.readingSinceMs > SLOW_READING_MS;
        return [source.name, { value: source.value, stale: source.failed || slow }];
      }),
    );
  }
}
