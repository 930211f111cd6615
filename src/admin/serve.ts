/**
 * Serves the admin API on an address of its own.
 *
 * @module
 */

import { systemClock } from "../clock.ts";
import { isLoopback } from "../config/loopback.ts";
import type { AdminSettings } from "../settings.ts";
import { silentLogger } from "../log.ts";
import type { Sluice } from "../sluice.ts";
import { AlertHook } from "./alert_hook.ts";
import { admin, type AdminOptions } from "./app.ts";
import { problem } from "./problem.ts";
import { checkTokens, hasToken } from "./tokens.ts";

/** A server that runs. */
export interface AdminServer {
  /** Where it answers, such as `http://127.0.0.1:8787`. */
  readonly url: string;
  /** Answers what is under way, and closes. Safe to call again. */
  stop(): Promise<void>;
}

/** An address that is bound while there are no pools yet: requests are answered 503. */
export interface AdminDoor {
  /** Where it answers. */
  readonly url: string;
  /**
   * Serves the admin API from now on.
   *
   * @param sluice What it serves.
   * @param options How.
   */
  serve(sluice: Sluice, options?: Pick<AdminOptions, "redact" | "log">): AdminServer;
  /** Frees the address: nothing will be served. */
  close(): Promise<void>;
}

/** How long requests under way may take once the server stops, ms. */
const STOP_WITHIN_MS = 3_000;

/**
 * Serves the admin API. Without a token, only on loopback: what counts is the address that was
 * really bound, since `DENO_SERVE_ADDRESS` goes before `settings.hostname`.
 *
 * @throws {TypeError} If a token is too short, or both are the same.
 * @throws {Error} If the address is in use, or would be open to others without a token.
 */
export async function serveAdmin(
  sluice: Sluice,
  settings: AdminSettings,
  options: Pick<AdminOptions, "redact" | "log"> = {},
): Promise<AdminServer> {
  return (await openAdmin(settings)).serve(sluice, options);
}

/**
 * Binds the address of the admin API, so that pools start only where it can be served. Throws as
 * `serveAdmin` does.
 *
 * @internal
 */
export async function openAdmin(settings: AdminSettings): Promise<AdminDoor> {
  checkTokens(settings);
  const closing = new AbortController();
  let fetch: Deno.ServeHandler = starting;
  const server = bind(settings, closing.signal, (request, info) => fetch(request, info));
  const refusal = hasToken(settings) ? undefined : openness(server.addr);
  if (refusal !== undefined) {
    await close();
    throw new Error(refusal);
  }
  return {
    url: urlOf(server.addr),
    serve(sluice, options = {}) {
      const stopping = new AbortController();
      const app = admin(sluice, { ...settings, ...options, signal: stopping.signal });
      const peer = localPeer(server.addr);
      fetch = peer === undefined
        ? (request, info) => app.fetch(request, info)
        : (request) => app.fetch(request, peer);
      return serverOf(sluice, { settings, log: options.log, server, stopping, closing });
    },
    close,
  };

  async function close(): Promise<void> {
    closing.abort();
    await server.finished;
  }
}

interface Serving {
  readonly settings: AdminSettings;
  readonly log: AdminOptions["log"];
  readonly server: Deno.HttpServer<Deno.Addr>;
  /** Aborts what is held. */
  readonly stopping: AbortController;
  /** Aborts all that is under way. */
  readonly closing: AbortController;
}

function serverOf(sluice: Sluice, serving: Serving): AdminServer {
  const { settings, log = silentLogger(), server, stopping, closing } = serving;
  const hook = settings.alerts && new AlertHook({
    ...settings.alerts,
    pools: () => sluice.pools,
    clock: systemClock(),
    log,
  });
  let stopped: Promise<void> | undefined;
  return { url: urlOf(server.addr), stop: () => stopped ??= stop() };

  async function stop(): Promise<void> {
    stopping.abort(); // requests that are held answer now
    await hook?.stop();
    const timer = setTimeout(() => closing.abort(), STOP_WITHIN_MS);
    await server.shutdown();
    clearTimeout(timer);
  }
}

/** Answers while the pools start. */
function starting(): Response {
  const headers = { "retry-after": "1" };
  return problem(503, "The pools are starting: try again in a moment", { headers });
}

function bind(
  settings: AdminSettings,
  signal: AbortSignal,
  handler: Deno.ServeHandler,
): Deno.HttpServer<Deno.Addr> {
  const { hostname, port } = settings;
  try {
    return Deno.serve({ hostname, port, signal, onListen: () => {} }, handler);
  } catch (thrown) {
    if (!(thrown instanceof Deno.errors.AddrInUse)) throw thrown;
    throw new Error(
      `The admin API cannot listen on ${hostname}:${port}, the port is in use: stop what uses it, or set another admin.port`,
      { cause: thrown },
    );
  }
}

/**
 * Who sends to a loopback address: this machine, so nobody needs to be looked up for each request.
 * `undefined`: others may send too.
 */
function localPeer(address: Deno.Addr): { readonly remoteAddr: Deno.Addr } | undefined {
  if (!("hostname" in address) || !isLoopback(address.hostname)) return undefined;
  return alsoServed() === undefined ? { remoteAddr: address } : undefined;
}

/** Why an address may not be served without a token. `undefined`: it may. */
function openness(address: Deno.Addr): string | undefined {
  const wants =
    "set admin.tokens in the config, or bind 127.0.0.1 (DENO_SERVE_ADDRESS goes before admin.hostname)";
  const also = alsoServed();
  if (also !== undefined) {
    return `The admin API would answer on "${also}" too, without a token: ${wants}`;
  }
  if ("hostname" in address && isLoopback(address.hostname)) return undefined;
  const bound = "hostname" in address ? `${address.hostname}:${address.port}` : address.transport;
  return `The admin API would answer on ${bound}, without a token: ${wants}`;
}

/** The second address that `DENO_SERVE_ADDRESS=duplicate,…` binds, which `server.addr` does not tell. */
function alsoServed(): string | undefined {
  let given: string | undefined;
  try {
    given = Deno.env.get("DENO_SERVE_ADDRESS");
  } catch {
    return undefined; // the environment may not be read: the guard still refuses other machines
  }
  return given?.startsWith("duplicate,") ? given.slice("duplicate,".length) : undefined;
}

function urlOf(address: Deno.Addr): string {
  if (!("hostname" in address)) return `${address.transport}:`;
  const { hostname, port } = address;
  const reachable = hostname === "0.0.0.0" ? "127.0.0.1" : hostname === "::" ? "::1" : hostname;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}
