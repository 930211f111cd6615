/**
 * Servers that misbehave, and time that does not pass, for tests of the client.
 *
 * @module
 */

import type { ClientOptions, ClientTime } from "../../src/client/mod.ts";

/** One request that a server saw. */
export interface Seen {
  readonly path: string;
  readonly key: string | null;
  readonly body: string;
}

/** A server that answers what a script says. */
export interface Scripted extends AsyncDisposable {
  readonly url: string;
  readonly seen: readonly Seen[];
}

/** What a scripted server does with a request: answers, or never does. */
export type Step = ((seen: Seen) => Response | Promise<Response>) | "silence";

/** Serves one step after the other; the last one again and again. */
export function scripted(...steps: readonly Step[]): Scripted {
  const seen: Seen[] = [];
  const closing = new AbortController();
  const released = Promise.withResolvers<Response>();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, signal: closing.signal, onListen: () => {} },
    async (request) => {
      const { pathname, search } = new URL(request.url);
      const key = request.headers.get("idempotency-key");
      const now = { path: `${pathname}${search}`, key, body: await request.text() };
      seen.push(now);
      const step = steps[Math.min(seen.length, steps.length) - 1];
      return step === undefined || step === "silence" ? await released.promise : await step(now);
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    seen,
    async [Symbol.asyncDispose]() {
      released.resolve(new Response(null, { status: 204 }));
      closing.abort();
      await server.finished;
    },
  };
}

/** Answers with JSON. */
export function json(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): () => Response {
  return () => Response.json(body, { status, headers });
}

/** Forwards to a server, and closes the first connections: before they are forwarded, or after. */
export function dropping(
  target: string,
  { times, after }: { readonly times: number; readonly after: boolean },
): Scripted {
  const { hostname, port } = new URL(target);
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const seen: Seen[] = [];
  const open = new Set<Deno.TcpConn>();
  const serve = async (connection: Deno.TcpConn): Promise<void> => {
    open.add(connection);
    using _ = { [Symbol.dispose]: () => close(connection) };
    const buffer = new Uint8Array(65_536);
    for (;;) {
      const length = await connection.read(buffer);
      if (length === null) return;
      const body = buffer.slice(0, length); // requests of these tests come in one piece
      seen.push({ path: "", key: null, body: new TextDecoder().decode(body) });
      const drops = seen.length <= times;
      if (drops && !after) return;
      using forward = await Deno.connect({ hostname, port: Number(port) });
      await forward.write(body);
      const answer = new Uint8Array(65_536);
      const answered = await forward.read(answer);
      if (drops || answered === null) return;
      await connection.write(answer.subarray(0, answered));
    }
  };
  const close = (connection: Deno.TcpConn): void => {
    if (open.delete(connection)) connection.close();
  };
  const served: Promise<void>[] = [];
  const accepting = (async () => {
    for await (const connection of listener) served.push(serve(connection).catch(() => {}));
  })();
  const { port: own } = listener.addr as Deno.NetAddr; // of a TCP listener
  return {
    url: `http://127.0.0.1:${own}`,
    seen,
    async [Symbol.asyncDispose]() {
      listener.close();
      await accepting;
      for (const connection of open) close(connection); // clients keep theirs for the next request
      await Promise.all(served);
    },
  };
}

/** How long an attempt may take in these tests: a limit of its own, so that it is not taken for a wait. */
export const TRY_MS = 7_777;

/** Time that moves by waits alone, which are over at once. */
export interface Still {
  readonly options: ClientOptions;
  /** Waits between attempts so far, ms. */
  readonly waits: readonly number[];
  /** Lets the limit of an attempt pass. */
  expire(): void;
  /** Called when a wait begins. */
  onWait: (() => void) | undefined;
}

/** Makes options with such a time, and chance that is always 0. */
export function still(more: ClientOptions = {}): Still {
  const waits: number[] = [];
  const limits = new Set<() => void>();
  let now = 0;
  const time: ClientTime = {
    nowMs: () => now,
    after(ms, run) {
      if (ms >= TRY_MS) {
        limits.add(run);
        return () => limits.delete(run);
      }
      let isSet = true;
      waits.push(ms);
      self.onWait?.();
      queueMicrotask(() => {
        if (!isSet) return;
        now += ms;
        run();
      });
      return () => {
        isSet = false;
      };
    },
  };
  const self: Still = {
    options: { tryMs: TRY_MS, random: () => 0, time, ...more },
    waits,
    expire: () => limits.forEach((run) => run()),
    onWait: undefined,
  };
  return self;
}
