/**
 * Endpoints of jobs: take in, look up, list, change.
 *
 * @module
 */

import type { Context } from "hono";
import type { JobAttempt, JobRecord, JobState } from "../../contract/job.ts";
import type { PoolHandle } from "../../runtime/handles.ts";
import type { Change } from "../../contract/store.ts";
import { isState, JOB_STATES } from "../../base/states.ts";
import type { JobEndpoints } from "../http/endpoints.ts";
import { LONGEST_WAIT_MS } from "../http/wire.ts";
import type { Actor } from "../access/actor.ts";
import { again } from "./again.ts";
import { audit } from "./audit.ts";
import { againShape } from "./shape.ts";
import type { AdminContext } from "./context.ts";
import { openCursor, sealCursor } from "./cursor.ts";
import { EndWaiters } from "./ends.ts";
import { Gatherer } from "./gather.ts";
import { type Desk, enqueue } from "./enqueue.ts";
import { findJobs, isPlaced, lanesOf, NO_FILTER } from "./job_query.ts";
import { countJobs, LIST_ORDER, pageOf } from "./job_list.ts";
import { matcher } from "./match.ts";
import { answer, badRequest, problem } from "../http/problem.ts";
import { text, unknown, wholeNumber } from "./query.ts";
import { rounded } from "../http/rounded.ts";
import type { Answered, Exchange, Handlers } from "./route.ts";
import { laneFault } from "./submitted.ts";
import { lookAtWaiting } from "./waiting.ts";

/** Most jobs of a page. */
const LONGEST_PAGE = 500;

/** What is wrong with a cursor. */
const OTHER_LIST =
  "The cursor belongs to another list: use the one from the previous page, with the same filters";

/** What a job must be for a change, in words. */
const NEEDS: Readonly<Record<Change, string>> = {
  cancel: "only a job that has not ended can be cancelled",
  revive: "only a dead job can be retried",
  remove: "only a job that has ended can be removed, cancel it first",
};

/** What a change is called on the outside. */
const ACTIONS: Readonly<Record<Change, string>> = {
  cancel: "cancel",
  revive: "retry",
  remove: "discard",
};

/** Which jobs a list, or a count, is about. */
const FILTER = {
  state: text<JobState>((given) =>
    isState(given) ? undefined : unknown("state", given, JOB_STATES)
  ),
  lane: text((given, { target }) =>
    target === undefined || target.takes.lanes.has(given)
      ? undefined
      : laneFault(given, target.takes).detail
  ),
  match: text(),
  group: text(),
} as const;

/** Handlers of the endpoints of jobs. */
export function jobHandlers(context: AdminContext): Handlers<JobEndpoints> {
  const { clock, signal, sluice } = context;
  const ends = new EndWaiters({
    observe: (observer) => sluice.observe(observer),
    find: async (id) => (await findJob(id, context))?.job,
    clock,
    signal,
  });
  const desk: Desk = { context, gatherer: new Gatherer(clock), ends };
  return {
    // Hint: it reads and checks all by itself, which is faster: see `isSubmitted`.
    "POST /api/pools/:pool/jobs": (c) => enqueue(c, c.req.param("pool") ?? "", desk),
    "GET /api/pools/:pool/jobs/count": { query: FILTER, run: (asked) => count(asked, context) },
    "GET /api/pools/:pool/jobs": {
      query: {
        ...FILTER,
        limit: wholeNumber({ min: 1, max: LONGEST_PAGE }),
        cursor: text((given, { c }) =>
          openCursor(listKeyOf(c), given) === undefined ? OTHER_LIST : undefined
        ),
      },
      run: (asked) => list(asked, context),
    },
    "GET /api/jobs": {
      query: {
        ...FILTER,
        lane: text((given) => {
          const lanes = lanesOf(sluice.pools);
          return lanes.includes(given) ? undefined : unknown("lane", given, lanes);
        }),
        limit: wholeNumber({ min: 1, max: LONGEST_PAGE }),
        cursor: text(),
      },
      run: (asked) => listAll(asked, context),
    },
    "GET /api/failures": {
      query: {
        pool: text((given) =>
          context.target(given) === undefined
            ? unknown("pool", given, sluice.pools.map(({ name }) => name))
            : undefined
        ),
      },
      run: async ({ query: { pool } }) => {
        const all = sluice.pools;
        const pools = pool === undefined ? all : all.filter(({ name }) => name === pool);
        return answer(rounded(await context.failures.of(pools, all.length)), 200);
      },
    },
    "GET /api/jobs/:id": {
      query: { waitMs: wholeNumber({ max: LONGEST_WAIT_MS }) },
      run: async ({ c, id, query }) => {
        const job = await ends.until(id, query.waitMs ?? 0);
        if (job === undefined) return noJob(id);
        return answer(shownWhole(job, context, context.identify(c)), 200);
      },
    },
    "GET /api/jobs/:id/waiting": {
      run: async ({ id }) => {
        const found = await findJob(id, context);
        if (found === undefined) return noJob(id);
        const waiting = await lookAtWaiting(found) ?? null;
        const { nowMs } = rounded({ nowMs: found.handle.snapshot().nowMs });
        return answer({ id: found.job.id, state: found.job.state, nowMs, waiting }, 200);
      },
    },
    "DELETE /api/jobs/:id": { run: ({ c, id }) => change(c, id, "remove", context) },
    "POST /api/jobs/:id/cancel": { run: ({ c, id }) => change(c, id, "cancel", context) },
    "POST /api/jobs/:id/again": { body: againShape, run: (asked) => again(asked, context) },
    "POST /api/jobs/:id/retry": { run: ({ c, id }) => change(c, id, "revive", context) },
  };
}

