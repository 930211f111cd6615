/**
 * Where a request comes from, and where the app is.
 *
 * @module
 */

import type { Context } from "hono";
import { basePath } from "hono/route";

/**
 * True if a page of this very site makes the request. Browsers say so of every write, and no page can
 * make them lie. Hint: hono's `csrf()` asks only where a form could have been sent; this asks always.
 */
export function isSameOrigin(c: Context): boolean {
  const { headers } = c.req.raw;
  const site = headers.get("sec-fetch-site");
  if (site !== null) return site === "same-origin";
  const origin = headers.get("origin");
  return origin !== null && hostOf(origin) === hostHeader(c);
}

/** Host and port of an origin. `undefined`: it is `null` or none. */
export function hostOf(origin: string): string | undefined {
  return URL.parse(origin)?.host;
}

/** Host and port that the request is for. */
export function hostHeader(c: Context): string {
  return (c.req.raw.headers.get("host") ?? new URL(c.req.url).host).toLowerCase();
}

/** Path that the app is mounted at, such as `/queue`. Empty: at the root. */
export function baseOf(c: Context): string {
  const base = basePath(c);
  return base === "/" ? "" : encodeURI(base);
}

/** True for a path of the API, below where the app is mounted. */
export function isApi(c: Context): boolean {
  const base = basePath(c);
  return c.req.path.startsWith(`${base === "/" ? "" : base}/api/`);
}
