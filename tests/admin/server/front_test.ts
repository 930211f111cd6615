import assert from "node:assert/strict";
import { admin } from "../../../src/admin/mod.ts";
import type { Handle } from "../../../src/admin/server/connection.ts";
import { Front } from "../../../src/admin/server/front.ts";
import { silentLogger } from "../../../src/runtime/log.ts";
import { VirtualClock } from "../../../src/time/virtual_clock.ts";
import { running } from "../_app.ts";
import { connect, get, HOLDERS, post } from "../_clients.ts";

interface Bench extends AsyncDisposable {
  readonly port: number;
  readonly clock: VirtualClock;
  readonly lines: readonly string[];
}

/** A front in virtual time. `failing`: how often it cannot accept. */
function bench(handle: Handle, failing = 0): Bench {
  const clock = new VirtualClock();
  const lines: string[] = [];
  const log = {
    ...silentLogger(),
    error: (message: string) => void lines.push(message),
    info: (message: string) => void lines.push(message),
  };
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accept = listener.accept.bind(listener);
  let left = failing;
  listener.accept = () =>
    left-- > 0 ? Promise.reject(new Error("Too many open files (os error 24)")) : accept();
  const front = new Front({ listeners: [listener], handle, clock, log });
  return {
    port: listener.addr.port,
    clock,
    lines,
    async [Symbol.asyncDispose]() {
      let isStopped = false;
      const stopped = front.stop().then(() => isStopped = true);
      while (!isStopped) await clock.advance(50).then(() => turn());
      await stopped;
    },
  };
}

/** Lets the event loop of sockets run. */
function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

// Case A8: 400 half-open requests held 950 MB, for as long as their clients liked.
Deno.test("Front closes connections that send no request for 30 s, and none that waits for an answer", async () => {
  const release = Promise.withResolvers<void>();
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode("first")),
    pull: () => release.promise,
  });
  await using served = bench(async (request) => {
    if (request.url.endsWith("/stream")) return new Response(stream);
    if (request.url.endsWith("/held")) await release.promise;
    return new Response("fine");
  });
  const { port, clock } = served;
  using stream_ = await connect(port, get("/stream"));
  using held = await connect(port, get("/held"));
  using unsent = await connect(port, "");
  using half = await connect(port, "GET / HTTP/1.1\r\nhost: 127");
  using idle = await connect(port, get("/"));
  using second = await connect(port, get("/") + "POST / HT");
  await Promise.all([stream_.answer(/first/), idle.answer(/fine/), second.answer(/fine/)]);

  await clock.advance(33_000);
  const closed = await Promise.all([unsent, half, idle, second].map((client) => client.closed()));
  release.resolve();
  const answer = await held.answer(/fine/);

  assert.deepEqual(closed.map((text) => text.includes("fine")), [false, false, true, true]);
  assert.match(answer, /^HTTP\/1\.1 200/);
});

Deno.test("Front goes on to accept once it can again, and says what was: once", async () => {
  await using served = bench(() => new Response("fine"), 5);
  using client = await connect(served.port, get("/"));

  await served.clock.advance(5_000);
  await client.answer(/fine/);

  assert.deepEqual(served.lines, [
    "The admin API cannot accept connections: it keeps trying",
    "The admin API accepts connections again",
  ]);
});

for (
  const name of ["sends half a job", "sends half a chunk", "sends half a change"]
) {
  Deno.test(`A served admin API answers 408 to who ${name} for 30 s, and hangs up`, async () => {
    await using system = await running();
    let handle: Handle = () => new Response(null, { status: 503 });
    await using served = bench((request, peer) => handle(request, peer));
    const app = admin(system.sluice, { clock: served.clock });
    let isRead = false;
    handle = (request, peer) => {
      isRead = true;
      return app.fetch(request, peer);
    };
    using client = await connect(served.port, HOLDERS[name]?.("") ?? "");
    while (!isRead) await turn();
    await turn();

    await served.clock.advance(30_000);
    const answer = await client.answer(/\}$/);
    await served.clock.advance(3_000);
    await client.closed();

    assert.match(answer, /^HTTP\/1\.1 408 /);
    assert.match(answer, /"The body did not arrive within 30 s: send it without pauses"/);
  });
}

Deno.test("A served admin API takes a body that comes in pieces", async () => {
  await using system = await running();
  const app = admin(system.sluice);
  await using served = bench((request, peer) => app.fetch(request, peer));
  const job = JSON.stringify({ lane: "urgent", payload: 1 });
  const half = job.slice(0, 5);
  const connection = await Deno.connect({ hostname: "127.0.0.1", port: served.port });
  const text = new TextEncoder();

  await connection.write(text.encode(post("/api/pools/mail/jobs", job.length, half)));
  await turn();
  await connection.write(text.encode(job.slice(5)));
  const buffer = new Uint8Array(4_096);
  const length = await connection.read(buffer);
  connection.close();

  assert.match(new TextDecoder().decode(buffer.subarray(0, length ?? 0)), /^HTTP\/1\.1 202 /);
});
