/**
 * The route of the event stream.
 *
 * @module
 */

import { type Context, Hono } from "hono";
import type { BlankEnv } from "hono/types";
import type { PoolEvent } from "../../contract/event.ts";
import { suggestion } from "../../base/suggest.ts";
import type { EventRoutes, ProblemError } from "../http/wire.ts";
import type { AdminContext } from "./context.ts";
import { API_HEADERS, badRequest, problem, queryFaults } from "../http/problem.ts";
import { rounded } from "../http/rounded.ts";

/** Kinds of events: the compiler holds the list complete. */
const KINDS: Readonly<Record<PoolEvent["kind"], true>> = {
  "decided": true,
  "job-added": true,
  "job-unstored": true,
  "job-shed": true,
  "job-started": true,
  "job-done": true,
  "job-failed": true,
  "job-deferred": true,
  "job-dead": true,
  "job-cancelled": true,
  "job-handed-back": true,
  "lease-lost": true,
  "jobs-reaped": true,
  "worker-stuck": true,
  "cooldown-began": true,
  "cooldown-ended": true,
  "worker-failed": true,
  "plugin-failed": true,
  "plugin-recovered": true,
  "shadow-differs": true,
  "shadow-agrees": true,
  "store-failed": true,
  "store-failing": true,
  "store-recovered": true,
  "clock-stepped": true,
  "paused": true,
  "resumed": true,
  "override-set": true,
  "override-ended": true,
  "draining": true,
  "stopped": true,
  "reloaded": true,
  "audit": true,
};

/** Names of all kinds of events. */
export const EVENT_KINDS: readonly string[] = Object.keys(KINDS);

/** Headers of a stream: proxies are asked not to hold it back. */
const STREAM_HEADERS: Readonly<Record<string, string>> = {
  ...API_HEADERS,
  "content-type": "text/event-stream",
  "x-accel-buffering": "no",
};

/** When a client that the limit turned away may come back, s. */
const FULL_RETRY_S = 10;

/**
 * Makes the route.
 *
 * @internal
 */
export function eventRoutes(context: AdminContext): Hono<BlankEnv, EventRoutes, "/"> {
  const routes = new Hono().get("/api/events", (c) => stream(c, context));
  // The schema adds what handlers read themselves: queries.
  return routes as unknown as Hono<BlankEnv, EventRoutes, "/">;
}

/** Makes the JSON of an event: what someone changed goes through the redaction list. */
export function eventText(show: AdminContext["show"]): (event: PoolEvent) => string {
  return (event) =>
    JSON.stringify(
      event.kind === "audit"
        ? { ...event, before: show(event.before), after: show(event.after) }
        : event.kind === "reloaded"
        ? { ...rounded(event), changes: show(event.changes) }
        : rounded(event),
    );
}

function stream(c: Context, { feed, sluice }: AdminContext): Response {
  const pools = c.req.queries("pool") ?? [];
  const kinds = c.req.queries("kind") ?? [];
  const errors = [
    ...queryFaults(c, ["after"], ["pool", "kind"]),
    ...unknowns("pool", pools, sluice.pools.map((pool) => pool.name)),
    ...unknowns("kind", kinds, EVENT_KINDS),
  ];
  if (errors.length > 0) return badRequest(errors);
  // Hono answers HEAD by the handler of GET: a stream opened for it would never be read.
  if (c.req.method === "HEAD") return new Response(null, { headers: STREAM_HEADERS });
  const { refusal } = feed;
  if (refusal !== undefined) {
    const detail = refusal === "full"
      ? `There are ${feed.streams} event streams already: close one, or ask for snapshots instead`
      : "The server stops: no event stream is opened";
    return problem(503, detail, { headers: { "retry-after": `${FULL_RETRY_S}` } });
  }
  // A page that opens a stream by hand cannot send the header.
  const lastId = c.req.header("last-event-id") ?? c.req.query("after");
  const body = feed.open({ pools: new Set(pools), kinds: new Set(kinds) }, lastId);
  return new Response(body, { headers: STREAM_HEADERS });
}

function unknowns(
  name: "pool" | "kind",
  given: readonly string[],
  known: readonly string[],
): readonly ProblemError[] {
  return given.filter((value) => !known.includes(value)).map((value) => ({
    pointer: `?${name}`,
    detail: `No ${name === "pool" ? "pool" : "kind of event"} is named ${
      JSON.stringify(value.slice(0, 60))
    }${suggestion(value, known)}`,
  }));
}
