/**
 * A small webhook receiver with a rate limit, for trying things out on loopback.
 *
 * It stamps every arrival and answers 429 with `Retry-After` above its rate. On `POST /slow?ms=500`
 * it takes so long for each delivery until `POST /fast`; on `POST /fail?status=500` it answers so
 * until `POST /heal`. `GET` of any path tells what it has counted. Every other `POST` is a delivery.
 *
 * Run alone: `deno run --allow-net=127.0.0.1 examples/receiver.ts --port 8788 --rate 1000`
 *
 * @module
 */

import { parseArgs } from "node:util";
import { messageOf } from "../src/contract/errors.ts";

/** Options of `startReceiver`. */
export interface ReceiverOptions {
  /** Port on loopback; 0 takes a free one. */
  readonly port: number;
  /** Most deliveries accepted in any second. */
  readonly ratePerSec: number;
  /** How long one delivery takes, ms. */
  readonly serviceMs: number;
}

/** What a receiver has counted. */
export interface ReceiverStats {
  /** Deliveries that arrived, refused ones included. */
  readonly arrived: number;
  /** Most arrivals in any second. */
  readonly mostInAnySecond: number;
  /** Deliveries refused with 429. */
  readonly refused: number;
  /** Arrivals by the header `sluice-lane`. */
  readonly lanes: Readonly<Record<string, number>>;
}

/** A running receiver. */
export interface Receiver {
  /** Where it listens. */
  readonly url: string;
  /** What it has counted so far. */
  stats(): ReceiverStats;
  /** Takes `ms` for each delivery from now on. */
  slow(ms: number): void;
  /** Answers each delivery with `status` from now on; 200 heals. */
  fail(status: number): void;
  /** Stops listening once running deliveries are answered. */
  stop(): Promise<void>;
}

/** Longest time that a delivery can be told to take, ms. */
const LONGEST_MS = 600_000;

/** Starts a receiver on 127.0.0.1. @throws {Error} If the port is in use: which. */
export function startReceiver(options: ReceiverOptions): Receiver {
  const arrivals = new SlidingSecond();
  const accepted = new SlidingSecond();
  const lanes: Record<string, number> = {};
  let serviceMs = options.serviceMs;
  let failure = 200;
  let refused = 0;

  const receiver: Receiver = {
    get url() {
      return `http://127.0.0.1:${server.addr.port}`;
    },
    stats: () => ({
      arrived: arrivals.total,
      mostInAnySecond: arrivals.most,
      refused,
      lanes: { ...lanes },
    }),
    slow(ms) {
      serviceMs = ms;
    },
    fail(status) {
      failure = status;
    },
    stop: () => server.shutdown(),
  };
  const server = serve(
    options.port,
    (request) => request.method === "POST" ? receive(request) : Response.json(receiver.stats()),
  );
  return receiver;

  async function deliver(request: Request): Promise<Response> {
    const nowMs = performance.now();
    const lane = request.headers.get("sluice-lane") ?? "none";
    lanes[lane] = (lanes[lane] ?? 0) + 1;
    arrivals.add(nowMs);
    await request.text();
    if (accepted.countAt(nowMs) >= options.ratePerSec) {
      refused++;
      return Response.json({ error: "Too many deliveries" }, {
        status: 429,
        headers: { "retry-after": "1" },
      });
    }
    accepted.add(nowMs);
    if (serviceMs > 0) await new Promise((resolve) => setTimeout(resolve, serviceMs));
    return new Response(null, { status: failure });
  }

  /** Does what a control path asks for; takes anything else as a delivery. */
  function receive(request: Request): Response | Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    try {
      if (pathname === "/slow") receiver.slow(numberIn(searchParams.get("ms"), [0, LONGEST_MS]));
      else if (pathname === "/fast") receiver.slow(options.serviceMs);
      else if (pathname === "/fail") {
        receiver.fail(numberIn(searchParams.get("status"), [200, 599]));
      } else if (pathname === "/heal") receiver.fail(200);
      else return deliver(request);
    } catch (thrown) {
      return Response.json({ error: messageOf(thrown) }, { status: 400 });
    }
    return Response.json({ serviceMs, status: failure });
  }
}

function serve(
  port: number,
  handler: (request: Request) => Response | Promise<Response>,
): Deno.HttpServer<Deno.NetAddr> {
  try {
    return Deno.serve({ hostname: "127.0.0.1", port, onListen: () => {} }, handler);
  } catch (cause) {
    if (!(cause instanceof Deno.errors.AddrInUse)) throw cause;
    const message = `Port ${port} is in use: perhaps the example is running already`;
    throw new Error(message, { cause });
  }
}

/** Counts stamps in the second that ends now, and keeps the most it ever saw. */
class SlidingSecond {
  /** Stamps so far. */
  total = 0;
  /** Most stamps in any half-open second. */
  most = 0;
  #stamps: number[] = [];
  #head = 0;

  /** Adds a stamp, not before the last one. */
  add(atMs: number): void {
    this.total++;
    this.#stamps.push(atMs);
    this.most = Math.max(this.most, this.countAt(atMs));
  }

  /** Stamps after `nowMs` - 1000. */
  countAt(nowMs: number): number {
    while ((this.#stamps[this.#head] ?? Infinity) <= nowMs - 1000) this.#head++;
    if (this.#head > 1000 && this.#head * 2 > this.#stamps.length) {
      this.#stamps = this.#stamps.slice(this.#head);
      this.#head = 0;
    }
    return this.#stamps.length - this.#head;
  }
}

function numberIn(text: string | null, range: readonly [least: number, most: number]): number {
  const value = Number(text ?? 500);
  if (!(value >= range[0] && value <= range[1])) {
    throw new RangeError(`Expected a number from ${range[0]} to ${range[1]} but received ${text}`);
  }
  return value;
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      port: { type: "string", default: "8788" },
      rate: { type: "string", default: "1000" },
      service: { type: "string", default: "20" },
    },
  });
  const receiver = startReceiver({
    port: Number(values.port),
    ratePerSec: Number(values.rate),
    serviceMs: Number(values.service),
  });
  // deno-lint-ignore no-console
  console.log(
    `Receiver on ${receiver.url}: ${values.rate} deliveries a second, ${values.service} ms each`,
  );
}
