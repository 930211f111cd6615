/**
 * Endpoints of bulk operations: start, look, cancel.
 *
 * @module
 */

import { messageOf, StoreError } from "../../contract/errors.ts";
import type { JobState } from "../../contract/job.ts";
import { suggestion } from "../../base/suggest.ts";
import type { OperationEndpoints } from "../http/endpoints.ts";
import type { OperationJson, OperationRequest, ProblemError } from "../http/wire.ts";
import { auditAs } from "./audit.ts";
import type { AdminContext } from "./context.ts";
import { matcher } from "./match.ts";
import { ACTIONS, MAX_RUNNING } from "./operations.ts";
import { answer, API_HEADERS, badRequest, problem } from "../http/problem.ts";
import { baseOf } from "../http/origin.ts";
import type { Answered, Exchange, Handlers } from "./route.ts";
import { operationShape } from "./shape.ts";
import { laneFault } from "./submitted.ts";

/** When to come back, once too many run, s. */
const FULL_RETRY_S = 5;

/** Handlers of the endpoints of bulk operations. */
export function operationHandlers(context: AdminContext): Handlers<OperationEndpoints> {
  const { operations } = context;
  return {
    "POST /api/pools/:pool/operations": {
      body: operationShape,
      run: (asked) => start(asked, context),
    },
    "GET /api/operations": { run: () => answer(operations.list(), 200) },
    "GET /api/operations/:id": {
      run: ({ id }) => {
        const found = operations.find(id);
        return found === undefined ? noOperation(id) : answer(found, 200);
      },
    },
    "DELETE /api/operations/:id": {
      run: async ({ id }) => {
        const found = await operations.cancel(id);
        return found === undefined ? noOperation(id) : answer(found, 200);
      },
    },
  };
}

function start(
  { c, target, body }: Exchange<"POST /api/pools/:pool/operations">,
  context: AdminContext,
): Answered<"POST /api/pools/:pool/operations"> {
  const { operations } = context;
  const { lane, state, match, group } = body;
  const action = actionOf(body);
  const errors: ProblemError[] = [];
  if (lane !== undefined && !target.takes.lanes.has(lane)) {
    errors.push(laneFault(lane, target.takes));
  }
  if (state !== undefined && !ACTIONS[action].states.includes(state)) {
    errors.push({ pointer: "/state", detail: stateFault(action, state) });
  }
  if (errors.length > 0) return badRequest(errors);
  if (operations.full) {
    const detail =
      `${MAX_RUNNING} operations are running already: wait for one to end, or cancel one`;
    return problem(429, detail, { headers: { "retry-after": `${FULL_RETRY_S}` } });
  }
  const who = context.identify(c)?.who ?? "unknown";
  const spec = { action, lane, state, match, matches: matcher({ match, group }, context.show) };
  const started = operations.start(target.handle, spec, {
    ended: (operation, thrown) => {
      context.failures.forget(target.handle);
      report(who, operation, thrown, context);
    },
  });
  const after = { lane, state, match, group };
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

function actionOf({ retry, discard }: OperationRequest): OperationJson["action"] {
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
      "and none after a restart",
  );
}
