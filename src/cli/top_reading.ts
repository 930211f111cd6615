/**
 * What `sluice top` asks a running system for.
 *
 * @module
 */

import type { DecisionJson } from "../admin/http/wire.ts";
import type { JobPageJson } from "../admin/http/wire_lists.ts";
import { call, type RemoteOptions } from "./client.ts";
import type { Io } from "./io.ts";
import type { TopReading } from "./top_view.ts";

/** Decisions that a screen may show: what fits. */
const SHOWN_DECISIONS = 50;

/** Jobs that a screen may show. */
const SHOWN_JOBS = 200;

/** Looks at all pools, and at the decisions of one. */
export async function readTop(
  io: Io,
  options: RemoteOptions,
  pool: string | undefined,
  signal?: AbortSignal,
): Promise<TopReading> {
  const [pools, decisions] = await Promise.all([
    call(io, options, "GET /api/pools", "list", { signal }),
    pool === undefined ? undefined : decisionsOf(io, options, pool, SHOWN_DECISIONS, signal),
  ]);
  const known = pool === undefined || decisions === undefined ? [] : [[pool, decisions] as const];
  return { pools, decisions: new Map(known) };
}

/** The latest decisions of a pool, newest first. */
export async function decisionsOf(
  io: Io,
  options: RemoteOptions,
  pool: string,
  limit: number = SHOWN_DECISIONS,
  signal?: AbortSignal,
): Promise<readonly DecisionJson[]> {
  return await call(io, options, "GET /api/pools/:pool/decisions", "list", {
    at: { pool },
    query: { limit },
    signal,
  });
}

/** Jobs of a pool: those of one state, or all. */
export async function jobsOf(
  io: Io,
  options: RemoteOptions,
  pool: string,
  state: "dead" | undefined,
  signal?: AbortSignal,
): Promise<JobPageJson> {
  return await call(io, options, "GET /api/pools/:pool/jobs", "jobs", {
    at: { pool },
    query: { state, limit: SHOWN_JOBS },
    signal,
  });
}
