/**
 * Endpoints of events: as they happen, and those that are kept.
 *
 * @module
 */

import type { PoolEvent } from "../../contract/event.ts";
import type { SystemEndpoints } from "../http/endpoints.ts";
import type { EventJson, PastEventsJson } from "../http/wire.ts";
import type { AdminContext } from "./context.ts";
import { answer, API_HEADERS, problem } from "../http/problem.ts";
import { names, text, wholeNumber } from "./query.ts";
import { rounded } from "../http/rounded.ts";
import type { Answered, Exchange, Handlers } from "./route.ts";

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

/** When a client that the limit rejected may come back, s. */
const FULL_RETRY_S = 10;

/** Handlers of the endpoints of events. */
export function eventHandlers(
  context: AdminContext,
): Pick<Handlers<SystemEndpoints>, "GET /api/events" | "GET /api/events/past"> {
  const pool = names("pool", () => context.sluice.pools.map(({ name }) => name));
  const kind = names("kind of event", () => EVENT_KINDS);
  return {
    "GET /api/events": {
      query: { pool, kind, after: text() },
      run: (asked) => stream(asked, context),
    },
    "GET /api/events/past": {
      query: { pool, kind, sinceMs: wholeNumber({}), limit: wholeNumber({ min: 1, max: 1_000 }) },
      run: ({ query }) => answer(past(query, context), 200),
    },
  };
}

/** What is kept of what happened, as it may be shown. */
export function past(
  { pool = [], kind = [], sinceMs = 0, limit = 100 }: {
    readonly pool?: readonly string[] | undefined;
    readonly kind?: readonly string[] | undefined;
    readonly sinceMs?: number | undefined;
    readonly limit?: number | undefined;
  },
  { trail, show }: AdminContext,
): PastEventsJson {
  const events = trail.list({ pools: pool, kinds: kind, sinceMs, limit });
  return {
    keptSinceMs: Math.round(trail.sinceMs),
    events: events.map((event) => shownEvent(event, show)),
  };
}

/** An event as it may be shown: what someone changed goes through the redaction list, stacks are left out. */
export function shownEvent(event: PoolEvent, show: AdminContext["show"]): EventJson {
  return shownParts(event, show) as EventJson; // the same shape; JSON writes what is unbounded as null
}

function shownParts(event: PoolEvent, show: AdminContext["show"]): object {
  switch (event.kind) {
    case "audit":
      return { ...event, before: show(event.before), after: show(event.after) };
    case "reloaded":
      return { ...rounded(event), changes: show(event.changes) };
    case "job-failed":
    case "job-dead":
      return { ...rounded(event), stack: undefined };
    default:
      return rounded(event);
  }
}

function stream(
  { c, query: { pool = [], kind = [], after } }: Exchange<"GET /api/events">,
  { feed }: AdminContext,
): Answered<"GET /api/events"> {
  // Hono answers HEAD by the handler of GET: a stream opened for it would never be read.
  if (c.req.method === "HEAD") return new Response(null, { headers: STREAM_HEADERS });
  const { refusal } = feed;
  if (refusal !== undefined) {
    const detail = refusal === "full"
      ? `There are ${feed.streams} event streams already: close one, or poll snapshots instead`
      : "The server is stopping: no new event streams";
    return problem(503, detail, { headers: { "retry-after": `${FULL_RETRY_S}` } });
  }
  // A page that opens a stream by hand cannot send the header.
  const lastId = c.req.header("last-event-id") ?? after;
  const body = feed.open({ pools: new Set(pool), kinds: new Set(kind) }, lastId);
  return new Response(body, { headers: STREAM_HEADERS });
}
