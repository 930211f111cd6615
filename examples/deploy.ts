/**
 * The entry of an app on Deno Deploy: copy it, and put your own pools into `CONFIG`.
 *
 * There a process lives as long as it answers requests, plus some seconds to minutes. So code that
 * enqueues makes the app send itself a request, whose answer lasts as long as there is work; a cron
 * finds each minute what is left, due or held by a process that was killed.
 *
 * @module
 */

import { type ConfigInput, type Job, type JobContext, start } from "@sluice/sluice";
import { admin, type AdminApp } from "@sluice/sluice/admin";

/** True on Deno Deploy, which says which deployment this is. */
const ON_DEPLOY = Deno.env.has("DENO_DEPLOYMENT_ID");

/** The bearer token of the API; at least 16 characters. Without it only this machine is answered. */
const TOKEN = Deno.env.get("SLUICE_TOKEN");

if (TOKEN !== undefined && TOKEN.length < 16) {
  throw new TypeError("SLUICE_TOKEN is too short: expected at least 16 characters");
}

/** The pools. On Deno Deploy jobs live in the database that is attached to the app. */
const CONFIG: ConfigInput = {
  store: { use: "deno-kv", with: ON_DEPLOY ? {} : { path: "./data/queue.db" } },
  pools: {
    mail: {
      handler: send,
      size: { min: 1, max: 8 },
      lanes: [{ name: "urgent", targetWaitMs: 50 }, { name: "batch", targetWaitMs: 5000 }],
      // From SIGINT to SIGKILL are 5 s. What has not ended by then goes back and is not charged.
      drainMs: 2000,
    },
  },
};

/** What a worker does. It follows `context.signal`, so that it ends when the instance does. */
async function send({ payload }: Job, { signal }: JobContext): Promise<string> {
  const { ms = 100 } = payload as { readonly ms?: number }; // whatever was enqueued
  await new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
  return `took ${ms} ms`;
}

/** How long one request keeps its instance alive. If there is more to do, another one follows. */
const SLICE_MS = 20_000;

/** How often the answer to such a request goes on, so that the instance is taken to be in use. */
const BYTE_MS = 1000;

/** How long a cron works: the next one comes a minute after it began. */
const TICK_MS = 50_000;

interface Running {
  readonly sluice: Awaited<ReturnType<typeof start>>;
  readonly app: AdminApp;
}

let running: Promise<Running> | undefined;
let isKept = false;
let isStopping = false;

// Deno Deploy finds crons by running this file up to `Deno.serve`: nothing is opened before.
if (typeof Deno.cron === "function") Deno.cron("sluice", "* * * * *", tick);
const server = Deno.serve(answer);
for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, stop);

/** The pools of this instance, started when first needed; if that fails it is tried again. */
function pools(): Promise<Running> {
  running ??= run().catch((thrown) => {
    running = undefined;
    throw thrown;
  });
  return running;
}

async function run(): Promise<Running> {
  const sluice = await start(CONFIG);
  try {
    return { sluice, app: admin(sluice, { adminToken: TOKEN }) };
  } catch (thrown) { // the token will not do
    await sluice.stop();
    throw thrown;
  }
}

async function answer(request: Request, info: Deno.ServeHandlerInfo): Promise<Response> {
  const { origin, pathname } = new URL(request.url);
  const { app } = await pools();
  if (pathname === "/slice") {
    // Those who may see the pools may make them work.
    const seen = await app.request("/api/pools", { headers: request.headers }, info);
    return seen.ok ? new Response(ReadableStream.from(slice(origin))) : seen;
  }
  const response = await app.fetch(request, info);
  if (request.method === "POST" && response.ok) keep(origin);
  return response;
}

/** Works for a while, and says how many jobs are left now and then. */
async function* slice(origin: string): AsyncGenerator<Uint8Array> {
  const { sluice } = await pools();
  let isDone = false;
  try {
    for (let ms = 0; ms < SLICE_MS && !isStopping; ms += BYTE_MS) {
      const { left } = await sluice.slice(BYTE_MS);
      if (left === 0) break;
      yield new TextEncoder().encode(`${left}\n`);
    }
    isDone = true;
  } finally {
    if (!isDone) keep(origin); // who asked is gone
  }
}

/** Sends the app requests that keep an instance alive, this one or another, while there is work. */
async function keep(origin: string): Promise<void> {
  if (isKept) return;
  isKept = true;
  try {
    const { sluice } = await pools();
    while (!isStopping && (await sluice.slice(0)).left > 0) {
      const headers = new Headers();
      if (TOKEN !== undefined) headers.set("authorization", `Bearer ${TOKEN}`);
      const response = await fetch(`${origin}/slice`, { headers });
      await response.body?.pipeTo(new WritableStream());
      if (!response.ok) throw new Error(`The app answers itself with status ${response.status}`);
    }
  } catch (thrown) {
    // deno-lint-ignore no-console -- the app's log
    console.warn("The pools go on for as long as this instance lives, then by the cron:", thrown);
  } finally {
    isKept = false;
  }
}

/** What the cron does: what is left, due, or held by an instance that was killed. */
async function tick(): Promise<void> {
  await (await pools()).sluice.slice(TICK_MS);
}

/** Hands back what does not end in time: another instance goes on with it. */
async function stop(): Promise<void> {
  isStopping = true;
  const closed = server.shutdown();
  try {
    await (await running)?.sluice.stop();
    await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, BYTE_MS))]);
  } finally {
    Deno.exit(0);
  }
}
