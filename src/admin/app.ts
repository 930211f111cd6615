/**
 * Puts the admin API together: open routes, the guard, guarded routes.
 *
 * @module
 */

import { type Context, Hono } from "hono";
import type { BlankEnv } from "hono/types";
import { type Clock, systemClock } from "../time/clock.ts";
import type { Logger } from "../contract/job.ts";
import { silentLogger } from "../runtime/log.ts";
import type { Sluice } from "../runtime/handles.ts";
import { identifier } from "./access/actor.ts";
import type {
  EventRoutes,
  JobRoutes,
  LoginRoutes,
  OperationRoutes,
  PoolRoutes,
  SystemRoutes,
  WaitingRoutes,
} from "./http/wire.ts";
import { assetRoutes } from "./pages/assets.ts";
import { configPageRoutes } from "./pages/config_page.tsx";
import { type AdminContext, targets } from "./api/context.ts";
import { deadPageRoutes } from "./pages/dead_page.tsx";
import { EventFeed, MOST_STREAMS } from "./api/event_feed.ts";
import { eventRoutes, eventText } from "./api/events.ts";
import { guard } from "./access/guard.ts";
import { jobPageRoutes } from "./pages/job_page.tsx";
import { jobRoutes } from "./api/jobs.ts";
import { jobsPageRoutes } from "./pages/jobs_page.tsx";
import { openApiRoutes } from "./openapi/routes.tsx";
import { operationRoutes } from "./api/operation_routes.ts";
import { Operations } from "./api/operations.ts";
import { ListLimit } from "./api/list_limit.ts";
import { loginRoutes } from "./pages/login.tsx";
import { MOUNTED_START, overviewRoutes } from "./pages/overview.tsx";
import { poolPageRoutes } from "./pages/pool_page.tsx";
import { poolRoutes } from "./api/pools.ts";
import { BodyReads } from "./http/reads.ts";
import { configRedactor, redactor } from "../config/redaction.ts";
import { refused } from "./pages/refusal.tsx";
import { reloadRoutes } from "./api/reload.ts";
import { Sessions } from "./access/session.ts";
import { healthRoutes, systemRoutes } from "./api/system.ts";
import { checkTokens, hasToken, type Tokens } from "./access/tokens.ts";
import { failed, noRoute } from "./pages/trouble.tsx";
import { withBody } from "./server/unread.ts";
import { waitingRoutes } from "./api/waiting.ts";

/** How the admin API is set up. */
export interface AdminOptions {
  /** May read and write; at least 16 characters. Without any token only this machine is answered. */
  readonly adminToken?: string | undefined;
  /** May read; at least 16 characters. */
  readonly viewerToken?: string | undefined;
  /** `Host` names answered besides loopback's while there is no token. @default {[]} */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Names of fields that are hidden in payloads, results and options, at any depth. @default {"redact" of the config} */
  readonly redact?: readonly string[] | undefined;
  /** Gets what clients are not told. @default {nothing is written} */
  readonly log?: Logger | undefined;
  /** Longest body of an enqueue, bytes. @default {1048576} */
  readonly maxBodyBytes?: number | undefined;
  /** Longest single job, bytes of JSON. @default {65536} */
  readonly maxJobBytes?: number | undefined;
  /** Most event streams at once. @default {100} */
  readonly maxStreams?: number | undefined;
  /**
   * Aborts when the server stops: held answers come at once and event streams end, as they do when the
   * pools have stopped.
   */
  readonly signal?: AbortSignal | undefined;
  /** Time of event streams, sessions and limits. @default {the system's} */
  readonly clock?: Clock | undefined;
}

/**
 * The admin API as `hc<AdminApp>(url)` and `app.route(path, …)` take it.
 *
 * @internal
 */
export type AdminApp = Hono<
  BlankEnv,
  & PoolRoutes
  & JobRoutes
  & WaitingRoutes
  & OperationRoutes
  & EventRoutes
  & LoginRoutes
  & SystemRoutes,
  "/"
>;

