/**
 * Event streams under load: 50 clients that read all events, while jobs come in over HTTP and pools
 * work. Beside it the same load without a client.
 *
 * @module
 */

import { quantile } from "../src/base/stats.ts";
import type { Bench, Figures } from "./_bench.ts";
import { type Server, startServer } from "./_server.ts";

const STREAMS = 50;
const SENDERS = 20;
const PER_SEC = 200;
const DURATION_MS = 60_000;

/**
 * Figures: "jobs" and "refused"; "p50Ms", "p99Ms" and "maxMs" of an enqueue; "dropped": streams that
 * the server gave up; "lost": ends of jobs that streams were not told; "lagP99Ms": a job's end to its
 * event; "cpuShare" of the server, and its "rssMb" at the end.
 */
export const streams: Bench = {
  name: "streams",
  about: `${PER_SEC} enqueues/s over HTTP for a minute, jobs of 20 ms, read by event streams`,
  rounds: 1,
  cases: ["none", `${STREAMS} streams`],
  measure,
  targets: [
    {
      about: "p99 of an enqueue, with streams / without",
      over: { of: `${STREAMS} streams`, figure: "p99Ms" },
      by: { of: "none", figure: "p99Ms" },
      aim: "at most",
    },
  ],
};

async function measure(of: string): Promise<Figures> {
  await using server = await startServer("sluice-work");
  const { hostname, port } = new URL(server.url);
  const to = { hostname, port: Number(port) };
  const clients = Array.from({ length: of === "none" ? 0 : STREAMS }, () => new Client());
  await Promise.all(clients.map((client) => client.open(to)));
  const before = await server.usage();
  const startedAtMs = performance.now();
  const sent = await load(to);
  await settled(server, sent.ids.size, clients);
  const { cpuMs, rssBytes } = await server.usage();
  const elapsedMs = performance.now() - startedAtMs;
  const dropped = clients.filter(({ closed }) => closed).length;
  await Promise.all(clients.map((client) => client.close()));
  const lost = clients.map(({ ended }) => [...sent.ids].filter((id) => !ended.has(id)).length);
  const lags = clients.flatMap(({ lags }) => lags).toSorted((a, b) => a - b);
  const took = sent.took.toSorted((a, b) => a - b);
  return {
    jobs: sent.ids.size,
    refused: sent.refused,
    p50Ms: quantile(took, 0.5),
    p99Ms: quantile(took, 0.99),
    maxMs: took.at(-1) ?? 0,
    dropped,
    lost: lost.reduce((sum, count) => sum + count, 0),
    lagP99Ms: lags.length === 0 ? 0 : quantile(lags, 0.99),
    cpuShare: (cpuMs - before.cpuMs) / elapsedMs,
    rssMb: rssBytes / 2 ** 20,
  };
}

interface Address {
  readonly hostname: string;
  readonly port: number;
}

/** Sends jobs at even times, over some connections. The time of one is from when it was due. */
async function load(to: Address): Promise<Sent> {
  const sent: Sent = { ids: new Set(), took: [], refused: 0 };
  const beganAtMs = performance.now();
  const sender = async (first: number): Promise<void> => {
    using connection = await Deno.connect(to);
    connection.setNoDelay(true);
    const answer = new Uint8Array(4096);
    for (let n = first; n < PER_SEC * DURATION_MS / 1000; n += SENDERS) {
      const dueAtMs = beganAtMs + n * 1000 / PER_SEC;
      await sleep(dueAtMs - performance.now());
      await connection.write(requestOf(to, n % 5 === 0 ? "urgent" : "batch"));
      const length = await connection.read(answer); // an answer is shorter than a packet
      sent.took.push(performance.now() - dueAtMs);
      const text = new TextDecoder().decode(answer.subarray(0, length ?? 0));
      const id = /^HTTP.1.1 202 [^]*"id":"([^"]+)"/.exec(text)?.[1];
      if (id === undefined) sent.refused++;
      else sent.ids.add(id);
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, (_, first) => sender(first)));
  return sent;
}

interface Sent {
  readonly ids: Set<string>;
  /** From when it was due to its answer, ms. */
  readonly took: number[];
  refused: number;
}

function requestOf({ hostname, port }: Address, lane: string): Uint8Array {
  const body = JSON.stringify({ lane, payload: null });
  return new TextEncoder().encode(
    `POST /api/pools/bench/jobs HTTP/1.1\r\nhost: ${hostname}:${port}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
}

/** Waits until all jobs have ended, and a moment longer for the last events. */
async function settled(
  { url }: Server,
  jobs: number,
  clients: readonly Client[],
): Promise<void> {
  for (let left = 100; left > 0; left--) {
    const { totals } = await (await fetch(`${url}/api/pools/bench`)).json();
    const isTold = clients.every(({ closed, ended }) => closed || ended.size >= jobs);
    if (totals.completions >= jobs && isTold) return;
    await sleep(100);
  }
}

/** Reads an event stream. A bare connection: 50 bodies of `fetch` would take more than the server does. */
class Client {
  /** Ids of jobs whose end it was told. */
  readonly ended = new Set<string>();
  /** From the end of a job to its event, ms. */
  readonly lags: number[] = [];
  /** True once the server has dropped it. */
  closed = false;
  #connection: Deno.TcpConn | undefined;
  #read: Promise<void> = Promise.resolve();

  async open(to: Address): Promise<void> {
    const connection = await Deno.connect(to);
    this.#connection = connection;
    // HTTP/1.0: the body comes as it is, in no chunks.
    const request = `GET /api/events HTTP/1.0\r\nhost: ${to.hostname}:${to.port}\r\n\r\n`;
    await connection.write(new TextEncoder().encode(request));
    const began = Promise.withResolvers<void>();
    this.#read = this.#hear(connection, began.resolve).catch(() => {}) // a read that `close` ends
      .finally(() => this.closed = true);
    await began.promise;
  }

  async close(): Promise<void> {
    this.#connection?.close();
    await this.#read;
  }

  async #hear(connection: Deno.TcpConn, began: () => void): Promise<void> {
    const decoder = new TextDecoder();
    const buffer = new Uint8Array(65_536);
    let rest = "";
    for (;;) {
      const length = await connection.read(buffer);
      if (length === null) return;
      began();
      const text = decoder.decode(buffer.subarray(0, length), { stream: true });
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line.includes('"kind":"job-done"')) this.#take(line);
    }
  }

  #take(line: string): void {
    const { id, atMs } = JSON.parse(line.slice(6));
    this.ended.add(id);
    this.lags.push(performance.timeOrigin + performance.now() - atMs);
  }
}

async function sleep(ms: number): Promise<void> {
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
}
