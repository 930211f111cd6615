/**
 * Streams of events to many clients. All read from one ring, so what a client has not taken costs no
 * room; one that takes nothing for long is dropped.
 *
 * @module
 */

import type { Clock, Timer } from "../../time/clock.ts";
import type { Observer, PoolEvent } from "../../contract/event.ts";
import { type EventFilter, EventRing } from "./event_ring.ts";

/** What a feed is made of. */
export interface FeedOptions {
  /** Adds an observer until the function it returns is called. */
  readonly observe: (observer: Observer) => () => void;
  /** Makes the JSON of an event. */
  readonly textOf: (event: PoolEvent) => string;
  /** Time of batches, heartbeats and limits. */
  readonly clock: Clock;
  /** Most streams at once. */
  readonly maxStreams: number;
  /** Ends all streams. */
  readonly signal?: AbortSignal | undefined;
}

/** Most streams at once, unless the options say otherwise. */
export const MOST_STREAMS = 100;

/** Events that are kept for streams that were cut off. */
const KEPT_EVENTS = 4_096;

/** Events of one such span go out together, ms. */
const BATCH_MS = 50;

/** Time between heartbeats, ms. */
const BEAT_MS = 15_000;

/** A client that takes nothing for so long is dropped, ms. */
const SLOW_MS = 10_000;

/** What a client may take to catch up once the feed closes, ms. */
const LAST_MS = 1_000;

/** Bytes that may lie between us and a client's socket before it counts as slow. */
const BUFFERED_BYTES = 65_536;

/** Events are kept for so long after the last stream ended, ms. */
const LINGER_MS = 60_000;

interface Stream {
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
  readonly filter: EventFilter;
  /** Number of the last event that was sent or passed over. */
  sent: number;
  /** True once its client is gone: nothing can be written or closed any more. */
  gone: boolean;
  /** Since when it takes nothing. */
  blockedSinceMs: number | undefined;
}

/** Streams events to clients. Observes only while there are some, and a while longer. */
export class EventFeed {
  readonly #options: FeedOptions;
  readonly #ring: EventRing;
  readonly #streams = new Set<Stream>();
  readonly #encoder = new TextEncoder();
  #unobserve: (() => void) | undefined;
  #flushing: Timer | undefined;
  #beating: Timer | undefined;
  #leftAtMs = 0;
  #closed = false;

  /** Nothing is observed before the first stream. */
  constructor(options: FeedOptions) {
    this.#options = options;
    // No secret: it tells the ids of this feed from those before a restart.
    const prefix = crypto.randomUUID().slice(0, 8);
    this.#ring = new EventRing(KEPT_EVENTS, prefix, options.textOf);
    if (options.signal?.aborted) this.#closed = true;
    options.signal?.addEventListener("abort", () => this.close(), { once: true });
  }

  /** Streams that are open. */
  get streams(): number {
    return this.#streams.size;
  }

