/**
 * What is answered where no route answers: an unknown path, a query that
 * does not fit, a store that fails, a fault of our own.
 * Programs get a problem, people a page that leads on.
 *
 * @module
 */

/** @jsxImportSource hono/jsx */

import { StoppingError } from "../api/list_limit.ts";
import type { Context } from "hono";
import type { Child } from "hono/jsx";
import { StoreError } from "../../contract/errors.ts";
import { NO_ROUTE, type ProblemError } from "../http/wire.ts";
import type { AdminContext } from "../api/context.ts";
import { answerPage, bareFrameOf, Layout } from "./layout.tsx";
import { isForPeople, placeOf } from "../http/origin.ts";
import { stripped } from "../http/stripped.ts";
import { badRequest, problem } from "../http/problem.ts";
import { UnreadError } from "../http/reads.ts";
import { unread } from "../server/unread.ts";

/** When to come back once a store has failed, s. */
const STORE_RETRY_S = 5;

const STORE_CAUSES = "another program may hold its database locked, its disk may be full, " +
  "or the network to it may be down";

/** A route, as far as it matters here. */
interface KnownRoute {
  readonly method: string;
  readonly path: string;
}

/** Answers what no route is for: 405 where other methods have one, or 404. */
export function noRoute(
  c: Context,
  context: AdminContext,
  routes: readonly KnownRoute[],
): Response | Promise<Response> {
  const path = c.req.path.slice(0, 200);
  const allowed = methodsOf(c, routes);
  if (allowed.length > 0) {
    const allow = allowed.join(", ");
    if (isForPeople(c)) {
      const text = <p class="card empty">{path} is not a page: it only accepts {allow}.</p>;
      return page(c, context, 405, "Not a page", text, { allow });
    }
    return problem(405, `Expected ${allow} but received ${c.req.method}`, { headers: { allow } });
  }
  if (isForPeople(c)) {
    return page(c, context, 404, "No such page", <p class="card empty">Nothing is at {path}.</p>);
  }
  return problem(404, `${NO_ROUTE} ${c.req.method} ${path}: see /docs for the routes`);
}

/** Answers 400 with every fault of a query. */
export function badQuery(
  c: Context,
  context: AdminContext,
  errors: readonly ProblemError[],
): Response | Promise<Response> {
  if (!isForPeople(c)) return badRequest(errors);
  const faults = (
    <div class="fault" role="alert">
      {errors.map(({ detail }) => <p>{detail}</p>)}
    </div>
  );
  return page(c, context, 400, "This page cannot be shown", faults);
}

/** Answers what a route failed at. */
export function failed(
  error: Error,
  c: Context,
  context: AdminContext,
): Response | Promise<Response> {
  if (error instanceof StoreError) return storeFailed(error, c, context);
  if (error instanceof UnreadError) return unread(error, c);
  if (error instanceof StoppingError) return problem(503, error.message);
  context.log.error("An admin request failed", {
    method: c.req.method,
    path: c.req.path,
    error: error.stack ?? error.message,
  });
  const detail = "The server failed: its log has the reason";
  if (!isForPeople(c)) return problem(500, detail);
  return page(c, context, 500, "The server failed", <p class="card empty">{detail}.</p>);
}

function storeFailed(
  { message, mayBeDone }: StoreError,
  c: Context,
  context: AdminContext,
): Response | Promise<Response> {
  const headers = { "retry-after": `${STORE_RETRY_S}` };
  if (isForPeople(c)) {
    const { pathname, search } = placeOf(c);
    const content = (
      <>
        <p class="card empty">
          {message}. If this lasts: {STORE_CAUSES}.
        </p>
        <p class="row">
          <a class="button" href={stripped(c) + pathname + search}>Try again</a>
          <span id="retry" class="soft" data-seconds={STORE_RETRY_S}>
            The page tries again every {STORE_RETRY_S} s.
          </span>
        </p>
      </>
    );
    return page(c, context, 503, "The store does not answer", content, headers);
  }
  const again = mayBeDone ? "" : "; try again"; // else the message says so itself
  return problem(503, `${message}${again}. If this lasts: ${STORE_CAUSES}`, { headers });
}

function page(
  c: Context,
  context: AdminContext,
  status: 400 | 404 | 405 | 500 | 503,
  title: string,
  content: Child,
  headers: Readonly<Record<string, string>> = {},
): Response | Promise<Response> {
  const frame = bareFrameOf(c, context);
  return answerPage(
    c,
    <Layout
      {...frame}
      title={title}
      scripts={status === 503 ? ["retry.js"] : []}
      refresh={status === 503 ? STORE_RETRY_S : undefined}
    >
      {content}
      <p>
        <a href={frame.base || "/"}>All pools</a>
      </p>
    </Layout>,
    status,
    headers,
  );
}

/** Methods that a path has routes for. */
function methodsOf(c: Context, routes: readonly KnownRoute[]): readonly string[] {
  const parts = c.req.path.split("/");
  const allowed = new Set<string>();
  for (const { method, path } of routes) {
    const wanted = path.split("/");
    const fits = method !== "ALL" && wanted.length === parts.length &&
      !path.includes("{") && wanted.every((part, index) =>
        part.startsWith(":") ? parts[index] !== "" : part === parts[index]
      );
    if (fits) {
      allowed.add(method);
    }
  }
  return [...allowed];
}
