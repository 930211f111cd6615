/**
 * Who makes a request: told by a token, by a session's cookie, or by being on this machine.
 *
 * @module
 */

import type { Context } from "hono";
import { getCookie } from "hono/cookie";
import type { Clock } from "../../time/clock.ts";
import { type Session, SESSION_COOKIE, type Sessions } from "./session.ts";
import { hasToken, type Role, tokenMatcher, type Tokens } from "./tokens.ts";

/** Someone who may use the API. */
export interface Actor {
  /** What they may do. */
  readonly role: Role;
  /** How they showed it. */
  readonly by: "token" | "session" | "loopback";
  /** In words, for the log: no secret is in it. */
  readonly who: string;
  /** Only if it was shown by one. */
  readonly session: Session | undefined;
}

/** Makes the function that tells who makes a request. `undefined`: nobody who may. */
export function identifier(
  tokens: Tokens,
  sessions: Sessions,
  clock: Clock,
): (c: Context) => Actor | undefined {
  if (!hasToken(tokens)) {
    return (c) => ({ role: "admin", by: "loopback", who: `local${from(c)}`, session: undefined });
  }
  const roleOf = tokenMatcher(tokens);
  return (c) => {
    const header = c.req.raw.headers.get("authorization");
    if (header !== null) {
      const role = roleOf(bearerOf(header) ?? "");
      if (role === undefined) return undefined;
      return { role, by: "token", who: `${role} by token${from(c)}`, session: undefined };
    }
    const session = sessions.read(getCookie(c, SESSION_COOKIE) ?? "", clock.nowMs());
    if (session === undefined) return undefined;
    const { role, id } = session;
    return { role, by: "session", who: `${role} by session ${id}${from(c)}`, session };
  };
}

/** The token of a bearer header. `undefined`: another scheme. */
export function bearerOf(header: string): string | undefined {
  return header.slice(0, 7).toLowerCase() === "bearer " ? header.slice(7).trim() : undefined;
}

/** Address of the client, as `Deno.serve` hands it on. `undefined`: not known, or no network between. */
export function peerOf(env: unknown): string | undefined {
  if (typeof env !== "object" || env === null || !("remoteAddr" in env)) return undefined;
  const address = env.remoteAddr;
  if (typeof address !== "object" || address === null || !("hostname" in address)) return undefined;
  return typeof address.hostname === "string" ? address.hostname : undefined;
}

/** Where a client is, in words that follow who it is. Empty: not known. */
export function from(c: Context): string {
  const peer = peerOf(c.env);
  return peer === undefined ? "" : ` from ${peer}`;
}
