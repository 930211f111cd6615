/**
 * Puts the admin API together: every route behind the guard, but those that are open.
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
import { compressed } from "./http/compressed.ts";
import { OPEN_ROUTES } from "./access/open_routes.ts";
import type { Endpoints, SessionEndpoints } from "./http/endpoints.ts";
import type { RoutesOf } from "./http/hc.ts";
import { assetRoutes } from "./pages/assets.ts";
import { auditPageRoutes } from "./pages/audit_page.tsx";
import { configPageRoutes } from "./pages/config_page.tsx";
import { type AdminContext, targets } from "./api/context.ts";
import { deadPageRoutes } from "./pages/dead_page.tsx";
import { EventFeed, MOST_STREAMS } from "./api/event_feed.ts";
import { eventHandlers, shownEvent } from "./api/events.ts";
import { EventTrail } from "./api/event_trail.ts";
import { stripping } from "./http/stripped.ts";
import { guard } from "./access/guard.ts";
import { enqueuePageRoutes } from "./pages/enqueue_page.tsx";
import { jobPageRoutes } from "./pages/job_page.tsx";
import { jobHandlers } from "./api/jobs.ts";
import { jobsPageRoutes } from "./pages/jobs_page.tsx";
import { openApiRoutes } from "./openapi/routes.tsx";
import { operationHandlers } from "./api/operation_routes.ts";
import { Operations } from "./api/operations.ts";
import { Failures } from "./api/failures.ts";
import { LatestFailures } from "./api/latest_failure.ts";
import { ListLimit } from "./api/list_limit.ts";
import { loginHandlers, loginPageRoutes } from "./pages/login.tsx";
import { MOUNTED_START, overviewRoutes } from "./pages/overview.tsx";
import { schedulesPageRoutes } from "./pages/schedules_page.tsx";
import { poolPageRoutes } from "./pages/pool_page.tsx";
import { poolHandlers } from "./api/pools.ts";
import { BodyReads } from "./http/reads.ts";
import { configRedactor, redactor } from "../config/redaction.ts";
import { refused } from "./pages/refusal.tsx";
import { reloadHandlers } from "./api/reload.ts";
import { scheduleHandlers } from "./api/schedules.ts";
import { Sessions } from "./access/session.ts";
import { systemHandlers } from "./api/system.ts";
import { whatIfHandlers } from "./api/what_if.ts";
import { checkTokens, hasToken, type Tokens } from "./access/tokens.ts";
import { failed, noRoute } from "./pages/trouble.tsx";
import { withBody } from "./server/unread.ts";
import { type EndpointEntry, type Handlers, routesOf } from "./api/route.ts";

/** How the admin API is set up. */
export interface AdminOptions {
  /** May read and write; at least 16 characters. Without any token only this machine is answered. */
  readonly adminToken?: string | undefined;
  /** May read; at least 16 characters. */
  readonly viewerToken?: string | undefined;
  /** `Host` names answered besides loopback's while there is no token. @default {[]} */
  readonly allowedHosts?: readonly string[] | undefined;
  /**
   * Path that is taken off before the app sees a request, by a proxy or another framework, such as
   * `/queue`: links and redirects begin with it. Not for `outer.route("/queue", app)`, which takes nothing off.
   *
   * @default {""}
   */
  readonly basePath?: string | undefined;
  /** Addresses of proxies whose `X-Forwarded-Prefix` is used in place of `basePath`. @default {[]} */
  readonly trustedProxies?: readonly string[] | undefined;
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
export type AdminApp = Hono<BlankEnv, RoutesOf<Endpoints>, "/">;

/**
 * Makes the admin API.
 *
 * @throws {TypeError} If a token is too short, both are the same, or `basePath` is no path.
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
  const note = stripping(options);
  const sessions = new Sessions();
  const clock = options.clock ?? systemClock();
  const signal = options.signal === undefined
    ? sluice.stopped
    : AbortSignal.any([options.signal, sluice.stopped]);
  const show = options.redact === undefined ? configRedactor(sluice) : redactor(options.redact);
  const lists = new ListLimit(signal);
  const context: AdminContext = {
    sluice,
    log,
    show,
    clock,
    identify: identifier(tokens, sessions, clock),
    feed: new EventFeed({
      observe: (observer) => sluice.observe(observer),
      textOf: (event) => JSON.stringify(shownEvent(event, show)),
      clock,
      maxStreams: options.maxStreams ?? MOST_STREAMS,
      signal,
    }),
    trail: new EventTrail(
      (observer) => sluice.observe(observer, { jobs: false }),
      sluice.pools[0]?.snapshot().nowMs ?? clock.nowMs(),
      signal,
    ),
    lists,
    failures: new Failures({ lists, show, clock }),
    latestFailures: new LatestFailures({ lists, show, clock }),
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
  const app = new Hono();
  const add = ({ method, path, handler }: EndpointEntry): void => {
    // Hint: Hono runs a route without middleware far faster than one with.
    const checked: typeof handler = isOpen(method, path)
      ? (c, next) => withBody(c, context.body, handler(c, next))
      : (c, next) => withBody(c, context.body, refuse(c) ?? handler(c, next));
    const answering: typeof handler = method === "GET"
      ? (c, next) => compressed(c.req.raw, checked(c, next))
      : checked;
    const handle: typeof handler = note === undefined ? answering : (c, next) => {
      note(c);
      return answering(c, next);
    };
    // Only an app that this one is mounted in needs it, and copies it: Hono's fast router cannot hold it.
    if (path === MOUNTED_START) {
      app.routes.push({ basePath: "/", method, path, handler: handle });
    } else app.on(method, path, handle);
  };
  const handlers: Handlers<Omit<Endpoints, keyof SessionEndpoints>> = {
    ...jobHandlers(context),
    ...poolHandlers(context),
    ...whatIfHandlers(context),
    ...scheduleHandlers(context),
    ...operationHandlers(context),
    ...eventHandlers(context),
    ...reloadHandlers(context),
    ...systemHandlers(context),
  };
  routesOf(handlers, context).forEach(add);
  if (hasToken(tokens)) {
    routesOf(loginHandlers(tokens, sessions, context), context).forEach(add);
  }
  const pages = new Hono()
    .route("/", openApiRoutes(context))
    .route("/", jobsPageRoutes(context))
    .route("/", jobPageRoutes(context))
    .route("/", enqueuePageRoutes(context))
    .route("/", deadPageRoutes(context))
    .route("/", schedulesPageRoutes(context))
    .route("/", auditPageRoutes(context))
    .route("/", configPageRoutes(context))
    .route("/", overviewRoutes(context))
    .route("/", poolPageRoutes(context))
    .route("/", assetRoutes());
  if (hasToken(tokens)) pages.route("/", loginPageRoutes());
  pages.routes.forEach(add);
  app.notFound((c) => {
    note?.(c);
    return withBody(c, context.body, refuse(c) ?? noRoute(c, context, app.routes));
  });
  app.onError((error, c) => failed(error, c, context));
  // `hc` types come from the schemas that the routes declare.
  return app as unknown as AdminApp;
}

function isOpen(method: string, path: string): boolean {
  return OPEN_ROUTES.some((route) => route === `${method} ${path}`);
}
