/**
 * From the table of endpoints to routes: each handler is held to what its endpoint takes and answers,
 * and is called once that has been checked.
 *
 * @module
 */

import type { Context, Next, TypedResponse } from "hono";
import type { GenericSchema } from "valibot";
import type { PoolHandle } from "../../runtime/handles.ts";
import { readShape } from "../http/body.ts";
import type { Endpoints } from "../http/endpoints.ts";
import { type Answer, badRequest, problem, refuseQuery } from "../http/problem.ts";
import type { Media, Problem } from "../http/wire.ts";
import { type AdminContext, noPool, type Target } from "./context.ts";
import { type QueryParameter, readQuery } from "./query.ts";

/** A route of the table: method and path. */
export type EndpointRoute = keyof Endpoints;

/** What an endpoint answers. */
type AnswersOf<Route extends EndpointRoute> = Endpoints[Route]["answers"];

/** What a handler may return: one of the answers, or a problem. */
export type Answered<Route extends EndpointRoute> =
  | (Response & TypedResponse<Problem>)
  | {
    [Status in keyof AnswersOf<Route> & number]: AnswersOf<Route>[Status] extends Media<string>
      ? Response
      : Answer<AnswersOf<Route>[Status], Status>;
  }[keyof AnswersOf<Route> & number];

type QueryOf<Route extends EndpointRoute> = Endpoints[Route] extends { query: infer Query } ? Query
  : unknown;

type BodyOf<Route extends EndpointRoute> = Endpoints[Route] extends { body: infer Body } ? Body
  : unknown;

/** What a request asks for, checked. */
export interface Exchange<Route extends EndpointRoute> {
  /** The request. */
  readonly c: Context;
  /** Its pool, for a path with `:pool`. */
  readonly target: Route extends `${string}/:pool${string}` ? Target : undefined;
  /** What its path names, for one with `:id`. */
  readonly id: Route extends `${string}/:id${string}` ? string : undefined;
  /** Its query. */
  readonly query: QueryOf<Route>;
  /** Its body. */
  readonly body: BodyOf<Route>;
}

/** Answers a request whose pool, query and body have been checked, by what is said here. */
export interface CheckedHandler<Route extends EndpointRoute> {
  /** How the parameters of the query are read. Omitted: there may be none. */
  readonly query?:
    | { readonly [Name in keyof QueryOf<Route>]-?: QueryParameter<QueryOf<Route>[Name]> }
    | undefined;
  /** What checks the body. Omitted: it is not read. */
  readonly body?: GenericSchema<BodyOf<Route>> | undefined;
  /** True: refused with 409 once the pool drains, as nothing would come of it. */
  readonly running?: true;
  /** Answers. */
  run(asked: Exchange<Route>): Answered<Route> | Promise<Answered<Route>>;
}

/** A handler: what it needs checked, or a function that checks all by itself. */
export type EndpointHandler<Route extends EndpointRoute> =
  | CheckedHandler<Route>
  | ((c: Context) => Response | Promise<Response>);

/** A handler for each endpoint of a part of the table. */
export type Handlers<Table> = {
  readonly [Route in keyof Table & EndpointRoute]: EndpointHandler<Route>;
};

/** A route with what answers it. */
export interface EndpointEntry {
  /** HTTP method, upper case. */
  readonly method: string;
  /** Path as Hono has it. */
  readonly path: string;
  /** What answers. */
  readonly handler: (c: Context, next: Next) => Response | Promise<Response>;
}

/** The routes of some handlers. */
export function routesOf(
  handlers: Partial<Handlers<Endpoints>>,
  context: AdminContext,
): readonly EndpointEntry[] {
  return Object.entries(handlers).map(([route, handler]) => {
    const [method = "", path = ""] = route.split(" ");
    if (typeof handler === "function") return { method, path, handler };
    // The types of the table have held this handler to its route; here it is any of them.
    const checked = handler as unknown as AnyHandler;
    return { method, path, handler: (c) => handle(c, path, checked, context) };
  });
}

/** A handler of whatever route. */
interface AnyHandler {
  readonly query?: Readonly<Record<string, QueryParameter<unknown>>>;
  readonly body?: GenericSchema;
  readonly running?: true;
  run(asked: object): Response | Promise<Response>;
}

function handle(
  c: Context,
  path: string,
  handler: AnyHandler,
  context: AdminContext,
): Response | Promise<Response> {
  let target: Target | undefined;
  if (path.includes("/:pool")) {
    const name = c.req.param("pool") ?? "";
    target = context.target(name);
    if (target === undefined) return noPool(context.sluice, name);
    const refusal = handler.running && ended(target.handle);
    if (refusal !== undefined) return refusal;
  }
  const asked = { c, target, id: c.req.param("id"), query: {} };
  if (handler.body !== undefined) return handleBody(asked, handler.body, handler, context);
  if (handler.query === undefined) return refuseQuery(c) ?? handler.run(asked);
  const { query, faults } = readQuery(c, handler.query, target);
  return faults.length > 0 ? badRequest(faults) : handler.run({ ...asked, query });
}

async function handleBody(
  asked: { readonly c: Context },
  shape: GenericSchema,
  handler: AnyHandler,
  context: AdminContext,
): Promise<Response> {
  const body = await readShape(asked.c, shape, context.body.reads);
  return body.ok ? await handler.run({ ...asked, body: body.value }) : body.refusal;
}

/** Refuses what would change nothing any more. `undefined`: the pool runs. */
function ended(handle: PoolHandle): ReturnType<typeof problem<409>> | undefined {
  const { draining, stopped } = handle.snapshot();
  if (!draining) return undefined;
  const how = stopped ? "has stopped" : "is draining";
  return problem(409, `Pool "${handle.name}" ${how}: only a restart makes it available again`);
}
