/**
 * What is done to jobs from outside: cancel, revive, remove.
 *
 * @module
 */

import type { Change, Changed } from "../../../src/store.ts";
import type { Owner } from "./careful.ts";
import { changeLine } from "./codec.ts";
import type { QueueContext } from "./context.ts";
import { withoutJobs } from "./done.ts";
import { createdIn } from "./id.ts";
import { delayOf, type StoredJob } from "./job.ts";
import type { Space } from "./keys.ts";
import { type Found, locate, type Running, type Waiting } from "./locate.ts";
import { jobsIn } from "./promote.ts";
import { Step } from "./step.ts";
import { markOf, type Marks } from "./term.ts";

/** How often others may be quicker in a row. */
const MOST_TRIES = 50;

/** Most running jobs of a process that are to be cancelled at once. */
const MOST_MARKS = 1000;

/** Changes one job. `undefined` from an attempt: someone else was quicker. */
export async function changeJob(
  context: QueueContext,
  id: string,
  change: Change,
  nowMs: number,
): Promise<Changed> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const found = await locate(context, id);
    if (found === undefined) return { ok: false, state: undefined };
    const changed = await attempt(context, found, change, nowMs);
    if (changed !== undefined) return changed;
    await context.db.pause(tries);
  }
  throw new Error(`Job ${id} could not be changed: others change it all the time`);
}

/** Ends a job that waits. False: someone else has changed it. */
export async function endWaiting(
  context: QueueContext,
  found: Waiting,
  why: "expired" | "cancelled",
  nowMs: number,
): Promise<boolean> {
  const { entry, job, kind } = found;
  const step = new Step(context, nowMs);
  step.check(entry);
  step.delete(entry.key);
  const others = jobsIn(context.keys.placeIn(entry.key), entry.value)
    .filter(({ index }) => index !== job.index);
  if (kind !== "q") step.putPart(kind, others); // a job that waits for a place is alone
  step.count(job.ordinal, kind, -1);
  if (kind === "q") await step.places.leave(job);
  else await step.places.release(step, job);
  const common = { attempt: job.line[0], startedAtMs: job.line[3]?.s };
  step.end(
    job,
    why === "expired"
      ? { ...common, state: "dead", reason: "expired", told: false }
      : { ...common, state: "cancelled", told: true },
  );
  step.signals = true;
  return await step.commit();
}

async function attempt(
  context: QueueContext,
  found: Waiting | Running | Found,
  change: Change,
  nowMs: number,
): Promise<Changed | undefined> {
  if (!("ended" in found)) {
    if (change !== "cancel") return { ok: false, state: stateOf(found.kind) };
    if (found.kind === "l") return await mark(context, found, nowMs);
    const done = await endWaiting(context, found, "cancelled", nowMs);
    return done ? { ok: true, state: "cancelled" } : undefined;
  }
  const state = found.ended.row[1];
  if (change === "cancel") return { ok: false, state };
  if (change === "remove") return await remove(context, found, nowMs);
  return state === "dead" ? await revive(context, found, nowMs) : { ok: false, state };
}

/** State of a job that has not ended. */
export function stateOf(kind: Space | "l"): "ready" | "delayed" | "running" {
  return kind === "l" ? "running" : kind === "z" ? "delayed" : "ready";
}

/** Asks the holder of a running job to cancel it. It holds whoever ends it, unless that is as done. */
async function mark(
  context: QueueContext,
  { entry, progress, place, job }: Running,
  nowMs: number,
): Promise<Changed | undefined> {
  const { db, keys } = context;
  const marks = await db.get<Marks>(keys.of("y", place.worker));
  const before = marks.value ?? [];
  const name = markOf(job.segment, job.index);
  if (before.some(([segment, index]) => markOf(segment, index) === name)) {
    return { ok: true, state: "running" };
  }
  if (before.length >= MOST_MARKS) {
    throw new RangeError(
      `Expected at most ${MOST_MARKS} running jobs of a process to be cancelled at once: retry later`,
    );
  }
  const step = new Step(context, nowMs);
  step.check(entry);
  step.check(progress);
  step.check(marks);
  step.set(marks.key, [...before, [job.segment, job.index]], 40 * (before.length + 1));
  step.signals = true;
  return await step.commit() ? { ok: true, state: "running" } : undefined;
}

async function revive(
  context: QueueContext,
  { entry, ended }: Found,
  nowMs: number,
): Promise<Changed | undefined> {
  const { db, keys, fates } = context;
  const [id, state, , startedAtMs, , dueMs, line] = ended.row;
  const { segment, ordinal, index } = ended.id;
  const step = new Step(context, nowMs);
  const dead: StoredJob = { ordinal, segment, index, dueMs, line, text: "" };
  const expiresAtMs = line[3]?.x === undefined
    ? undefined
    : line[3].x + Math.max(0, nowMs - createdIn(segment));
  const alive = changeLine(line, { attempts: -line[0], leases: 1 }, {
    o: delayOf(dead),
    h: undefined,
    x: expiresAtMs,
    s: startedAtMs ?? undefined,
  });
  const dedupeKey = line[3]?.d;
  if (dedupeKey !== undefined) {
    const owner = await db.get<Owner>(keys.of("i", dedupeKey));
    if (owner.value !== null) return { ok: false, state };
    step.check(owner);
    step.set(owner.key, [id, expiresAtMs ?? 0]);
  }
  step.check(entry);
  step.delete(entry.key);
  step.keep("x", -1);
  const job = { ...dead, line: alive, text: JSON.stringify(alive) };
  await step.places.enter(step, job, step.atMs);
  step.signals = true;
  if (!await step.commit()) return undefined;
  fates.revived(id);
  return { ok: true, state: "ready" };
}

async function remove(
  context: QueueContext,
  { kind, entry, ended }: Found,
  nowMs: number,
): Promise<Changed | undefined> {
  const { keys } = context;
  const { segment, index } = ended.id;
  const step = new Step(context, nowMs);
  step.check(entry);
  const left = kind === "x" ? undefined : withoutJobs(entry, ({ row }) => row[0] === ended.row[0]);
  if (left === undefined) step.delete(entry.key);
  else step.setBytes(entry.key, left);
  step.keep(kind, -1);
  if (kind === "x") step.delete(keys.of("m", segment, index));
  step.forget({ segment, index, line: ended.row[6] });
  return await step.commit() ? { ok: true, state: "removed" } : undefined;
}
