/**
 * Tokens: which are accepted, and whose one is.
 *
 * @module
 */

import { timingSafeEqual } from "node:crypto";

/** What someone may do: `admin` reads and writes, `viewer` reads. */
export type Role = "admin" | "viewer";

/** The tokens of an API. */
export interface Tokens {
  /** May read and write. `undefined`: none. */
  readonly adminToken: string | undefined;
  /** May read. `undefined`: none. */
  readonly viewerToken: string | undefined;
}

/** Shortest token that is accepted, characters. */
const SHORTEST_TOKEN = 16;

/** True if a token is configured: the API may then be reached from elsewhere. */
export function hasToken(tokens: Tokens): boolean {
  return tokens.adminToken !== undefined || tokens.viewerToken !== undefined;
}

/**
 * Checks that tokens can be relied on.
 *
 * @throws {TypeError} If a token is too short, or both are the same.
 */
export function checkTokens({ adminToken, viewerToken }: Tokens): void {
  for (const [role, token] of [["admin", adminToken], ["viewer", viewerToken]] as const) {
    if (token === undefined) continue;
    if (token.length < SHORTEST_TOKEN) {
      throw new TypeError(
        `The ${role} token is too short: expected at least ${SHORTEST_TOKEN} characters but received ${token.length}`,
      );
    }
    if (!/^[\x21-\x7e]*$/.test(token)) {
      throw new TypeError(
        `The ${role} token has spaces, line breaks or other characters that a header cannot carry: use visible ASCII`,
      );
    }
  }
  if (adminToken !== undefined && adminToken === viewerToken) {
    throw new TypeError(
      "The admin and the viewer token are the same: use a different one for each",
    );
  }
}

/**
 * Makes the function that tells whose a token is. Both tokens are compared in full, in a buffer of
 * one size, whatever is given: the time it takes says nothing of them. (Hashing both sides would do too, but costs more
 * a request.)
 */
export function tokenMatcher(tokens: Tokens): (given: string) => Role | undefined {
  const encoder = new TextEncoder();
  const [admin, viewer] = [tokens.adminToken, tokens.viewerToken].map((token) =>
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
