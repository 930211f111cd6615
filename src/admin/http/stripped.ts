/**
 * What a proxy, or another framework, takes off the path of a request before the app sees it.
 *
 * @module
 */

import type { Context } from "hono";
import { URL_PATH } from "../../base/url_path.ts";
import { display } from "../../config/faults.ts";
import { peerOf } from "../access/actor.ts";

/** Where it is kept for a request. */
const STRIPPED = "sluice-stripped";

/** Who says what is stripped. */
export interface StripOptions {
  /** The path itself. */
  readonly basePath?: string | undefined;
  /** Addresses whose `X-Forwarded-Prefix` is believed. */
  readonly trustedProxies?: readonly string[] | undefined;
}

/**
 * Makes what notes at each request what is stripped of it. `undefined`: nothing ever is.
 *
 * @throws {TypeError} If the base path is no plain path.
 */
export function stripping(options: StripOptions): ((c: Context) => void) | undefined {
  const { basePath = "", trustedProxies = [] } = options;
  const fixed = plainPath(basePath);
  if (fixed === undefined) {
    throw new TypeError(
      `Expected basePath to be a path such as "/queue" but received ${display(basePath)}`,
    );
  }
  if (fixed === "" && trustedProxies.length === 0) return undefined;
  const trusted = new Set(trustedProxies);
  return (c) => {
    const peer = peerOf(c.env)?.replace(/^::ffff:/, "");
    const said = trusted.has(peer ?? "") ? c.req.raw.headers.get("x-forwarded-prefix") : null;
    c.set(STRIPPED, (said === null ? undefined : plainPath(said)) ?? fixed);
  };
}

/** What is stripped of the path of a request, such as `/queue`. Empty: nothing. */
export function stripped(c: Context): string {
  const noted: unknown = c.get(STRIPPED);
  return typeof noted === "string" ? noted : "";
}

/** A path without its last slash. `undefined`: it is none. */
function plainPath(path: string): string | undefined {
  return URL_PATH.test(path) ? path.replace(/\/$/, "") : undefined;
}
