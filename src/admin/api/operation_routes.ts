/**
 * Routes about bulk operations: start, look, cancel.
 *
 * @module
 */

import { type Context, Hono } from "hono";
import type { BlankEnv } from "hono/types";
import { messageOf, StoreError } from "../../contract/errors.ts";
import type { JobState } from "../../contract/job.ts";
import { suggestion } from "../../base/suggest.ts";
import type { OperationJson, OperationRoutes, ProblemError } from "../http/wire.ts";
import { auditAs } from "./audit.ts";
import { readShape } from "../http/body.ts";
import { type AdminContext, noPool, type Target } from "./context.ts";
import { matcher } from "./match.ts";
import { ACTIONS, MAX_RUNNING } from "./operations.ts";
import { answer, API_HEADERS, badRequest, problem, refuseQuery } from "../http/problem.ts";
import { baseOf } from "../http/origin.ts";
import { type OperationBody, operationShape } from "./shape.ts";
import { laneFault } from "./submitted.ts";

/** When to come back, once too many run, s. */
const FULL_RETRY_S = 5;

/**
 * Makes the routes.
 *
 * @internal
 */
export function operationRoutes(context: AdminContext): Hono<BlankEnv, OperationRoutes, "/"> {
  const { operations } = context;
  const routes = new Hono()
    .post("/api/pools/:pool/operations", async (c) => {
      const target = context.target(c.req.param("pool"));
      if (target === undefined) return noPool(context.sluice, c.req.param("pool"));
      return await start(c, target, context);
    })
    .get("/api/operations", (c) => refuseQuery(c) ?? answer(operations.list(), 200))
    .get("/api/operations/:id", (c) => {
      const refusal = refuseQuery(c);
      if (refusal !== undefined) return refusal;
      const found = operations.find(c.req.param("id"));
      return found === undefined ? noOperation(c.req.param("id")) : answer(found, 200);
    })
    .delete("/api/operations/:id", async (c) => {
      const refusal = refuseQuery(c);
      if (refusal !== undefined) return refusal;
      const found = await operations.cancel(c.req.param("id"));
      return found === undefined ? noOperation(c.req.param("id")) : answer(found, 200);
    });
  // The schema adds what handlers read themselves: bodies.
  return routes as unknown as Hono<BlankEnv, OperationRoutes, "/">;
}

async function start(
  c: Context,
  target: Target,
  context: AdminContext,
): Promise<Response> {
  const { operations } = context;
  const body = await readShape(c, operationShape, context.body.reads);
  if (!body.ok) return body.refusal;
  const { lane, state, match } = body.value;
  const action = actionOf(body.value);
  const errors: ProblemError[] = [];
  if (lane !== undefined && !target.takes.lanes.has(lane)) {
    errors.push(laneFault(lane, target.takes));
  }
  if (state !== undefined && !ACTIONS[action].states.includes(state)) {
    errors.push({ pointer: "/state", detail: stateFault(action, state) });
  }
  if (errors.length > 0) return badRequest(errors);
  if (operations.full) {
    const detail = `${MAX_RUNNING} operations run already: wait for one to end, or cancel one`;
    return problem(429, detail, { headers: { "retry-after": `${FULL_RETRY_S}` } });
  }
  const who = context.identify(c)?.who ?? "unknown";
  const spec = { action, lane, state, match, matches: matcher(match, context.show) };
  const started = operations.start(target.handle, spec, {
    ended: (operation, thrown) => report(who, operation, thrown, context),
  });
  const after = { lane, state, match };
  auditAs(who, context, {
    pool: started.pool,
    action: `${action} jobs`,
    target: started.id,
    after,
  });
  const location = `${baseOf(c)}/api/operations/${started.id}`;
  return answer(started, 202, { ...API_HEADERS, location });
}

function report(
  who: string,
  operation: OperationJson,
  thrown: unknown,
  context: AdminContext,
): void {
  const { id, pool, action, status, seen, matched, changed } = operation;
  if (thrown !== undefined) {
    const isOurs = thrown instanceof Error && !(thrown instanceof StoreError);
    const error = isOurs ? thrown.stack ?? thrown.message : messageOf(thrown);
    context.log.error("An operation on jobs failed", { pool, id, action, error });
  }
  const after = { seen, matched, changed };
  auditAs(who, context, { pool, action: `${action} jobs ${status}`, target: id, after });
}

function actionOf({ retry, discard }: OperationBody): OperationJson["action"] {
  if (retry) return "retry";
  return discard ? "discard" : "purge";
}

function stateFault(action: OperationJson["action"], state: JobState): string {
  return `No ${action} takes jobs that are ${state}${suggestion("", ACTIONS[action].states)}`;
}

function noOperation(id: string): ReturnType<typeof problem<404>> {
  return problem(
    404,
    `No operation has the id ${JSON.stringify(id.slice(0, 100))}: the latest hundred are kept, ` +
      "and none over a restart",
  );
}
