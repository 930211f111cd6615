/**
 * Routes about pools: look, pause, resume, drain, override.
 *
 * @module
 */

import { type Context, Hono } from "hono";
import type { BlankEnv } from "hono/types";
import type { Decision } from "../../contract/decision.ts";
import { OverrideError } from "../../runtime/override.ts";
import type { PoolHandle } from "../../runtime/handles.ts";
import type { DecisionJson, PoolJson, PoolRoutes } from "../http/wire.ts";
import { audit } from "./audit.ts";
import { readShape } from "../http/body.ts";
import { type AdminContext, noPool, type Target } from "./context.ts";
import {
  answer,
  badRequest,
  problem,
  queryFaults,
  queryNumber,
  refuseQuery,
} from "../http/problem.ts";
import { rounded } from "../http/rounded.ts";
import { drainShape, overrideShape, pauseShape } from "./shape.ts";
import { laneFault } from "./submitted.ts";

/** Longest deadline of a drain, ms. */
const LONGEST_DRAIN_MS = 3_600_000;

/**
 * Makes the routes.
 *
 * @internal
 */
export function poolRoutes(context: AdminContext): Hono<BlankEnv, PoolRoutes, "/"> {
  const { sluice } = context;
  const routes = new Hono()
    .get("/api/pools", (c) => refuseQuery(c) ?? answer(sluice.pools.map(poolJson), 200))
    .get(
      "/api/pools/:pool",
      (c) =>
        onPool(
          context,
          c.req.param("pool"),
          ({ handle }) => refuseQuery(c) ?? answer(poolJson(handle), 200),
        ),
    )
    .get("/api/pools/:pool/decisions", (c) =>
      onPool(context, c.req.param("pool"), ({ handle }) => {
        const limit = queryNumber(c, "limit", { min: 1, max: 1_000, default: 20 });
        const faults = queryFaults(c, ["limit"]);
        if (typeof limit === "object") return badRequest([limit, ...faults]);
        if (faults.length > 0) return badRequest(faults);
        return answer(rounded(handle.explain(limit).map(decisionJson)), 200);
      }))
    .get("/api/pools/:pool/history", (c) =>
      onPool(context, c.req.param("pool"), ({ handle }) => {
        const afterMs = queryNumber(c, "afterMs", { min: 0, max: Infinity, default: -1 });
        const faults = queryFaults(c, ["afterMs"]);
        if (typeof afterMs === "object") return badRequest([afterMs, ...faults]);
        if (faults.length > 0) return badRequest(faults);
        const history = handle.history();
        const samples = history.samples.filter(({ atMs }) => atMs > afterMs);
        return answer(rounded({ ...history, samples }), 200);
      }))
    .post(
      "/api/pools/:pool/pause",
      (c) => onPool(context, c.req.param("pool"), (target) => setPaused(c, target, context, true)),
    )
    .post(
      "/api/pools/:pool/resume",
      (c) => onPool(context, c.req.param("pool"), (target) => setPaused(c, target, context, false)),
    )
    .post(
      "/api/pools/:pool/drain",
      (c) => onPool(context, c.req.param("pool"), (target) => drain(c, target, context)),
    )
    .put(
      "/api/pools/:pool/override",
      (c) => onPool(context, c.req.param("pool"), (target) => override(c, target, context)),
    )
    .delete(
      "/api/pools/:pool/override",
      (c) =>
        onPool(context, c.req.param("pool"), ({ handle }) => {
          const refusal = refuseQuery(c) ?? ended(handle);
          if (refusal !== undefined) return refusal;
          const before = handle.snapshot().override;
          handle.clearOverride();
          audit(c, context, { pool: handle.name, action: "override-end", before });
          return answer({ pool: handle.name, override: null }, 200);
        }),
    );
  // The schema adds what handlers read themselves: bodies and queries.
  return routes as unknown as Hono<BlankEnv, PoolRoutes, "/">;
}

/** A pool as shown: what is unbounded is `null`. */
export function poolJson(pool: PoolHandle): PoolJson {
  const { readyOlderThan: _, decision, lanes, limit, ...rest } = pool.snapshot();
  return rounded({
    ...rest,
    limit: bounded(limit),
    lanes: lanes.map((lane) => ({ ...lane, maxRunning: bounded(lane.maxRunning) })),
    ...(decision === undefined ? {} : { decision: decisionJson(decision) }),
    diagnosis: pool.diagnosis(),
  });
}

/** A decision as shown: what is unbounded is `null`. */
export function decisionJson(decision: Decision): DecisionJson {
  return {
    ...decision,
    proposals: decision.proposals.map((part) => ({ ...part, workers: bounded(part.workers) })),
  };
}

function onPool<T>(
  context: AdminContext,
  name: string,
  run: (target: Target) => T,
): T | ReturnType<typeof noPool> {
  const target = context.target(name);
  return target === undefined ? noPool(context.sluice, name) : run(target);
}

async function setPaused(
  c: Context,
  target: Target,
  context: AdminContext,
  paused: boolean,
): Promise<Response> {
  const refusal = ended(target.handle);
  if (refusal !== undefined) return refusal;
  const body = await readShape(c, pauseShape, context.body.reads);
  if (!body.ok) return body.refusal;
  const { lane } = body.value;
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

/** Refuses what would change nothing any more. `undefined`: the pool runs. */
function ended(handle: PoolHandle): ReturnType<typeof problem<409>> | undefined {
  const { draining, stopped } = handle.snapshot();
  if (!draining) return undefined;
  const how = stopped ? "has stopped" : "is draining";
  return problem(409, `Pool "${handle.name}" ${how}: only a restart brings it back`);
}

function isPaused(handle: PoolHandle, lane: string | undefined): boolean | undefined {
  const { paused, lanes } = handle.snapshot();
  return lane === undefined ? paused : lanes.find(({ name }) => name === lane)?.paused;
}

async function drain(c: Context, target: Target, context: AdminContext): Promise<Response> {
  const body = await readShape(c, drainShape, context.body.reads);
  if (!body.ok) return body.refusal;
  const { deadlineMs } = body.value;
  const clamped = deadlineMs === undefined ? undefined : Math.min(LONGEST_DRAIN_MS, deadlineMs);
  const { handle } = target;
  const before = { draining: handle.snapshot().draining };
  audit(c, context, { pool: handle.name, action: "drain", before, after: { draining: true } });
  return answer(await handle.drain(clamped), 200);
}

async function override(
  c: Context,
  { handle }: Target,
  context: AdminContext,
): Promise<Response> {
  const refusal = ended(handle);
  if (refusal !== undefined) return refusal;
  const body = await readShape(c, overrideShape, context.body.reads);
  if (!body.ok) return body.refusal;
  const { expiresInMs, ...bounds } = body.value;
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

function bounded(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
