/**
 * What the enqueue route costs beside a bare Hono route that parses the same body.
 *
 * @module
 */

import { type Bench, type Figures, median } from "./_bench.ts";
import { type Server, startServer } from "./_server.ts";

/** Which server, and by how many connections: a durable store shares each commit among those that wait. */
const CASES: Readonly<Record<string, readonly [server: string, connections: number]>> = {
  "sluice": ["sluice", 50],
  "sluice-kv": ["sluice-kv", 50],
  "sluice-kv-200": ["sluice-kv", 200],
};
/**
 * Not counted: until V8 has compiled what a commit takes, which comes once for tens of requests. In turn
 * too: what a server has compiled, V8 forgets while it rests.
 */
const WARM_UP_SLICES = 25;
/** The two servers are measured in turn, in this many slices: what slows the machine down slows both. */
const SLICES = 15;
const SLICE_MS = 400;
/** Not counted at the start of a slice: the caches hold what the other server needs. */
const SETTLING_MS = 60;

const BODY = JSON.stringify({ lane: "normal", payload: 12345 });

/**
 * Figures, medians of the slices: "perSec", requests as this client sees them, and "cpuUs" of the
 * server for one; "share" of the bare route's requests, and "cpuShare", the same by CPU time.
 */
export const http: Bench = {
  name: "http",
  about: "POST of a job over HTTP, 50 connections or 200, in turn with a bare Hono route",
  rounds: 3,
  cases: Object.keys(CASES),
  measure,
  targets: [
    {
      about: "H1 requests per second, sluice / hono",
      over: { of: "sluice", figure: "share" },
      by: 1,
      aim: "at least",
      bound: 0.8,
    },
    {
      about: "H1 the same by the servers' CPU time, hono / sluice",
      over: { of: "sluice", figure: "cpuShare" },
      by: 1,
      aim: "at least",
      bound: 0.8,
    },
    {
      about: "H1 requests per second, sluice with a durable store / hono",
      over: { of: "sluice-kv", figure: "share" },
      by: 1,
      aim: "at least",
      bound: 0.35,
    },
    {
      about: "H1 the same with 200 connections",
      over: { of: "sluice-kv-200", figure: "share" },
      by: 1,
      aim: "at least",
      bound: 0.35,
    },
  ],
};

interface Slice {
  readonly perSec: number;
  readonly cpuUs: number;
}

async function measure(of: string): Promise<Figures> {
  const [kind, connections] = CASES[of]!; // one of `cases`
  await using server = await startServer(kind);
  await using bare = await startServer("hono");
  for (let count = 0; count < WARM_UP_SLICES; count++) {
    for (const one of [server, bare]) await post(one, connections, SLICE_MS);
  }
  const slices: { readonly own: Slice; readonly bare: Slice }[] = [];
  for (let count = 0; count < SLICES; count++) {
    slices.push({ own: await slice(server, connections), bare: await slice(bare, connections) });
  }
  return {
    perSec: median(slices.map(({ own }) => own.perSec)),
    cpuUs: median(slices.map(({ own }) => own.cpuUs)),
    barePerSec: median(slices.map(({ bare }) => bare.perSec)),
    bareCpuUs: median(slices.map(({ bare }) => bare.cpuUs)),
    share: median(slices.map(({ own, bare }) => own.perSec / bare.perSec)),
    cpuShare: median(slices.map(({ own, bare }) => bare.cpuUs / own.cpuUs)),
  };
}

async function slice(server: Server, connections: number): Promise<Slice> {
  await post(server, connections, SETTLING_MS);
  const before = await server.usage();
  const startedAtMs = performance.now();
  const answered = await post(server, connections, SLICE_MS);
  const elapsedMs = performance.now() - startedAtMs;
  const cpuMs = (await server.usage()).cpuMs - before.cpuMs;
  return { perSec: answered * 1000 / elapsedMs, cpuUs: cpuMs * 1000 / answered };
}

/** Requests answered in a time. Bare connections: `fetch` would take more than the server does. */
async function post({ url }: Server, connections: number, forMs: number): Promise<number> {
  const { hostname, port } = new URL(url);
  const to = { hostname, port: Number(port) };
  const request = new TextEncoder().encode(
    `POST /api/pools/bench/jobs HTTP/1.1\r\nhost: ${to.hostname}:${to.port}\r\n` +
      `content-type: application/json\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`,
  );
  const untilMs = performance.now() + forMs;
  const loops = Array.from({ length: connections }, async () => {
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
