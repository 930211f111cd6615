/**
 * What the routes share.
 *
 * @module
 */

import type { Logger } from "../../contract/job.ts";
import type { Show } from "../../config/redaction.ts";
import type { PoolHandle, Sluice } from "../../runtime/handles.ts";
import type { Clock } from "../../time/clock.ts";
import type { Context } from "hono";
import { suggestion } from "../../base/suggest.ts";
import type { Actor } from "../access/actor.ts";
import type { ReadOptions } from "../http/body.ts";
import type { EventFeed } from "./event_feed.ts";
import type { EventTrail } from "./event_trail.ts";
import type { Failures } from "./failures.ts";
import type { LatestFailures } from "./latest_failure.ts";
import type { ListLimit } from "./list_limit.ts";
import type { Operations } from "./operations.ts";
import { problem } from "../http/problem.ts";
import { type Takes, takesOf } from "./submitted.ts";

/** A pool with what is asked of it for every request. */
export interface Target {
  /** The pool. */
  readonly handle: PoolHandle;
  /** What it takes. */
  readonly takes: Takes;
}

/** What the routes share. */
export interface AdminContext {
  /** The running config. */
  readonly sluice: Sluice;
  /** Copies a value for display. */
  readonly show: Show;
  /** Gets what clients are not told. */
  readonly log: Logger;
  /** How bodies are read. */
  readonly body: ReadOptions;
  /** Longest job, bytes of JSON. */
  readonly maxJobBytes: number;
  /** Aborts when the server stops: no request is held from then on. */
  readonly signal: AbortSignal;
  /** Time of streams, sessions and limits. */
  readonly clock: Clock;
  /** Tells who makes a request. `undefined`: nobody who may. */
  readonly identify: (c: Context) => Actor | undefined;
  /** Streams events. */
  readonly feed: EventFeed;
  /** Keeps what happened. */
  readonly trail: EventTrail;
  /** Groups dead jobs by their errors. */
  readonly failures: Failures;
  /** Knows what failed last in each pool. */
  readonly latestFailures: LatestFailures;
  /** Reads lists of jobs, a few at once. */
  readonly lists: ListLimit;
  /** Runs bulk work. */
  readonly operations: Operations;
  /** Finds a pool by name. */
  target(name: string): Target | undefined;
}

/** Makes the function that finds pools by name. */
export function targets(sluice: Sluice): (name: string) => Target | undefined {
  const known = new Map<string, Target>();
  let pools = sluice.pools;
  return (name) => {
    if (pools !== sluice.pools) { // a reload has changed what they are, or what they take
      pools = sluice.pools;
      known.clear();
    }
    const found = known.get(name);
    if (found !== undefined) return found;
    const handle = sluice.pools.find((pool) => pool.name === name);
    if (handle === undefined) return undefined;
    const target = { handle, takes: takesOf(handle.settings) };
    known.set(name, target);
    return target;
  };
}

/** Answers 404 for a pool, with what there is. */
export function noPool(sluice: Sluice, name: string): ReturnType<typeof problem<404>> {
  const pools = sluice.pools.map((pool) => pool.name);
  const shown = JSON.stringify(name.slice(0, 100));
  return problem(404, `No pool is named ${shown}${suggestion(name, pools)}`, { pools });
}
