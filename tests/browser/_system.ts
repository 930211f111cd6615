/**
 * A system that really runs, with its admin server on a free port, for tests in a browser.
 *
 * @module
 */

import { Hono } from "hono";
import { start, type StartOptions } from "../../mod.ts";
import { admin, type AdminOptions } from "../../src/admin/mod.ts";
import { type AdminServer, serveAdmin } from "../../src/admin/server/serve.ts";
import type { ConfigInput } from "../../src/config/input.ts";
import type { Job, JobContext } from "../../src/contract/job.ts";
import type { PoolHandle, Sluice } from "../../src/runtime/handles.ts";

/** Token of those who may change things. */
export const ADMIN = "admin-token-0123456789";

/** Token of those who may look. */
export const VIEWER = "viewer-token-0123456789";

/** A system under test. */
export interface System {
  /** Where it answers, without a slash at the end. */
  readonly url: string;
  /** It. */
  readonly sluice: Sluice;
  /** One of its pools. */
  pool(name: string): PoolHandle;
  /** Lets jobs with the payload `{ hold: true }` end, those that come later too. */
  release(): void;
  /** Stops the server; the pools go on. */
  stopServing(): Promise<void>;
  /** Serves again, on the same port. */
  serveAgain(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** How a system under test is made. */
export interface SystemOptions {
  /** Pools instead of the usual ones. */
  readonly pools?: ConfigInput["pools"];
  /** True: it wants a token. @default {false} */
  readonly tokens?: boolean;
  /** Path that it is mounted at in another app, such as `/queue`. @default {served by itself} */
  readonly base?: string;
  /** As for `start`. */
  readonly start?: StartOptions;
}

/** What the jobs of these tests may wish for. */
interface Wish {
  readonly hold?: boolean;
  readonly fail?: string;
}

/**
 * Starts pools `mail` (lanes `urgent`, `batch`, and `bulk` that is paused) and `reports` (lane
 * `nightly`, one job of a key at a time), and serves them.
 */
export async function startSystem(options: SystemOptions = {}): Promise<System> {
  const gate = Promise.withResolvers<void>();
  const handler = async ({ payload }: Job, { signal }: JobContext): Promise<unknown> => {
    const { hold, fail } = (payload ?? {}) as Wish; // what these tests send
    if (hold) await Promise.race([gate.promise, aborted(signal)]);
    if (fail !== undefined) throw new Error(fail);
    return { sent: true };
  };
  const sluice: Sluice = await start({
    redact: ["password"],
    pools: options.pools ?? usualPools(handler),
  }, { seed: 1, ...options.start });
  let server = await serve(sluice, 0, options);
  const port = Number(new URL(server.url).port);
  return {
    url: `${server.url}${options.base ?? ""}`,
    sluice,
    pool: (name) => sluice.pool(name),
    release: () => gate.resolve(),
    stopServing: () => server.stop(),
    async serveAgain() {
      server = await serve(sluice, port, options);
    },
    async [Symbol.asyncDispose]() {
      gate.resolve();
      await server.stop();
      await sluice.stop();
    },
  };
}

/** Ids of jobs that a filled system has, by how they stand. */
export interface Filled {
  readonly ready: string;
  readonly blocked: string;
  readonly delayed: string;
  readonly running: string;
  readonly done: string;
  readonly dead: string;
}

/** Gives a system jobs in every state: three dead ones, more waiting than there are workers. */
export async function fill({ pool }: System): Promise<Filled> {
  const mail = pool("mail");
  const reports = pool("reports");
  const add = async (lane: string, payload: object, parts: object = {}): Promise<string> =>
    (await mail.enqueue({ lane, payload, ...parts })).id;
  const fail = "550 <mailbox> unavailable";
  const dead = await add("urgent", { to: "ann@example.com", password: "hunter2", fail });
  await add("urgent", { to: "bob@example.com", fail: "no route to host" });
  await add("urgent", { to: "eve@example.com", fail: "no route to host" });
  const done = await add("urgent", { to: "joe@example.com" });
  const delayed = await add("batch", { order: 1 }, { delayMs: 3_600_000 });
  await add("bulk", { order: 2 });
  await until(async () => (await mail.find(done))?.state === "done");
  await until(async () => (await mail.list({ state: "dead", limit: 9 })).jobs.length === 3);
  const running = await add("urgent", { hold: true });
  for (let index = 0; index < 5; index++) await add("urgent", { hold: true });
  const ready = await add("urgent", { last: true });
  await until(async () => (await mail.find(running))?.state === "running");
  const keyed = { lane: "nightly", payload: { hold: true }, key: "tenant-1" };
  await reports.enqueue(keyed);
  const { id: blocked } = await reports.enqueue(keyed);
  return { ready, blocked, delayed, running, done, dead };
}

/** Looks until it is so. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const late = AbortSignal.timeout(20_000);
  while (!await isSo()) {
    if (late.aborted) throw new Error(`Not so within 20 s: ${isSo}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function usualPools(handler: (job: Job, context: JobContext) => unknown): ConfigInput["pools"] {
  return {
    mail: {
      handler,
      size: { min: 1, max: 4 },
      lanes: [
        { name: "urgent", targetWaitMs: 50, attempts: 1 },
        {
          name: "batch",
          targetWaitMs: null,
          attempts: 2,
          backoff: { baseMs: 600_000, maxMs: 600_000 },
        },
        { name: "bulk", paused: true },
      ],
      lanePolicy: "strict-priority",
    },
    reports: {
      handler,
      size: { min: 1, max: 2 },
      lanes: [{ name: "nightly", maxRunningPerKey: 1 }],
      schedules: [
        { lane: "nightly", cron: "@yearly", payload: { fail: "no route to host" } },
        { lane: "nightly", cron: "0 4 29 2 *", timezone: "Europe/Berlin" },
      ],
    },
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

async function serve(
  sluice: Sluice,
  port: number,
  { tokens = false, base }: SystemOptions,
): Promise<AdminServer> {
  const adminToken = tokens ? ADMIN : undefined;
  const viewerToken = tokens ? VIEWER : undefined;
  const settings = { hostname: "127.0.0.1", port, adminToken, viewerToken, allowedHosts: [] };
  if (base === undefined) return await serveAdmin(sluice, settings);
  return serveUnder(base, sluice, port, { adminToken, viewerToken });
}

/** Serves as a user does who has mounted the admin app in another. */
function serveUnder(
  base: string,
  sluice: Sluice,
  port: number,
  options: AdminOptions,
): AdminServer {
  const stopping = new AbortController();
  const app = new Hono().route(base, admin(sluice, { ...options, signal: stopping.signal }));
  const server = Deno.serve(
    { hostname: "127.0.0.1", port, onListen: () => {} },
    (request, info) => app.fetch(request, info),
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    async stop() {
      stopping.abort();
      await server.shutdown();
    },
  };
}