  /** Why no stream can be opened. `undefined`: one can. */
  get refusal(): "closed" | "full" | undefined {
    if (this.#closed) return "closed";
    return this.#streams.size >= this.#options.maxStreams ? "full" : undefined;
  }

  /**
   * Opens a stream. Ask `refusal` first.
   *
   * @param filter Which events it wants.
   * @param lastId Id of the last event that the client has. `undefined`: it begins now.
   */
  open(filter: EventFilter, lastId?: string): ReadableStream<Uint8Array> {
    this.#observe();
    let stream: Stream | undefined;
    return new ReadableStream<Uint8Array>({
      start: (controller) => {
        const resumed = lastId === undefined ? undefined : this.#ring.resume(lastId);
        const sent = resumed ?? this.#ring.latest;
        stream = { controller, filter, sent, gone: false, blockedSinceMs: undefined };
        this.#streams.add(stream);
        this.#beating ??= this.#options.clock.at(this.#now() + BEAT_MS, this.#beat);
        if (lastId !== undefined && resumed === undefined) this.#write(stream, this.#gap(null));
        this.#send(stream);
        this.#write(stream, this.#pulse(stream));
      },
      pull: () => {
        if (stream === undefined || !this.#streams.has(stream)) return;
        if (this.#closed) return this.#end(stream);
        stream.blockedSinceMs = undefined;
        this.#send(stream);
      },
      cancel: () => {
        if (stream === undefined) return;
        stream.gone = true;
        this.#remove(stream);
      },
    }, new ByteLengthQueuingStrategy({ highWaterMark: BUFFERED_BYTES }));
  }

  /** Ends all streams, and opens no more. A client that takes nothing is dropped: its server would wait. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const stream of this.#streams) {
      if (isBehind(stream)) continue; // ends once its client takes something
      this.#send(stream);
      if (this.#streams.has(stream)) this.#end(stream);
    }
    this.#unobserve?.();
    this.#unobserve = undefined;
    if (this.#streams.size === 0) return;
    this.#flushing?.cancel();
    this.#flushing = this.#options.clock.at(this.#now() + LAST_MS, () => {
      for (const stream of this.#streams) this.#drop(stream);
    });
  }

  #end(stream: Stream): void {
    this.#remove(stream); // nothing is sent after the end
    this.#write(stream, "event: end\ndata: {}\n\n");
    // Hint: what is written to a broken connection cancels its stream before `#write` returns.
    if (!stream.gone) stream.controller.close();
  }

  #drop(stream: Stream): void {
    // Hint: not an `Error`. Deno writes what ends a response to standard error: a sentence, no trace.
    stream.controller.error("A client of the event stream reads nothing: its connection is closed");
    this.#remove(stream);
  }

  #observe(): void {
    if (this.#unobserve !== undefined) return;
    this.#ring.clear(); // what happened meanwhile was not seen
    this.#unobserve = this.#options.observe((event) => this.#take(event));
  }

  #take(event: PoolEvent): void {
    this.#ring.push(event);
    if (this.#streams.size > 0) {
      this.#flushing ??= this.#options.clock.at(this.#now() + BATCH_MS, this.#flush);
    } else if (this.#now() - this.#leftAtMs > LINGER_MS) {
      this.#unobserve?.();
      this.#unobserve = undefined;
    }
  }

  readonly #flush = (): void => {
    this.#flushing = undefined;
    const chunks: Chunks = new Map();
    for (const stream of this.#streams) this.#send(stream, chunks);
  };

  readonly #beat = (): void => {
    this.#beating = this.#options.clock.at(this.#now() + BEAT_MS, this.#beat);
    for (const stream of this.#streams) {
      this.#send(stream);
      if (this.#streams.has(stream) && isReady(stream)) this.#write(stream, this.#pulse(stream));
    }
  };

  /** Sends what the ring has for a stream, as far as its client takes it. */
  #send(stream: Stream, chunks: Chunks = new Map()): void {
    while (isReady(stream)) {
      stream.blockedSinceMs = undefined;
      const { oldest, latest } = this.#ring;
      if (stream.sent >= latest) return;
      if (stream.sent < oldest - 1) {
        const missed = oldest - 1 - stream.sent;
        stream.sent = oldest - 1; // first: a client that waits is given more while this is written
        this.#write(stream, this.#gap(missed));
        continue;
      }
      const chunk = this.#chunk(stream, chunks);
      stream.sent = chunk.upTo;
      if (chunk.bytes.length > 0) stream.controller.enqueue(chunk.bytes);
    }
    const nowMs = this.#now();
    stream.blockedSinceMs ??= nowMs;
    if (nowMs - stream.blockedSinceMs >= SLOW_MS) this.#drop(stream);
  }

  /** The next piece for a stream: made once for all that want the same. */
  #chunk({ filter, sent }: Stream, chunks: Chunks): Chunk {
    const key = `${sent} ${[...filter.pools]} ${[...filter.kinds]}`;
    let chunk = chunks.get(key);
    if (chunk === undefined) {
      const { text, upTo } = this.#ring.slice(sent, filter);
      chunk = { bytes: this.#encoder.encode(text), upTo };
      chunks.set(key, chunk);
    }
    return chunk;
  }

  /** A heartbeat. Its id lets a stream whose filter lets little pass resume all the same. */
  #pulse({ sent }: Stream): string {
    return `event: beat\nid: ${this.#ring.idOf(sent)}\ndata: {"atMs":${
      Math.round(this.#now())
    }}\n\n`;
  }

  /** Says that events were lost: a client reads the pools again. `null`: their number is unknown. */
  #gap(missed: number | null): string {
    return `event: gap\ndata: {"missed":${missed}}\n\n`;
  }

  #write(stream: Stream, text: string): void {
    stream.controller.enqueue(this.#encoder.encode(text));
  }

  #remove(stream: Stream): void {
    this.#streams.delete(stream);
    if (this.#streams.size > 0) return;
    this.#leftAtMs = this.#now();
    this.#flushing?.cancel();
    this.#beating?.cancel();
    this.#flushing = this.#beating = undefined;
  }

  #now(): number {
    return this.#options.clock.nowMs();
  }
}

/** Pieces of one flush, by where they begin and what they let pass. */
type Chunks = Map<string, Chunk>;

interface Chunk {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly upTo: number;
}

/** True while there is something that its client has not taken. */
function isBehind({ controller }: Stream): boolean {
  return (controller.desiredSize ?? 0) < BUFFERED_BYTES;
}

function isReady({ controller }: Stream): boolean {
  return (controller.desiredSize ?? 0) > 0;
}
