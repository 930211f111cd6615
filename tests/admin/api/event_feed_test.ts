import assert from "node:assert/strict";
import { EventFeed } from "../../../src/admin/api/event_feed.ts";
import type { Observer, PoolEvent } from "../../../src/contract/event.ts";
import { VirtualClock } from "../../../src/time/virtual_clock.ts";

const ALL = { pools: new Set<string>(), kinds: new Set<string>() };

interface Bench {
  readonly clock: VirtualClock;
  readonly feed: EventFeed;
  readonly stopping: AbortController;
  /** True while the feed observes. */
  observed(): boolean;
  /** Tells the feed of `count` events; each has its number as its time. */
  happen(count?: number): void;
}

function bench(maxStreams = 10, textOf = (event: PoolEvent) => String(event.atMs)): Bench {
  const clock = new VirtualClock();
  const stopping = new AbortController();
  const observers = new Set<Observer>();
  let happened = 0;
  const feed = new EventFeed({
    observe: (observer) => {
      observers.add(observer);
      return () => observers.delete(observer);
    },
    textOf,
    clock,
    maxStreams,
    signal: stopping.signal,
  });
  return {
    clock,
    feed,
    stopping,
    observed: () => observers.size > 0,
    happen: (count = 1) => {
      for (let left = count; left > 0; left--) {
        const event: PoolEvent = { kind: "draining", atMs: ++happened, pool: "p" };
        for (const observer of observers) observer(event);
      }
    },
  };
}

/** Reads a stream as text: what has come so far, and the rest once it is closed. */
class Client {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  text = "";
  ended: Promise<void>;

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#reader = stream.getReader();
    this.ended = this.#read();
  }

  /** Ids and names of the messages, such as `data 3` or `beat`. */
  get messages(): readonly string[] {
    return this.text.split("\n\n").filter((message) => message !== "").map((message) =>
      /^event: (\w+)/m.exec(message)?.[1] ?? message.replace(/^id: .*\ndata: /, "data ")
    );
  }

  get lastId(): string {
    return this.text.match(/(?<=^id: ).*$/gm)?.at(-1) ?? "";
  }

  async leave(): Promise<void> {
    await this.#reader.cancel();
    await this.ended;
  }

  async #read(): Promise<void> {
    for (let part = await this.#reader.read(); !part.done; part = await this.#reader.read()) {
      this.text += this.#decoder.decode(part.value);
    }
  }
}

Deno.test("EventFeed sends events together, a moment after they happened", async () => {
  const { clock, feed, happen } = bench();
  const client = new Client(feed.open(ALL));

  await clock.advance(0);
  happen(2);
  await clock.advance(49);
  const before = client.messages;
  await clock.advance(1);

  assert.deepEqual(before, ["beat"]);
  assert.deepEqual(client.messages, ["beat", "data 1", "data 2"]);
  await client.leave();
});

Deno.test("EventFeed beats while nothing happens", async () => {
  const { clock, feed } = bench();
  const client = new Client(feed.open(ALL));

  await clock.advance(45_000);

  assert.deepEqual(client.messages, ["beat", "beat", "beat", "beat"]);
  assert.match(client.text, /event: beat\nid: [0-9a-f]{8}-\d+\ndata: \{"atMs":\d+\}/);
  await client.leave();
});

Deno.test("EventFeed goes on after the last id, also that of a heartbeat", async () => {
  const { clock, feed, happen } = bench();
  const first = new Client(feed.open(ALL));
  await clock.advance(0);
  const idOfBeat = first.lastId;
  happen(2);
  await clock.advance(50);
  const idOfEvent = first.lastId;
  await first.leave();
  happen(2);

  const afterBeat = new Client(feed.open(ALL, idOfBeat));
  const afterEvent = new Client(feed.open(ALL, idOfEvent));
  await clock.advance(0);

  assert.deepEqual(afterBeat.messages, ["data 1", "data 2", "data 3", "data 4", "beat"]);
  assert.deepEqual(afterEvent.messages, ["data 3", "data 4", "beat"]);
  await Promise.all([afterBeat.leave(), afterEvent.leave()]);
});

Deno.test("EventFeed says so, when it cannot go on after an id", async () => {
  const { clock, feed } = bench();

  const client = new Client(feed.open(ALL, "of-another-process-7"));
  await clock.advance(0);

  assert.deepEqual(client.messages, ["gap", "beat"]);
  assert.match(client.text, /event: gap\ndata: \{"missed":null\}/);
  await client.leave();
});

