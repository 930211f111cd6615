/**
 * Endpoints of pools: look, pause, resume, close breakers, drain, override.
 *
 * @module
 */

import type { Decision } from "../../contract/decision.ts";
import { type Happening, happeningsOf } from "../http/happening.ts";
import { OverrideError } from "../../runtime/override.ts";
import type { PoolHandle } from "../../runtime/handles.ts";
import type { PoolEndpoints } from "../http/endpoints.ts";
import type { DecisionJson, PoolJson } from "../http/wire.ts";
import { audit } from "./audit.ts";
import type { AdminContext } from "./context.ts";
import { answer, API_HEADERS, badRequest, problem } from "../http/problem.ts";
import { reportOf } from "./report.ts";
import { rounded } from "../http/rounded.ts";
import { wholeNumber } from "./query.ts";
import type { Answered, Exchange, Handlers } from "./route.ts";
import { breakerShape, drainShape, overrideShape, pauseShape } from "./shape.ts";
import { laneFault } from "./submitted.ts";

/** How long what was done to a pool is shown beside its samples, ms. */
const SHOWN_MS = 3_600_000;

/** Most events that are read for that. */
const MOST_EVENTS = 500;

/** Longest deadline of a drain, ms. */
const LONGEST_DRAIN_MS = 3_600_000;

/** Handlers of the endpoints of pools. */
export function poolHandlers(
  context: AdminContext,
): Omit<Handlers<PoolEndpoints>, "POST /api/pools/:pool/whatif"> {
  return {
    "GET /api/pools": { run: () => answer(context.sluice.pools.map(poolJson), 200) },
    "GET /api/pools/:pool": { run: ({ target }) => answer(poolJson(target.handle), 200) },
    "GET /api/pools/:pool/report": {
      run: async ({ target }) =>
        new Response(await reportOf(target.handle, context), {
          headers: { ...API_HEADERS, "content-type": "text/markdown; charset=utf-8" },
        }),
    },
    "GET /api/pools/:pool/decisions": {
      query: { limit: wholeNumber({ min: 1, max: 1_000 }) },
      run: ({ target, query }) =>
        answer(rounded(target.handle.explain(query.limit ?? 20).map(decisionJson)), 200),
    },
    "GET /api/pools/:pool/history": {
      query: { afterMs: wholeNumber({}) },
      run: ({ target, query }) => {
        const { afterMs = -1 } = query;
        const history = target.handle.history();
        const samples = history.samples.filter(({ atMs }) => atMs > afterMs);
        const happenings = happeningsIn(target.handle, context).filter(({ atMs }) =>
          atMs > afterMs
        );
        return answer(rounded({ ...history, samples, happenings }), 200);
      },
    },
    "GET /api/pools/:pool/load": {
      query: { forMs: wholeNumber({ min: 2_000, max: 600_000 }) },
      run: ({ target: { handle }, query }) => {
        const load = handle.recentLoad(query.forMs);
        return load === undefined
          ? problem(409, "The pool began just now: ask again later")
          : answer(rounded(load), 200);
      },
    },
    "POST /api/pools/:pool/pause": {
      running: true,
      body: pauseShape,
      run: (asked) => setPaused(asked, context, true),
    },
    "POST /api/pools/:pool/resume": {
      running: true,
      body: pauseShape,
      run: (asked) => setPaused(asked, context, false),
    },
    "POST /api/pools/:pool/close-breaker": {
      running: true,
      body: breakerShape,
      run: (asked) => closeBreaker(asked, context),
    },
    "POST /api/pools/:pool/drain": { body: drainShape, run: (asked) => drain(asked, context) },
    "PUT /api/pools/:pool/override": {
      running: true,
      body: overrideShape,
      run: (asked) => override(asked, context),
    },
    "DELETE /api/pools/:pool/override": {
      running: true,
      run: ({ c, target: { handle } }) => {
        const before = handle.snapshot().override;
        handle.clearOverride();
        audit(c, context, { pool: handle.name, action: "override-end", before });
        return answer({ pool: handle.name, override: null }, 200);
      },
    },
  };
}

