/**
 * Serves the admin API on an address of its own.
 *
 * @module
 */

import { pause, systemClock } from "../../time/clock.ts";
import { isLoopback } from "../../config/loopback.ts";
import { messageOf } from "../../contract/errors.ts";
import type { Logger } from "../../contract/job.ts";
import type { AdminSettings } from "../../config/settings.ts";
import { silentLogger } from "../../runtime/log.ts";
import type { Sluice } from "../../runtime/handles.ts";
import { type Address, addressesOf } from "./address.ts";
import { AlertHook } from "../alerts/hook.ts";
import { admin, type AdminOptions } from "../app.ts";
import { canServeConnections, type Handle } from "./connection.ts";
import { Front } from "./front.ts";
import { problem } from "../http/problem.ts";
import { checkTokens, hasToken } from "../access/tokens.ts";

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

/**
 * Serves the admin API. Without a token, only on loopback: what counts is the address that was
 * really bound, since `DENO_SERVE_ADDRESS` goes before `settings.hostname`.
 *
 * @throws {TypeError} If a token is too short, or both are the same.
 * @throws {Error} If the address cannot be bound, or would be open to others without a token.
 */
export async function serveAdmin(
  sluice: Sluice,
  settings: AdminSettings,
  options: Pick<AdminOptions, "redact" | "log"> = {},
): Promise<AdminServer> {
  return (await openAdmin(settings, options.log)).serve(sluice, options);
}

/**
 * Binds the address of the admin API, so that pools start only where it can be served. Throws as
 * `serveAdmin` does. `log` gets faults of connections.
 *
 * @internal
 */
export async function openAdmin(
  settings: AdminSettings,
  log: Logger = silentLogger(),
): Promise<AdminDoor> {
  checkTokens(settings);
  let handle: Handle = starting;
  const bound = bind(settings, { log, handle: (request, peer) => handle(request, peer) });
  const refusal = hasToken(settings) ? undefined : openness(bound);
  if (refusal !== undefined) {
    await bound.close();
    throw new Error(refusal);
  }
  const url = urlOf(bound.addresses[0]);
  return {
    url,
    serve(sluice, options = {}) {
      const stopping = new AbortController();
      const app = admin(sluice, { ...settings, ...options, signal: stopping.signal });
      handle = (request, peer) => app.fetch(request, peer);
      return serverOf(sluice, { settings, log: options.log ?? log, url, bound, stopping });
    },
    close: bound.close,
  };
}

interface Serving {
  readonly settings: AdminSettings;
  readonly log: Logger;
  readonly url: string;
  readonly bound: Bound;
  /** Aborts what is held. */
  readonly stopping: AbortController;
}

function serverOf(sluice: Sluice, serving: Serving): AdminServer {
  const { settings, log, url, bound, stopping } = serving;
  const hook = settings.alerts && new AlertHook({
    ...settings.alerts,
    pools: () => sluice.pools,
    clock: systemClock(),
    log,
  });
  let stopped: Promise<void> | undefined;
  return { url, stop: () => stopped ??= stop() };

  async function stop(): Promise<void> {
    stopping.abort(); // requests that are held answer now
    await hook?.stop();
    await bound.close();
  }
}

/** Answers while the pools start. */
function starting(): Response {
  const headers = { "retry-after": "1" };
  return problem(503, "The pools are starting: try again in a moment", { headers });
}

/** Addresses on which requests are answered. */
interface Bound {
  readonly addresses: readonly Deno.Addr[];
  /** The second one as the environment asks for it. */
  readonly also?: string | undefined;
  /** Frees them, and closes what is connected. */
  readonly close: () => Promise<void>;
}

interface Answering {
  readonly handle: Handle;
  readonly log: Logger;
}

function bind(settings: AdminSettings, answering: Answering): Bound {
  const addresses = addressesOf(settings);
  if (addresses === undefined || !canServeConnections()) return bindByPlatform(settings, answering);
  const listeners: Deno.TcpListener[] = [];
  for (const address of addresses.all) {
    try {
      listeners.push(naming(address, () => Deno.listen({ ...address, tcpBacklog: BACKLOG })));
    } catch (thrown) {
      for (const listener of listeners) listener.close();
      throw thrown;
    }
  }
  const front = new Front({ ...answering, listeners, clock: systemClock() });
  const { also } = addresses;
  return { addresses: listeners.map(({ addr }) => addr), also, close: () => front.stop() };
}

/** Connections that may wait to be accepted: as many as `Deno.serve` lets. */
const BACKLOG = 511;

/** How long the platform may take to close what is connected, ms. */
const CLOSED_WITHIN_MS = 3_000;

/** Binds what only `Deno.serve` can. What is connected there can be asked to end, not be closed. */
function bindByPlatform({ hostname, port }: AdminSettings, { handle, log }: Answering): Bound {
  const server: Deno.HttpServer<Deno.Addr> = naming(
    { hostname, port },
    () => Deno.serve({ hostname, port, onListen: () => {} }, handle),
  );
  let isClosing = false;
  server.finished.then(() => undefined, messageOf).then((error) => {
    if (!isClosing) log.error("The admin API has stopped listening: restart", { error });
  });
  const close = async (): Promise<void> => {
    isClosing = true;
    const late = new AbortController();
    await Promise.race([
      server.shutdown(),
      pause(systemClock(), CLOSED_WITHIN_MS, late.signal),
    ]);
    late.abort();
    server.unref(); // who stays connected holds the process no longer
  };
  return { addresses: [server.addr], close };
}

/** Binds; a fault names what could not be bound. */
function naming<T>({ hostname, port }: Address, bind: () => T): T {
  try {
    return bind();
  } catch (cause) {
    if (cause instanceof Deno.errors.AddrInUse) {
      throw new Error(
        `The admin API cannot listen on ${hostname}:${port}, the port is in use: stop the other program, or set another admin.port`,
        { cause },
      );
    }
    throw new Error(`The admin API cannot listen on ${hostname}:${port}: ${messageOf(cause)}`, {
      cause,
    });
  }
}

/** Why the addresses may not be served without a token. `undefined`: they may. */
function openness({ addresses, also }: Bound): string | undefined {
  const open = addresses.find((address) =>
    !("hostname" in address) || !isLoopback(address.hostname)
  );
  if (open === undefined) return undefined;
  const bound = "hostname" in open ? `${open.hostname}:${open.port}` : open.transport;
  const where = open === addresses[1] ? `"${also}" too` : bound;
  const wants =
    "set admin.tokens in the config, or bind 127.0.0.1 (DENO_SERVE_ADDRESS goes before admin.hostname)";
  return `The admin API would answer on ${where}, without a token: ${wants}`;
}

function urlOf(address: Deno.Addr | undefined): string {
  if (address === undefined || !("hostname" in address)) return `${address?.transport}:`;
  const { hostname, port } = address;
  const reachable = hostname === "0.0.0.0" ? "127.0.0.1" : hostname === "::" ? "::1" : hostname;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}
