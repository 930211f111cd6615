/**
 * Where a request comes from, and where the app is.
 *
 * @module
 */

import type { Context } from "hono";
import { basePath } from "hono/route";
import { stripped } from "./stripped.ts";

/** What a path is read against: no page is there. */
const NOWHERE = "http://nowhere.invalid";

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
  return (c.req.raw.headers.get("host") ?? URL.parse(c.req.url)?.host ?? "").toLowerCase();
}

/** Path and query that are asked for. Hint: with an odd `Host` what Deno makes of a request is no URL. */
export function placeOf(c: Context): { readonly pathname: string; readonly search: string } {
  const { url } = c.req;
  const [pathname = "", query] = url.slice(url.indexOf("/", url.indexOf("//") + 2)).split("?", 2);
  return { pathname, search: query === undefined ? "" : `?${query}` };
}

/** Path below which browsers and programs reach the app, such as `/queue`. Empty: at the root. */
export function baseOf(c: Context): string {
  return stripped(c) + encodeURI(mountOf(c));
}

/** Path that the app is mounted at, of the one that it is asked for. Hint: `route()` keeps a slash at its end. */
function mountOf(c: Context): string {
  return basePath(c).replace(/\/$/, "");
}

/** Where to log in, so that the page that was asked for is shown then. */
export function loginFor(c: Context): string {
  const base = baseOf(c);
  const { pathname, search } = placeOf(c);
  const path = stripped(c) + pathname;
  const isStart = search === "" && (path === base || path === `${base}/`);
  return loginPath(base, isStart ? startOf(base) : path + search);
}

/** Where to log in, so that `next` is shown then. */
export function loginPath(base: string, next: string): string {
  return next === startOf(base)
    ? `${base}/login`
    : `${base}/login?next=${encodeURIComponent(next)}`;
}

/**
 * The page that is shown after the login, as a path of this very app. What leads anywhere else, such as
 * `//evil.example`, leads to the start page.
 */
export function pageAfterLogin(next: string | undefined, base: string): string {
  const start = startOf(base);
  const url = next === undefined ? null : URL.parse(next, NOWHERE);
  if (url === null || url.origin !== NOWHERE) return start;
  const path = url.pathname;
  // Hint: "/.//evil.example" has no host, and the path "//evil.example", which a browser takes for one.
  const isOurs = path.startsWith(`${base}/`) && !path.startsWith("//");
  return isOurs && path !== `${base}/login` ? path + url.search : start;
}

/** True if a browser asks for a page. */
export function wantsPage(c: Context): boolean {
  return c.req.method === "GET" && c.req.header("accept")?.includes("text/html") === true;
}

/** True for a path of the API, below where the app is mounted. */
export function isApi(c: Context): boolean {
  return c.req.path.startsWith(`${mountOf(c)}/api/`);
}

/** True for what a browser opens. Below `/api` all is for programs. */
export function isForPeople(c: Context): boolean {
  return wantsPage(c) && !isApi(c);
}

function startOf(base: string): string {
  return base || "/";
}
