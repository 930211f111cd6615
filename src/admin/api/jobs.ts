/**
 * Routes about jobs: take in, look up, list, change.
 *
 * @module
 */

import { type Context, Hono } from "hono";
import type { BlankEnv } from "hono/types";
import type { JobRecord } from "../../contract/job.ts";
import type { PoolHandle } from "../../runtime/handles.ts";
import type { Change } from "../../contract/store.ts";
import { isState, JOB_STATES } from "../../base/states.ts";
import { suggestion } from "../../base/suggest.ts";
import { type JobRoutes, LONGEST_WAIT_MS } from "../http/wire.ts";
import { audit } from "./audit.ts";
import { type AdminContext, noPool, type Target } from "./context.ts";
import { openCursor, sealCursor } from "./cursor.ts";
import { EndWaiters } from "./ends.ts";
import { Gatherer } from "./gather.ts";
import { type Desk, enqueue } from "./enqueue.ts";
import { LIST_ORDER, pageOf } from "./job_list.ts";
import { matcher } from "./match.ts";
import {
  answer,
  badRequest,
  problem,
  queryFaults,
  queryNumber,
  refuseQuery,
} from "../http/problem.ts";
import { rounded } from "../http/rounded.ts";
import { laneFault } from "./submitted.ts";

/** Most jobs of a page. */
const LONGEST_PAGE = 500;

/** What a job must be for a change, in words. */
const NEEDS: Readonly<Record<Change, string>> = {
  cancel: "only one that has not ended can be cancelled",
  revive: "only a dead one can be retried",
  remove: "only one that has ended can be removed, cancel it first",
};

/** What a change is called on the outside. */
const ACTIONS: Readonly<Record<Change, string>> = {
  cancel: "cancel",
  revive: "retry",
  remove: "discard",
};

/**
 * Makes the routes.
 *
 * @internal
 */
export function jobRoutes(context: AdminContext): Hono<BlankEnv, JobRoutes, "/"> {
  const { clock, signal, sluice } = context;
  const desk: Desk = {
    context,
    gatherer: new Gatherer(clock),
    ends: new EndWaiters({
      observe: (observer) => sluice.observe(observer),
      find: async (id) => (await findJob(id, context))?.job,
      clock,
      signal,
    }),
  };
  const routes = new Hono()
    .post("/api/pools/:pool/jobs", (c) => enqueue(c, c.req.param("pool"), desk))
    .get("/api/pools/:pool/jobs", async (c) => {
      const target = context.target(c.req.param("pool"));
      if (target === undefined) return noPool(context.sluice, c.req.param("pool"));
      return await list(c, target, context);
    })
    .get("/api/jobs/:id", (c) => show(c, c.req.param("id"), desk))
    .delete("/api/jobs/:id", (c) => change(c, c.req.param("id"), "remove", context))
    .post("/api/jobs/:id/cancel", (c) => change(c, c.req.param("id"), "cancel", context))
    .post("/api/jobs/:id/retry", (c) => change(c, c.req.param("id"), "revive", context));
  // The schema adds what handlers read themselves: bodies and queries.
  return routes as unknown as Hono<BlankEnv, JobRoutes, "/">;
}

