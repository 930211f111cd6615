/**
 * Who may use the API: those with a token or a session, or the same machine only.
 *
 * @module
 */

import type { Context } from "hono";
import { isLoopback } from "../../config/loopback.ts";
import { type Actor, bearerOf, peerOf } from "./actor.ts";
import { hostHeader, hostOf, isSameOrigin, loginFor, wantsPage } from "../http/origin.ts";
import { problem } from "../http/problem.ts";
import { hasToken, type Tokens } from "./tokens.ts";

/** The way for others to get in, of a config and of `admin()`. */
const SET_TOKENS = "set admin.tokens in the config, or adminToken of admin()";

/** What the guard goes by. */
export interface GuardOptions extends Tokens {
  /** `Host` names answered besides loopback's. Only without tokens. */
  readonly allowedHosts: readonly string[];
  /** Tells who makes a request. */
  readonly identify: (c: Context) => Actor | undefined;
}

/** Answers a request that the options do not let in. `undefined`: it may pass. */
export type Guard = (c: Context) => Response | undefined;

/** Makes the guard of all routes that are not open. */
export function guard(options: GuardOptions): Guard {
  return hasToken(options) ? tokenGuard(options.identify) : loopbackGuard(options.allowedHosts);
}

function tokenGuard(identify: GuardOptions["identify"]): Guard {
  return (c) => {
    const actor = identify(c);
    if (actor === undefined) return unknown(c);
    if (isSafe(c.req.method)) return undefined;
    if (actor.by === "session" && !isSameOrigin(c)) {
      return problem(
        403,
        "Another site made this request: a login counts only for this site's pages",
      );
    }
    if (actor.role === "admin") return undefined;
    return problem(403, "The viewer token may only read: use the admin token to change anything");
  };
}

/** Answers a request without credentials: a browser goes to the login, a program gets a problem. */
function unknown(c: Context): Response {
  const header = c.req.raw.headers.get("authorization");
  if (header === null) {
    if (wantsPage(c)) {
      return c.body(null, 303, { location: loginFor(c), "cache-control": "no-store" });
    }
    return refuse('A token is needed: send it as "Authorization: Bearer TOKEN"', "");
  }
  if (bearerOf(header) === undefined) {
    return refuse(
      'Expected a bearer token: send "Authorization: Bearer TOKEN"',
      ', error="invalid_request"',
    );
  }
  return refuse(
    "Unknown token: check it against the config",
    ', error="invalid_token"',
  );
}

function loopbackGuard(allowedHosts: readonly string[]): Guard {
  const allowed = new Set(allowedHosts.map((name) => name.toLowerCase()));
  // Most requests come from the same peer with the same `Host`.
  let lastPeer: string | undefined;
  let lastHost: string | undefined;
  return (c) => {
    const peer = peerOf(c.env);
    if (peer !== lastPeer && peer !== undefined && !isLoopback(peer)) {
      return problem(
        403,
        `Without a token, only this machine has access: ${SET_TOKENS} to allow others`,
      );
    }
    lastPeer = peer;
    const host = hostHeader(c);
    if (host !== lastHost) {
      if (!isLocalName(host, allowed)) return notAnswered(host);
      lastHost = host;
    }
    // A page of any site may have a browser here send what needs no preflight, such as an empty POST.
    const origin = c.req.raw.headers.get("origin");
    if (origin === null || isSafe(c.req.method) || hostOf(origin) === host) return undefined;
    return problem(
      403,
      `The site ${origin.slice(0, 100)} may not change anything without a token: ${SET_TOKENS}`,
    );
  };
}

function notAnswered(host: string): Response {
  return problem(
    421,
    `The host name "${hostName(host).slice(0, 100)}" is not allowed without a token: ` +
      `use 127.0.0.1 or localhost, list it in allowedHosts, or ${SET_TOKENS}`,
  );
}

function refuse(detail: string, challenge: string): Response {
  return problem(401, detail, {
    headers: { "www-authenticate": `Bearer realm="sluice"${challenge}` },
  });
}

function isLocalName(host: string, allowed: ReadonlySet<string>): boolean {
  const name = hostName(host);
  return name === "localhost" || isLoopback(name) || allowed.has(name) || allowed.has(host);
}

function hostName(host: string): string {
  return host.replace(/:\d+$/, "");
}

function isSafe(method: string): boolean {
  return method === "GET" || method === "HEAD" || method === "OPTIONS";
}