async function list(
  { c, target, query }: Exchange<"GET /api/pools/:pool/jobs">,
  context: AdminContext,
): Promise<Answered<"GET /api/pools/:pool/jobs">> {
  const { state, lane, match, group, limit = 50, cursor: given } = query;
  const listed = listKeyOf(c);
  const cursor = given === undefined ? undefined : openCursor(listed, given);
  const asked = { ...LIST_ORDER, limit, lane, state, cursor };
  return await context.lists.run(async () => {
    const page = await pageOf(target.handle, asked, matcher({ match, group }, context.show));
    return answer({
      jobs: page.jobs.map((job) => shownJob(job, context)),
      looked: page.looked,
      ...(page.cursor === undefined ? {} : { cursor: sealCursor(listed, page.cursor) }),
    }, 200);
  });
}

async function listAll(
  { query: { limit, ...query } }: Exchange<"GET /api/jobs">,
  context: AdminContext,
): Promise<Answered<"GET /api/jobs">> {
  const { lane = "", match = "", group = "", cursor = "", state } = query;
  const filter = { ...NO_FILTER, lane, state, match, group, cursor };
  if (!isPlaced(filter)) return badRequest([{ pointer: "?cursor", detail: OTHER_LIST }]);
  const { jobs, next, looked, backToMs } = await findJobs(
    { filter, pools: context.sluice.pools, faults: [] },
    context,
    limit,
  );
  return answer({
    jobs,
    looked,
    ...(next === undefined ? {} : { cursor: next }),
    ...(backToMs === undefined ? {} : { backToMs }),
  }, 200);
}

async function count(
  { target, query: { state, lane, match, group } }: Exchange<"GET /api/pools/:pool/jobs/count">,
  context: AdminContext,
): Promise<Answered<"GET /api/pools/:pool/jobs/count">> {
  const matches = match || group ? matcher({ match, group }, context.show) : undefined;
  return await context.lists.run(async () =>
    answer(await countJobs(target.handle, { state, lane }, matches), 200)
  );
}

/** What a cursor is sealed with: it counts for the list that it was given for. */
function listKeyOf(c: Context): readonly (string | undefined)[] {
  const { req } = c;
  return [
    req.param("pool"),
    req.query("state"),
    req.query("lane"),
    req.query("match"),
    req.query("group"),
  ];
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
): Promise<Answered<"DELETE /api/jobs/:id">> {
  for (const pool of context.sluice.pools) {
    const before = (await pool.find(id))?.state;
    if (before === undefined) continue;
    const changed = await pool.change(id, to);
    if (changed.ok) {
      if (before === "dead") context.failures.forget(pool);
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
  return `No job has the id ${shown}: ended jobs are deleted after a while, see "keep" in the config`;
}

/** A job with what is kept of its attempts, as someone may see it: stacks are for those who may change it. */
export function shownWhole(
  job: JobRecord,
  context: AdminContext,
  actor: Actor | undefined,
): JobRecord {
  const { payload } = job;
  const history = job.history?.map(({ error, stack, log, progress, ...attempt }): JobAttempt => ({
    ...rounded(attempt),
    ...(error === undefined ? {} : { error: String(context.show(error, payload)) }),
    ...(stack === undefined || actor?.role !== "admin"
      ? {}
      : { stack: String(context.show(stack, payload)) }),
    ...(log === undefined ? {} : {
      log: log.map((line) => ({ ...line, text: String(context.show(line.text, payload)) })),
    }),
    ...(progress === undefined ? {} : { progress: context.show(progress, payload) }),
  }));
  return { ...shownJob(job, context), ...(history === undefined ? {} : { history }) };
}

/** A job as a list may show it: without what is kept of its attempts. */
export function shownJob(job: JobRecord, context: AdminContext): JobRecord {
  const { history: _, ...shown } = job;
  const { payload, result, cursor, progress, error } = job;
  const { createdAtMs, dueAtMs, readyAtMs, startedAtMs, endedAtMs } = job;
  return {
    ...shown,
    ...rounded({ createdAtMs, dueAtMs, readyAtMs, startedAtMs, endedAtMs }),
    payload: context.show(payload, payload),
    ...(result === undefined ? {} : { result: context.show(result, payload) }),
    ...(cursor === undefined ? {} : { cursor: context.show(cursor, payload) }),
    ...(progress === undefined ? {} : { progress: context.show(progress, payload) }),
    ...(error === undefined ? {} : { error: String(context.show(error, payload)) }),
  };
}