async function list(
  c: Context,
  target: Target,
  context: AdminContext,
): Promise<ReturnType<typeof badRequest> | ReturnType<typeof answer>> {
  const errors = [...queryFaults(c, ["state", "lane", "limit", "match", "cursor"])];
  const state = c.req.query("state");
  if (state !== undefined && !isState(state)) {
    errors.push({
      pointer: "?state",
      detail: `No state is named ${JSON.stringify(state.slice(0, 60))}${
        suggestion(state, JOB_STATES)
      }`,
    });
  }
  const lane = c.req.query("lane");
  if (lane !== undefined && !target.takes.lanes.has(lane)) {
    errors.push({ ...laneFault(lane, target.takes), pointer: "?lane" });
  }
  const limit = queryNumber(c, "limit", { min: 1, max: LONGEST_PAGE, default: 50 });
  if (typeof limit === "object") errors.push(limit);
  const match = c.req.query("match");
  const listed = [target.handle.name, state, lane, match];
  const given = c.req.query("cursor");
  const cursor = given === undefined ? undefined : openCursor(listed, given);
  if (given !== undefined && cursor === undefined) {
    const detail =
      "The cursor is not of this list: take it from the page before, filters unchanged";
    errors.push({ pointer: "?cursor", detail });
  }
  if (errors.length > 0 || typeof limit === "object") return badRequest(errors);
  const query = { ...LIST_ORDER, limit, lane, state: isState(state) ? state : undefined, cursor };
  return await context.lists.run(async () => {
    const page = await pageOf(target.handle, query, matcher(match || undefined, context.show));
    return answer({
      jobs: page.jobs.map((job) => shownJob(job, context)),
      ...(page.cursor === undefined ? {} : { cursor: sealCursor(listed, page.cursor) }),
    }, 200);
  });
}

async function show(
  c: Context,
  id: string,
  { context, ends }: Desk,
): Promise<ReturnType<typeof badRequest> | ReturnType<typeof answer>> {
  const errors = [...queryFaults(c, ["waitMs"])];
  const waitMs = queryNumber(c, "waitMs", { min: 0, max: LONGEST_WAIT_MS, default: 0 });
  if (typeof waitMs === "object") errors.push(waitMs);
  if (errors.length > 0 || typeof waitMs === "object") return badRequest(errors);
  const job = await ends.until(id, waitMs);
  return job === undefined ? noJob(id) : answer(shownJob(job, context), 200);
}

/** A job with its pool. */
export interface FoundJob {
  /** The job. */
  readonly job: JobRecord;
  /** Its pool. */
  readonly handle: PoolHandle;
}

/** Looks a job up in all pools. `undefined`: none knows it. */
export async function findJob(id: string, context: AdminContext): Promise<FoundJob | undefined> {
  for (const handle of context.sluice.pools) {
    const job = await handle.find(id);
    if (job !== undefined) return { job, handle };
  }
  return undefined;
}

async function change(
  c: Context,
  id: string,
  to: Change,
  context: AdminContext,
): Promise<ReturnType<typeof answer> | ReturnType<typeof problem<400 | 404 | 409>>> {
  const refusal = refuseQuery(c);
  if (refusal !== undefined) return refusal;
  for (const pool of context.sluice.pools) {
    const before = (await pool.find(id))?.state;
    if (before === undefined) continue;
    const changed = await pool.change(id, to);
    if (changed.ok) {
      const { state } = changed;
      audit(c, context, { pool: pool.name, action: ACTIONS[to], target: id, before, after: state });
      const ends = to === "cancel" && state === "running";
      return answer(ends ? { id, state, cancelling: true } : { id, state }, 200);
    }
    if (changed.state !== undefined) {
      return problem(409, `The job is ${changed.state}: ${NEEDS[to]}`);
    }
  }
  return noJob(id);
}

/** Answers 404 for a job. */
export function noJob(id: string): ReturnType<typeof problem<404>> {
  return problem(404, noJobText(id));
}

/** The sentence for a job that nobody knows. */
export function noJobText(id: string): string {
  const shown = JSON.stringify(id.slice(0, 100));
  return `No job has the id ${shown}: ended jobs are forgotten after a while, see "keep" in the config`;
}

/** A job as it may be shown. */
export function shownJob(job: JobRecord, context: AdminContext): JobRecord {
  const { payload, result, cursor, progress, error } = job;
  const { createdAtMs, dueAtMs, startedAtMs, endedAtMs } = job;
  return {
    ...job,
    ...rounded({ createdAtMs, dueAtMs, startedAtMs, endedAtMs }),
    payload: context.show(payload, payload),
    ...(result === undefined ? {} : { result: context.show(result, payload) }),
    ...(cursor === undefined ? {} : { cursor: context.show(cursor, payload) }),
    ...(progress === undefined ? {} : { progress: context.show(progress, payload) }),
    ...(error === undefined ? {} : { error: String(context.show(error, payload)) }),
  };
}
