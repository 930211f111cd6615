/**
 * What the enqueue route costs beside a bare Hono route that parses the same body.
 *
 * @module
 */

import type { Bench, Figures } from "./_bench.ts";
import { startServer } from "./_server.ts";

const CONNECTIONS = 50;
/** Until V8 has compiled what a request takes: before, it counts for several times as much. */
const WARM_UP_MS = 6000;
const DURATION_MS = 4000;

const BODY = JSON.stringify({ lane: "normal", payload: 12345 });

/** Figures "perSec", as this client sees it, and "cpuUs": of the server, for one request. */
export const http: Bench = {
  name: "http",
  about: "POST of a job over HTTP, 50 connections; cpuUs is what the server takes for one",
  rounds: 5,
  cases: ["sluice", "sluice-kv", "hono"],
  measure,
  targets: [
    {
      about: "H1 requests per second, sluice / hono",
      over: { of: "sluice", figure: "perSec" },
      by: { of: "hono", figure: "perSec" },
      aim: "at least",
      bound: 0.8,
    },
    {
      about: "H1 the same by the servers' CPU time, hono / sluice",
      over: { of: "hono", figure: "cpuUs" },
      by: { of: "sluice", figure: "cpuUs" },
      aim: "at least",
      bound: 0.8,
    },
    {
      about: "H1 requests per second, sluice with a durable store / hono",
      over: { of: "sluice-kv", figure: "perSec" },
      by: { of: "hono", figure: "perSec" },
      aim: "at least",
      bound: 0.35,
    },
  ],
};

async function measure(of: string): Promise<Figures> {
  await using server = await startServer(of);
  const { hostname, port } = new URL(server.url);
  const client = { hostname, port: Number(port) };
  await post(client, WARM_UP_MS);
  const before = await server.usage();
  const startedAtMs = performance.now();
  const answered = await post(client, DURATION_MS);
  const elapsedMs = performance.now() - startedAtMs;
  const cpuMs = (await server.usage()).cpuMs - before.cpuMs;
  return { perSec: answered * 1000 / elapsedMs, cpuUs: cpuMs * 1000 / answered };
}

/** Requests answered in a time. Bare connections: `fetch` would take more than the server does. */
async function post(to: { hostname: string; port: number }, forMs: number): Promise<number> {
  const request = new TextEncoder().encode(
    `POST /api/pools/bench/jobs HTTP/1.1\r\nhost: ${to.hostname}:${to.port}\r\n` +
      `content-type: application/json\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`,
  );
  const untilMs = performance.now() + forMs;
  const loops = Array.from({ length: CONNECTIONS }, async () => {
    using connection = await Deno.connect(to);
    connection.setNoDelay(true);
    const answer = new Uint8Array(4096);
    let answered = 0;
    while (performance.now() < untilMs) {
      await connection.write(request); // shorter than a packet
      const length = await connection.read(answer); // an answer is shorter than a packet too
      if (length === null || !isAccepted(answer)) {
        throw new Error(`Expected 202 but received ${new TextDecoder().decode(answer)}`);
      }
      answered++;
    }
    return answered;
  });
  const counts = await Promise.all(loops);
  return counts.reduce((sum, count) => sum + count, 0);
}

/** True for an answer that begins with `HTTP/1.1 202`. */
function isAccepted(answer: Uint8Array): boolean {
  return answer[9] === 0x32 && answer[10] === 0x30 && answer[11] === 0x32;
}
