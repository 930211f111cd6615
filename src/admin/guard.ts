/**
 * Who may use the API: tokens, or the same machine only.
 *
 * @module
 */

import type { MiddlewareHandler } from "hono";
import { timingSafeEqual } from "node:crypto";
import { problem } from "./problem.ts";

/** What the guard goes by. */
export interface GuardOptions {
  /** May read and write. `undefined`: none. */
  readonly adminToken: string | undefined;
  /** May read. `undefined`: none. */
  readonly viewerToken: string | undefined;
  /** `Host` names answered besides loopback's. Only without tokens. */
  readonly allowedHosts: readonly string[];
}

/** Shortest token that is accepted, characters. */
const SHORTEST_TOKEN = 16;

/**
 * Makes the middleware that refuses whom the options do not let in.
 *
 * @throws {TypeError} If a token is too short, or both are the same.
 */
export function guard(options: GuardOptions): MiddlewareHandler {
  checkTokens(options);
  return hasToken(options) ? tokenGuard(options) : loopbackGuard(options.allowedHosts);
}

/** True if a token is configured: the API may then be reached from elsewhere. */
export function hasToken(options: Pick<GuardOptions, "adminToken" | "viewerToken">): boolean {
  return options.adminToken !== undefined || options.viewerToken !== undefined;
}

/** True for an IP address that only this machine reaches. Names are not resolved: they are not. */
export function isLoopback(address: string): boolean {
  const plain = address.toLowerCase().replace(/^\[|\]$/g, "").replace(/^::ffff:/, "");
  return plain === "::1" || /^127(\.\d{1,3}){3}$/.test(plain);
}

/**
 * Checks that tokens can be relied on.
 *
 * @throws {TypeError} If a token is too short, or both are the same.
 */
export function checkTokens(options: Pick<GuardOptions, "adminToken" | "viewerToken">): void {
  for (
    const [role, token] of [["admin", options.adminToken], ["viewer", options.viewerToken]] as const
  ) {
    if (token !== undefined && token.length < SHORTEST_TOKEN) {
      throw new TypeError(
        `The ${role} token is too short: expected at least ${SHORTEST_TOKEN} characters but received ${token.length}`,
      );
    }
  }
  if (options.adminToken !== undefined && options.adminToken === options.viewerToken) {
    throw new TypeError("The admin and the viewer token are the same: give each its own");
  }
}

function tokenGuard(options: GuardOptions): MiddlewareHandler {
  const roleOf = tokenMatcher(options);
  return (c, next) => {
    const header = c.req.raw.headers.get("authorization");
    if (header === null) {
      return refuse('A token is needed: send it as "Authorization: Bearer TOKEN"', "");
    }
    if (header.slice(0, 7).toLowerCase() !== "bearer ") {
      return refuse(
        'Expected a bearer token: send "Authorization: Bearer TOKEN"',
        ', error="invalid_request"',
      );
    }
    const role = roleOf(header.slice(7).trim());
    if (role === "admin") return next();
    if (role === undefined) {
      return refuse(
        "The token is not known: check it against the config",
        ', error="invalid_token"',
      );
    }
    if (isRead(c.req.method)) return next();
    return Promise.resolve(
      problem(403, "The viewer token may only read: use the admin token to change anything"),
    );
  };
}

/**
 * Makes the function that tells whose a token is. Both tokens are compared in full, in a buffer of
 * one size, whatever is given: the time it takes says nothing of them. (Hashing both sides would do too, but costs more
 * a request.)
 */
function tokenMatcher(options: GuardOptions): (given: string) => "admin" | "viewer" | undefined {
  const encoder = new TextEncoder();
  const [admin, viewer] = [options.adminToken, options.viewerToken].map((token) =>
    token === undefined ? undefined : encoder.encode(token)
  );
  const size = Math.max(admin?.length ?? 0, viewer?.length ?? 0) + 1;
  const buffer = new Uint8Array(size);
  const known = [admin, viewer].map((token) => {
    const padded = new Uint8Array(size);
    padded.set(token ?? []);
    return { padded, length: token?.length ?? -1 };
  });
  return (given) => {
    buffer.fill(0);
    const { read, written } = encoder.encodeInto(given, buffer);
    const length = read === given.length ? written : -2;
    const [isAdmin, isViewer] = known.map((token) =>
      timingSafeEqual(buffer, token.padded) && length === token.length
    );
    if (isAdmin) return "admin";
    return isViewer ? "viewer" : undefined;
  };
}

function loopbackGuard(allowedHosts: readonly string[]): MiddlewareHandler {
  const allowed = new Set(allowedHosts.map((name) => name.toLowerCase()));
  // Most requests come from the same peer with the same `Host`.
  let lastPeer: string | undefined;
  let lastHost: string | undefined;
  return (c, next) => {
    const peer = peerOf(c.env);
    if (peer !== lastPeer && peer !== undefined && !isLoopback(peer)) {
      return Promise.resolve(
        problem(
          403,
          "Without a token only this machine is answered: set admin.tokens in the config to allow others",
        ),
      );
    }
    lastPeer = peer;
    const host = c.req.raw.headers.get("host") ?? new URL(c.req.url).host;
    if (host === lastHost) return next();
    if (isLocalName(host, allowed)) {
      lastHost = host;
      return next();
    }
    return Promise.resolve(
      problem(
        421,
        `The host name "${hostName(host).slice(0, 100)}" is not answered without a token: ` +
          "use 127.0.0.1 or localhost, list it in admin.allowedHosts, or set admin.tokens",
      ),
    );
  };
}

function refuse(detail: string, challenge: string): Promise<Response> {
  return Promise.resolve(
    problem(401, detail, {
      headers: { "www-authenticate": `Bearer realm="sluice"${challenge}` },
    }),
  );
}

/** Address of the client, as `Deno.serve` hands it on. `undefined`: not known, or no network between. */
function peerOf(env: unknown): string | undefined {
  if (typeof env !== "object" || env === null || !("remoteAddr" in env)) return undefined;
  const address = env.remoteAddr;
  if (typeof address !== "object" || address === null || !("hostname" in address)) return undefined;
  return typeof address.hostname === "string" ? address.hostname : undefined;
}

function isLocalName(host: string, allowed: ReadonlySet<string>): boolean {
  const name = hostName(host);
  return name === "localhost" || isLoopback(name) || allowed.has(name) ||
    allowed.has(host.toLowerCase());
}

function hostName(host: string): string {
  return host.toLowerCase().replace(/:\d+$/, "");
}

function isRead(method: string): boolean {
  return method === "GET" || method === "HEAD";
}