Deno.test("EventFeed says how many events a client missed, when more happened at once than are kept", async () => {
  const { clock, feed, happen } = bench();
  const client = new Client(feed.open(ALL));
  await clock.advance(0);

  happen(5_000);
  await clock.advance(50);

  assert.match(client.text, /event: gap\ndata: \{"missed":904\}/);
  assert.deepEqual(client.messages.slice(0, 3), ["beat", "gap", "data 905"]);
  assert.equal(client.messages.at(-1), "data 5000");
  await client.leave();
});

Deno.test("EventFeed observes only while someone listens, and a minute longer", async () => {
  const { clock, feed, happen, observed } = bench();

  const before = observed();
  const client = new Client(feed.open(ALL));
  await client.leave();
  happen();
  const lingers = observed();
  await clock.advance(60_001);
  happen();

  assert.deepEqual([before, lingers, observed()], [false, true, false]);
});

Deno.test("EventFeed drops a client that takes nothing for ten seconds, others go on", async () => {
  const { clock, feed, happen } = bench(10, () => "x".repeat(1_000));
  const stalled = feed.open(ALL); // nobody reads it
  const client = new Client(feed.open(ALL));

  for (let second = 0; second < 11; second++) {
    happen(100);
    await clock.advance(1_000);
  }

  assert.equal(feed.streams, 1);
  assert.equal(client.messages.filter((message) => message.startsWith("data")).length, 1_100);
  await assert.rejects(
    new Response(stalled).text(),
    (reason) => reason === "A client of the event stream reads nothing: its connection is closed",
  );
  await client.leave();
});

Deno.test("EventFeed holds little for a client that takes nothing", async () => {
  const { clock, feed, happen } = bench(10, () => "x".repeat(1_000));
  const stalled = feed.open(ALL);
  let bytes = 0;

  for (let round = 0; round < 100; round++) {
    happen(40);
    await clock.advance(50);
  }
  feed.close(); // what lies in the stream can be read
  for await (const chunk of stalled) bytes += chunk.byteLength;

  assert.ok(bytes > 60_000 && bytes < 150_000, `${bytes} of 4 million`);
});

Deno.test("EventFeed gives a client that was slow for a while all that is kept", async () => {
  const { clock, feed, happen } = bench(10, () => "x".repeat(1_000));
  const stream = feed.open(ALL);
  for (let second = 0; second < 5; second++) {
    happen(100);
    await clock.advance(1_000);
  }

  const client = new Client(stream);
  await clock.advance(1_000);

  assert.equal(client.messages.filter((message) => message.startsWith("data")).length, 500);
  await client.leave();
});

Deno.test("EventFeed ends all streams at its signal, what happened before included, and opens no more", async () => {
  const { feed, happen, stopping, clock } = bench();
  const clients = Array.from({ length: 10 }, () => new Client(feed.open(ALL)));
  await clock.advance(0);
  happen();

  stopping.abort();
  await Promise.all(clients.map((client) => client.ended));

  assert.deepEqual(clients[9]?.messages, ["beat", "data 1", "end"]);
  assert.deepEqual([feed.streams, feed.refusal], [0, "closed"]);
});

Deno.test("EventFeed ends all streams at its signal, also those whose connection has just broken", async () => {
  for (let round = 0; round < 30; round++) {
    const { feed, stopping } = bench();
    const server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      () => new Response(feed.open(ALL)),
    );
    const clients: Deno.TcpConn[] = [];
    for (let count = 0; count < 10; count++) clients.push(await connected(server.addr.port));

    for (const client of clients) client.close();
    // How much of the break the server has heard of by then differs: no state of it may throw.
    await new Promise((resolve) => setTimeout(resolve, round % 3));
    stopping.abort();

    assert.equal(feed.streams, 0);
    await server.shutdown();
  }
});

Deno.test("EventFeed refuses more streams than it may have, until one leaves", async () => {
  const { feed } = bench(2);
  const clients = [new Client(feed.open(ALL)), new Client(feed.open(ALL))];

  const full = feed.refusal;
  await clients[0]?.leave();

  assert.deepEqual([full, feed.refusal], ["full", undefined]);
  await clients[1]?.leave();
});

/** A connection that has the beginning of its stream. */
async function connected(port: number): Promise<Deno.TcpConn> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  await connection.write(new TextEncoder().encode("GET / HTTP/1.1\r\nhost: here\r\n\r\n"));
  await connection.read(new Uint8Array(1_024));
  return connection;
}
