/**
 * Sessions of people who logged in with a token: a signed cookie, for a browser cannot send the token
 * with an event stream.
 *
 * @module
 */

import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Role } from "./tokens.ts";

/** Name of the cookie. */
export const SESSION_COOKIE = "sluice_session";

/** How long a session lasts, ms. */
export const SESSION_MS = 12 * 3_600_000;

/** Most logouts that are remembered. */
const MAX_CLOSED = 10_000;

/** Someone who logged in. */
export interface Session {
  /** What they may do. */
  readonly role: Role;
  /** Tells sessions apart in the log; it opens nothing. */
  readonly id: string;
  /** When it ends. */
  readonly untilMs: number;
}

/**
 * Opens, reads and closes sessions. The key is drawn at start, so that they end with the process: one made from the
 * tokens would let a viewer's cookie be used to guess the admin's at leisure.
 */
export class Sessions {
  readonly #key = randomBytes(32);
  /** Ends of sessions that were closed before, by id. */
  readonly #closed = new Map<string, number>();

  /** Opens a session: it, and what its cookie holds. */
  open(role: Role, nowMs: number): { readonly session: Session; readonly cookie: string } {
    const session = {
      role,
      id: randomBytes(9).toString("base64url"),
      untilMs: Math.round(nowMs + SESSION_MS),
    };
    const value = `${role}.${session.untilMs}.${session.id}`;
    return { session, cookie: `${value}.${this.#sign(value)}` };
  }

  /** The session of a cookie. `undefined`: it was not signed here, has ended or was closed. */
  read(cookie: string, nowMs: number): Session | undefined {
    const end = cookie.lastIndexOf(".");
    const value = cookie.slice(0, Math.max(0, end));
    const given = new TextEncoder().encode(cookie.slice(end + 1));
    const expected = new TextEncoder().encode(this.#sign(value));
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    const [role, until = "", id = ""] = value.split(".");
    const untilMs = Number(until);
    if (role !== "admin" && role !== "viewer") return undefined;
    return untilMs > nowMs && !this.#closed.has(id) ? { role, id, untilMs } : undefined;
  }

  /** Closes a session: its cookie opens nothing any more, wherever it was copied to. */
  close({ id, untilMs }: Session, nowMs: number): void {
    for (const [other, endMs] of this.#closed) {
      if (endMs > nowMs && this.#closed.size < MAX_CLOSED) break;
      this.#closed.delete(other);
    }
    this.#closed.set(id, untilMs);
  }

  #sign(value: string): string {
    return createHmac("sha256", this.#key).update(value).digest("base64url");
  }
}