/** A pool as shown: what is unbounded is `null`. */
export function poolJson(pool: PoolHandle): PoolJson {
  const { readyOlderThan: _, decision, lanes, limit, startsPerSec, ...rest } = pool.snapshot();
  return rounded({
    ...rest,
    limit: bounded(limit),
    startsPerSec: bounded(startsPerSec),
    lanes: lanes.map((lane) => ({ ...lane, maxRunning: bounded(lane.maxRunning) })),
    ...(decision === undefined ? {} : { decision: decisionJson(decision) }),
    diagnosis: pool.diagnosis(),
    jobs: pool.counts(),
  });
}

/** A decision as shown: what is unbounded is `null`. */
export function decisionJson(decision: Decision): DecisionJson {
  return {
    ...decision,
    proposals: decision.proposals.map((part) => ({ ...part, workers: bounded(part.workers) })),
  };
}

async function setPaused(
  { c, target, body: { lane } }:
    | Exchange<"POST /api/pools/:pool/pause">
    | Exchange<
      "POST /api/pools/:pool/resume"
    >,
  context: AdminContext,
  paused: boolean,
): Promise<Answered<"POST /api/pools/:pool/pause">> {
  if (lane !== undefined && !target.takes.lanes.has(lane)) {
    return badRequest([laneFault(lane, target.takes)]);
  }
  const { handle } = target;
  const before = { paused: isPaused(handle, lane) };
  await (paused ? handle.pause(lane) : handle.resume(lane));
  const action = paused ? "pause" : "resume";
  audit(c, context, { pool: handle.name, action, target: lane, before, after: { paused } });
  return answer({ pool: handle.name, lane: lane ?? null, paused }, 200);
}

function isPaused(handle: PoolHandle, lane: string | undefined): boolean | undefined {
  const { paused, lanes } = handle.snapshot();
  return lane === undefined ? paused : lanes.find(({ name }) => name === lane)?.paused;
}

async function closeBreaker(
  { c, target: { handle }, body: { key } }: Exchange<"POST /api/pools/:pool/close-breaker">,
  context: AdminContext,
): Promise<Answered<"POST /api/pools/:pool/close-breaker">> {
  const closed = await handle.closeBreaker(key);
  // Keys may name people, and logs travel.
  const after = { closed, of: key === undefined ? "the pool" : "a key" };
  audit(c, context, { pool: handle.name, action: "close-breaker", after });
  return answer({ pool: handle.name, key: key ?? null, closed }, 200);
}

async function drain(
  { c, target: { handle }, body: { deadlineMs } }: Exchange<"POST /api/pools/:pool/drain">,
  context: AdminContext,
): Promise<Answered<"POST /api/pools/:pool/drain">> {
  const clamped = deadlineMs === undefined ? undefined : Math.min(LONGEST_DRAIN_MS, deadlineMs);
  const before = { draining: handle.snapshot().draining };
  audit(c, context, { pool: handle.name, action: "drain", before, after: { draining: true } });
  return answer(await handle.drain(clamped), 200);
}

function override(
  { c, target: { handle }, body: { expiresInMs, ...bounds } }: Exchange<
    "PUT /api/pools/:pool/override"
  >,
  context: AdminContext,
): Answered<"PUT /api/pools/:pool/override"> {
  const before = handle.snapshot().override;
  try {
    handle.override(bounds, expiresInMs);
  } catch (thrown) {
    if (!(thrown instanceof OverrideError)) throw thrown;
    const pointer = thrown.field === undefined ? "" : `/${thrown.field}`;
    return badRequest([{ pointer, detail: thrown.message }]);
  }
  const after = handle.snapshot().override;
  audit(c, context, { pool: handle.name, action: "override", before, after });
  return answer(rounded({ pool: handle.name, override: after ?? null }), 200);
}

/** What was done to a pool in the last hour, oldest first. */
function happeningsIn(handle: PoolHandle, { trail }: AdminContext): readonly Happening[] {
  const sinceMs = handle.snapshot().nowMs - SHOWN_MS;
  const events = trail.list({ pools: [handle.name], kinds: [], sinceMs, limit: MOST_EVENTS });
  const begin = { atMs: trail.sinceMs, tone: "system", text: "The process started" } as const;
  return [...begin.atMs >= sinceMs ? [begin] : [], ...happeningsOf(events.toReversed())];
}

function bounded(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
