import assert from "node:assert/strict";
import { Hono } from "hono";
import { type Sluice, start } from "../../mod.ts";
import { admin, serveAdmin } from "../../src/admin/mod.ts";
import { connect, HOLDERS, type RawClient } from "./_clients.ts";

const LOCAL = { hostname: "127.0.0.1", port: 0 };

/** Longest that a stop may take: `drainMs` and 5 s, three times that on a busy machine. */
const STOPPED_WITHIN_MS = 3 * 5_100;

/** Pools whose jobs may run until they are aborted. */
async function pools(): Promise<Sluice> {
  return await start({
    pools: {
      mail: {
        handler: ({ payload }, { signal }) =>
          Object(payload).hang
            ? new Promise((_, reject) =>
              signal.addEventListener("abort", () => reject(signal.reason))
            )
            : "done",
        size: { min: 1, max: 2 },
        drainMs: 100,
        lanes: [{ name: "urgent" }, { name: "batch", paused: true }],
      },
    },
  });
}

/** Connects one client of each kind, and 50 that watch events. */
async function connectAll(port: number, base: string): Promise<readonly RawClient[]> {
  const clients: RawClient[] = [];
  for (const [name, text] of Object.entries(HOLDERS)) {
    clients.push(...await many(name === "watches events" ? 50 : 2, port, text(base)));
  }
  await clients.at(-1)?.answer(/^HTTP\/1\.1 202/); // bulk work has begun: all others are connected
  return clients;
}

async function many(count: number, port: number, text: string): Promise<readonly RawClient[]> {
  return await Promise.all(Array.from({ length: count }, () => connect(port, text)));
}

async function withinBound(work: Promise<unknown>, name: string): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`${name} is held`)), STOPPED_WITHIN_MS);
  await Promise.race([work, late.promise]).finally(() => clearTimeout(timer));
}

// Case A2: a client must not hold a stop, nor end the process.
Deno.test("stop() of a served admin API ends with every kind of client connected", async () => {
  const sluice = await pools();
  const server = await serveAdmin(sluice, {
    ...LOCAL,
    adminToken: undefined,
    viewerToken: undefined,
    allowedHosts: [],
  });
  const port = Number(new URL(server.url).port);
  const clients = await connectAll(port, "");

  await withinBound(Promise.all([sluice.stop(), server.stop()]), "The stop");
  const ends = await Promise.all(clients.map((client) => client.closed()));

  for (const client of clients) client[Symbol.dispose]();
  assert.ok(ends.some((text) => /event: end\n/.test(text)), "streams end in order");
});

for (const [name, text] of Object.entries(HOLDERS)) {
  if (name === "sends half of what nothing takes") continue; // the other app refuses it
  for (const first of ["sluice.stop()", "server.shutdown()"]) {
    Deno.test(`admin() within another app holds no stop where a client ${name} and ${first} comes first`, async () => {
      const sluice = await pools();
      const app = new Hono().route("/queue", admin(sluice));
      const server = Deno.serve({ ...LOCAL, onListen: () => {} }, app.fetch);
      const clients = await many(3, server.addr.port, text("/queue"));
      for (const client of await many(1, server.addr.port, "GET / HTTP/1.1\r\nhost: x\r\n\r\n")) {
        await client.answer(/404/); // what was sent before has arrived
        client[Symbol.dispose]();
      }

      const ends = first === "sluice.stop()"
        ? [sluice.stop(), server.shutdown()]
        : [server.shutdown(), sluice.stop()];
      await withinBound(Promise.all(ends), "The stop");

      for (const client of clients) client[Symbol.dispose]();
    });
  }
}
