/**
 * A KV Connect server on loopback, version 3 of the protocol, with knobs for all that goes wrong over a
 * network. Written from the public text of the protocol. As in the protocol there are no queues.
 *
 * @module
 */

import { BadRequest, Database } from "./database.ts";
import { Front } from "./front.ts";
import {
  readAtomicWrite,
  readSnapshotRead,
  readWatch,
  writeAtomicWriteOutput,
  writeSnapshotReadOutput,
  writeWatchFrame,
} from "./messages.ts";
import type { Bytes } from "./wire.ts";

/** What a client asks for. */
export type Method = "snapshot_read" | "atomic_write" | "watch";

/**
 * What becomes of a request. `refuse`: a 503, nothing is done, the client repeats it. `lose`: done, then
 * a 503: the client repeats it. `cut`: done, then the answer breaks off: the client fails.
 */
export type Fate = "answer" | "refuse" | "lose" | "cut";

/** How a server is set up. All but `path` and `port` may be changed while it runs. */
export interface ServerOptions {
  /** File of its database. @default {":memory:"} */
  readonly path?: string;
  /** @default {any} */
  readonly port?: number;
  /** Most checks of a write: 10 on a denokv of one's own. @default {100} */
  readonly maxChecks?: number;
  /** Most bytes of a write. @default {819200, as denokv} */
  readonly writeBytes?: number;
  /** How long each request takes on its way, ms. @default {0} */
  latencyMs?: number;
  /** Decides what becomes of each request. @default {all are answered} */
  fate?: ((method: Method) => Fate) | undefined;
  /** The token for the data path, as told by the metadata: another one locks out clients that have the old. */
  session?: string;
}

/** The token that clients must bring. */
export const TOKEN = "a token for tests only";

/** A running server. */
export interface Server extends AsyncDisposable {
  /** For `Deno.openKv`. */
  readonly url: string;
  /** Its database. */
  readonly database: Database;
  /** Requests so far. */
  readonly requests: Readonly<Record<Method, number>>;
  /** How often a watch was told of a change so far. */
  readonly wakes: number;
  /** What may be changed while it runs. */
  readonly knobs: Pick<ServerOptions, "latencyMs" | "fate" | "session">;
  /** The line to it: may be cut, refused, swallowed and restored. */
  readonly line: Front;
}

const DATABASE_ID = "00000000-0000-4000-8000-000000000001";
const METHODS: readonly string[] = ["snapshot_read", "atomic_write", "watch"];

/** Starts a server. Set `DENO_KV_ACCESS_TOKEN` to `TOKEN` to connect to it. */
export function startServer(options: ServerOptions = {}): Server {
  const { path = ":memory:", maxChecks = 100, writeBytes, port = 0 } = options;
  const { latencyMs = 0, fate, session = TOKEN } = options;
  const knobs = { latencyMs, fate, session };
  const database = new Database(path, maxChecks, writeBytes);
  const requests = { snapshot_read: 0, atomic_write: 0, watch: 0 };
  const watches = new Set<AbortController>();
  let wakes = 0;
  const told = (): void => void wakes++;
  const http = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const method = new URL(request.url).pathname.slice("/v2/".length);
    const token = isMethod(method) ? knobs.session : TOKEN;
    if (request.headers.get("authorization") !== `Bearer ${token}`) {
      return new Response("The token is wrong", { status: 401 });
    }
    if (!isMethod(method)) return Response.json(metadata(knobs.session));
    const body = await request.bytes();
    requests[method]++;
    if (knobs.latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, knobs.latencyMs));
    const fate = knobs.fate?.(method) ?? "answer";
    if (fate === "refuse") return new Response("Refused by the test", { status: 503 });
    try {
      const answer = method === "watch"
        ? watch(database, body, watches, told)
        : method === "snapshot_read"
        ? writeSnapshotReadOutput(database.read(readSnapshotRead(body)))
        : writeAtomicWriteOutput(database.write(readAtomicWrite(body)));
      if (fate === "lose") return new Response("Lost by the test", { status: 503 });
      return new Response(fate === "cut" ? broken() : answer, { headers: HEADERS });
    } catch (thrown) {
      if (thrown instanceof BadRequest || thrown instanceof RangeError) {
        return new Response(thrown.message, { status: 400 });
      }
      throw thrown;
    }
  });
  const line = new Front(http.addr.port, port);
  return {
    url: `http://127.0.0.1:${line.port}`,
    database,
    requests,
    get wakes() {
      return wakes;
    },
    knobs,
    line,
    async [Symbol.asyncDispose]() {
      for (const watch of watches) watch.abort();
      await line.stop();
      await http.shutdown();
      database.close();
    },
  };
}

const HEADERS = { "content-type": "application/x-protobuf" };

function isMethod(text: string): text is Method {
  return METHODS.includes(text);
}

function metadata(token: string): Record<string, unknown> {
  return {
    version: 3,
    databaseId: DATABASE_ID,
    endpoints: [{ url: "/v2", consistency: "strong" }],
    token,
    expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
  };
}

/** Says what the keys hold, now and after each change. */
function watch(
  database: Database,
  body: Bytes,
  watches: Set<AbortController>,
  told: () => void,
): ReadableStream<Bytes> {
  const keys = readWatch(body);
  const ended = new AbortController();
  watches.add(ended);
  let unwatch = (): void => {};
  const end = (): void => {
    unwatch();
    watches.delete(ended);
  };
  return new ReadableStream({
    start(controller) {
      const say = (): void => {
        controller.enqueue(writeWatchFrame(keys.map((key) => database.get(key))));
      };
      unwatch = database.watch(keys, () => {
        told();
        say();
      });
      say();
      ended.signal.addEventListener("abort", () => {
        end();
        controller.close();
      });
    },
    cancel: end,
  });
}

/** An answer whose head arrives, and that then breaks off. */
function broken(): ReadableStream<Bytes> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(Uint8Array.of(8));
    },
    async pull(controller) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      controller.error(new Error("Cut off by the test"));
    },
  });
}
