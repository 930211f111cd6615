/**
 * Readings of downstream systems, taken before each tick.
 *
 * @module
 */

import { received } from "../base/answers.ts";
import { messageOf } from "../contract/errors.ts";
import type { Logger } from "../contract/job.ts";
import type { PoolState } from "./pool_state.ts";
import { isPromise } from "./store_guard.ts";
import type { SignalReader } from "../contract/strategy.ts";

/** A reading that takes longer than this many ms leaves its signal stale meanwhile. */
const SLOW_READING_MS = 1000;

/** A reading that takes longer than this many ms is given up: the signal is read again. */
export const READING_WITHIN_MS = 10_000;

interface Source {
  readonly name: string;
  readonly read: SignalReader;
  value: number;
  failed: boolean;
  /** True once it was reported that it fails, until it works again. */
  reported: boolean;
  /** The reading under way. `undefined`: none is. */
  reading: { readonly sinceMs: number } | undefined;
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
      return { name, read, value: 0, failed: true, reported: false, reading: undefined };
    });
    this.#publish(this.#state.nowMs);
  }

  /** Takes a reading of each signal; what answers later counts for the tick after. */
  sample(nowMs: number): void {
    if (this.#sources.length === 0) return;
    for (const source of this.#sources) {
      const { reading } = source;
      if (reading !== undefined && nowMs - reading.sinceMs < READING_WITHIN_MS) continue;
      if (reading !== undefined) this.#fail(source, `No answer within ${READING_WITHIN_MS} ms`);
      this.#read(source, nowMs);
    }
    this.#publish(nowMs);
  }

  #read(source: Source, nowMs: number): void {
    try {
      const answer = source.read();
      if (!isPromise(answer)) {
        this.#take(source, answer);
        return;
      }
      const reading = { sinceMs: nowMs };
      source.reading = reading;
      // One that was given up says nothing any more: another has begun since.
      answer.then((value) => {
        if (source.reading === reading) this.#take(source, value);
      }, (thrown) => {
        if (source.reading === reading) this.#fail(source, messageOf(thrown));
      });
    } catch (thrown) {
      this.#fail(source, messageOf(thrown));
    }
  }

  #take(source: Source, value: number): void {
    if (typeof value !== "number" || !Number.isFinite(value)) {
      this.#fail(source, `Expected a finite number but received ${received(value)}`);
      return;
    }
    source.reading = undefined;
    source.value = value;
    source.failed = false;
    source.reported = false;
  }

  /** A fault is reported once, until the signal can be read again. */
  #fail(source: Source, error: string): void {
    source.reading = undefined;
    source.failed = true;
    if (source.reported) return;
    source.reported = true;
    const { pool } = this.#state;
    this.#log.warn("A signal cannot be read", { pool, signal: source.name, error });
  }

  #publish(nowMs: number): void {
    this.#state.signals = Object.freeze(Object.fromEntries(
      this.#sources.map(({ name, value, failed, reading }) => {
        const isSlow = reading !== undefined && nowMs - reading.sinceMs > SLOW_READING_MS;
        return [name, Object.freeze({ value, stale: failed || isSlow })];
      }),
    ));
  }
}
