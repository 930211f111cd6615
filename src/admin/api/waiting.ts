/**
 * Says why a job waits, by a look at the jobs beside it.
 *
 * @module
 */

import { isWaiting } from "../../base/states.ts";
import type { JobRecord } from "../../contract/job.ts";
import type { PoolHandle } from "../../runtime/handles.ts";
import type { JobQuery } from "../../contract/store.ts";
import { type Beside, type Waiting, waitingOf } from "../../explain/waiting.ts";
import type { FoundJob } from "./jobs.ts";

/** Most jobs that are looked at to find the place of one. */
const MOST_LOOKED_AT = 5_000;

/** Jobs that are read at once. */
const PAGE = 500;

/** Says why a job waits. `undefined`: it does not. */
export async function lookAtWaiting({ job, handle }: FoundJob): Promise<Waiting | undefined> {
  if (!isWaiting(job.state)) return undefined;
  const beside = await besideOf(job, handle);
  const snapshot = handle.snapshot();
  return waitingOf(job, { ...snapshot, boundBy: snapshot.decision?.boundBy }, beside);
}

async function besideOf(job: JobRecord, handle: PoolHandle): Promise<Beside> {
  const { lanes, handlers, lanePolicy } = handle.settings;
  const { maxRunningPerKey = Infinity, ratesPerKey = [] } =
    lanes.find(({ name }) => name === job.lane) ?? {};
  const running = new Map<string, number>();
  if (Number.isFinite(maxRunningPerKey)) {
    for await (const { key } of jobsOf(handle, { state: "running", lane: job.lane, limit: PAGE })) {
      if (key !== undefined) running.set(key, (running.get(key) ?? 0) + 1);
    }
  }
  const isHeld = (key: string | undefined): boolean =>
    key !== undefined && (running.get(key) ?? 0) >= maxRunningPerKey;
  const common = {
    runningOfKey: job.key === undefined ? 0 : running.get(job.key) ?? 0,
    maxRunningPerKey,
    ratesPerKey,
    hasHandler: handlers.has(job.type),
    lanePolicy: lanePolicy.name,
  };
  if (job.state === "blocked") return { ...common, ahead: 0, atLeast: false };
  // Jobs are listed in the order in which they were added. One that was never delayed has all that
  // were claimable before it there before itself.
  const wasDelayed = job.dueAtMs > job.createdAtMs;
  let ahead = 0;
  let looked = 0;
  let isPassed = false;
  for await (const other of jobsOf(handle, { state: "ready", lane: job.lane, limit: PAGE })) {
    looked++;
    if (other.id === job.id) isPassed = true;
    else if (isEarlier(other, job, isPassed) && !isHeld(other.key)) ahead++;
    if (isPassed && !wasDelayed) break;
  }
  return {
    ...common,
    ahead,
    atLeast: looked >= MOST_LOOKED_AT && (wasDelayed || !isPassed),
  };
}

function isEarlier(other: JobRecord, job: JobRecord, isPassed: boolean): boolean {
  return other.dueAtMs < job.dueAtMs || (other.dueAtMs === job.dueAtMs && !isPassed);
}

/** Jobs in the order in which they were added, as far as is looked. */
async function* jobsOf(handle: PoolHandle, query: JobQuery): AsyncIterable<JobRecord> {
  let cursor: string | undefined;
  for (let looked = 0; looked < MOST_LOOKED_AT; looked += PAGE) {
    const page = await handle.list({ ...query, cursor });
    yield* page.jobs;
    cursor = page.cursor;
    if (cursor === undefined) return;
  }
}