/**
 * Makes the admin API.
 *
 * @throws {TypeError} If a token is too short, or both are the same.
 *
 * @example
 * ```ts
 * import { start } from "@sluice/sluice";
 * import { admin } from "@sluice/sluice/admin";
 * import assert from "node:assert/strict";
 *
 * await using sluice = await start({
 *   pools: {
 *     mail: { handler: () => "sent", size: { min: 1, max: 2 }, lanes: [{ name: "urgent" }] },
 *   },
 * });
 * const app = admin(sluice); // serve it, or mount it: `outer.route("/queue", app)`
 *
 * const response = await app.request("/api/pools/mail/jobs?waitMs=1000", {
 *   method: "POST",
 *   headers: { "content-type": "application/json" },
 *   body: JSON.stringify({ lane: "urgent", payload: { to: "ann@example.com" } }),
 * });
 *
 * assert.deepEqual((await response.json()).outcome, { state: "done", result: "sent" });
 * ```
 */
export function admin(sluice: Sluice, options: AdminOptions = {}): AdminApp {
  const log = options.log ?? silentLogger();
  const tokens: Tokens = { adminToken: options.adminToken, viewerToken: options.viewerToken };
  checkTokens(tokens);
  const sessions = new Sessions();
  const clock = options.clock ?? systemClock();
  const signal = options.signal === undefined
    ? sluice.stopped
    : AbortSignal.any([options.signal, sluice.stopped]);
  const show = options.redact === undefined ? configRedactor(sluice) : redactor(options.redact);
  const context: AdminContext = {
    sluice,
    log,
    show,
    clock,
    identify: identifier(tokens, sessions, clock),
    feed: new EventFeed({
      observe: (observer) => sluice.observe(observer),
      textOf: eventText(show),
      clock,
      maxStreams: options.maxStreams ?? MOST_STREAMS,
      signal,
    }),
    lists: new ListLimit(signal),
    operations: new Operations(() => clock.nowMs(), signal),
    body: { reads: new BodyReads(clock, signal), maxBytes: options.maxBodyBytes ?? 1_048_576 },
    maxJobBytes: options.maxJobBytes ?? 65_536,
    signal,
    target: targets(sluice),
  };
  const check = guard({
    ...tokens,
    allowedHosts: options.allowedHosts ?? [],
    identify: context.identify,
  });
  const refuse = (c: Context): Response | Promise<Response> | undefined => {
    const refusal = check(c);
    return refusal && refused(refusal, c);
  };
  const closed = new Hono()
    .route("/", jobRoutes(context))
    .route("/", waitingRoutes(context))
    .route("/", poolRoutes(context))
    .route("/", operationRoutes(context))
    .route("/", eventRoutes(context))
    .route("/", openApiRoutes(context))
    .route("/", systemRoutes(context))
    .route("/", jobsPageRoutes(context))
    .route("/", jobPageRoutes(context))
    .route("/", deadPageRoutes(context))
    .route("/", configPageRoutes(context))
    .route("/", reloadRoutes(context))
    .route("/", overviewRoutes(context))
    .route("/", poolPageRoutes(context));
  const app = new Hono()
    .route("/", healthRoutes(context))
    .route("/", assetRoutes());
  const open = hasToken(tokens) ? loginRoutes(tokens, sessions, context) : new Hono();
  for (const { method, path, handler } of open.routes) {
    app.on(method, path, (c, next) => withBody(c, context.body, handler(c, next)));
  }
  // Hint: Hono runs a route without middleware far faster than one with.
  for (const { method, path, handler } of closed.routes) {
    const guarded: typeof handler = (c, next) =>
      withBody(c, context.body, refuse(c) ?? handler(c, next));
    // Only an app that this one is mounted in needs it, and copies it: Hono's fast router cannot hold it.
    if (path === MOUNTED_START) app.routes.push({ basePath: "/", method, path, handler: guarded });
    else app.on(method, path, guarded);
  }
  app.notFound((c) => withBody(c, context.body, refuse(c) ?? noRoute(c, context, app.routes)));
  app.onError((error, c) => failed(error, c, context));
  // `hc` types come from the schemas that the routes declare.
  return app as unknown as AdminApp;
}
