/**
 * What must hold between two steps: of every pool's own figures, and of the store's counts against
 * its records.
 *
 * @module
 */

import type { JobRecord } from "../../src/contract/job.ts";
import type { PoolSnapshot } from "../../src/runtime/handles.ts";
import { CAP, CLUSTER_CAP, LOW_RUNNING, PER_KEY, RESERVE, TICK_MS } from "./config.ts";
import type { Referee } from "./referee.ts";
import type { Seat } from "./seat.ts";

/** Holds all that can be seen to the rules; breaches go to the referee. */
export function inspect(referee: Referee): void {
  for (const seat of referee.seats) if (seat.awake) inspectSeat(seat);
  const awake = referee.seats.find((seat) => seat.awake);
  if (awake !== undefined) inspectStore(referee, awake);
  if (!referee.calm) return;
  const pools = referee.seats.filter((seat) => seat.awake && !seat.draining)
    .map(({ pool }) => pool.snapshot());
  for (const figure of ["target", "limit"] as const) {
    const sum = pools.reduce((sum, pool) => sum + pool[figure], 0);
    if (figure === "target" && sum > CLUSTER_CAP) referee.breach(`the targets add up to ${sum}`);
    if (figure === "limit" && sum > CLUSTER_CAP) referee.breach(`the limits add up to ${sum}`);
  }
}

function inspectSeat(seat: Seat): void {
  const { pool, healthy } = seat;
  const snapshot = pool.snapshot();
  const { workers, live, idle, busy, lanes, target, size, limit, decision, draining } = snapshot;
  const expect = (holds: boolean, what: string): void => {
    if (!holds) seat.referee.breach(`${seat.name}: ${what}`);
  };
  expect(workers.length <= CAP, `${workers.length} workers over the cap of ${CAP}`);
  expect(live === idle + busy, `${live} live, ${idle} idle, ${busy} busy`);
  for (const { name, running, ready, blocked, delayed } of lanes) {
    expect(name !== "low" || running <= LOW_RUNNING, `${running} run in low`);
    expect(ready >= 0 && blocked >= 0 && delayed >= 0, `a count of ${name} is below 0`);
  }
  const running = lanes.reduce((sum, lane) => sum + lane.running, 0);
  const runs = [...seat.runs].filter(({ givenUp }) => !givenUp).length;
  // While a start rate holds jobs back, some may be leased and wait for their start.
  const isExact = healthy && !snapshot.rateBound;
  expect(isExact ? running === runs : running >= runs, `${running} run, but handlers ${runs}`);
  const stuck = workers.filter(({ state }) => state === "stuck").length;
  expect(runs + stuck === seat.runs.size, `${stuck} stuck, but ${seat.runs.size - runs} handlers`);
  if (decision === undefined || draining || !healthy) return;
  expect(target === seat.target, `the target of ${target} was not recorded`);
  expect(target <= size.max && target <= limit, `the target of ${target} is out of bounds`);
  const keepsBusy = pool.settings.retirement.name === "idle-only";
  expect(
    live <= size.max || (keepsBusy && idle === 0),
    `${live} live workers over size.max of ${size.max}`,
  );
  const starting = workers.filter(({ state }) => state === "starting").length;
  expect(isManned(seat, snapshot, live + starting + stuck), `${live} workers are too few`);
  expect(!isIdling(seat, snapshot), "jobs are ready, workers are idle, and nothing happens");
}

/** Below its minimum a pool is for two ticks at most. */
function isManned(seat: Seat, { nowMs, size, limit }: PoolSnapshot, staying: number): boolean {
  if (staying >= Math.min(size.min, limit)) seat.lackingSinceMs = undefined;
  else seat.lackingSinceMs ??= nowMs;
  return nowMs - (seat.lackingSinceMs ?? nowMs) <= 2 * TICK_MS;
}

/**
 * Jobs are ready, workers may take them, and none does. Where clocks differ, one process may find a
 * job due before another does, which sees it at its next tick.
 */
function isIdling(seat: Seat, { nowMs, lanes, idle, rateBound, stale }: PoolSnapshot): boolean {
  const idles = !rateBound && !stale &&
    lanes.some(({ name, ready, running, maxRunning, paused }) =>
      ready > 0 && !paused && running < maxRunning && idle > (name === "high" ? 0 : RESERVE)
    );
  if (idles) seat.idlingSinceMs ??= nowMs;
  else seat.idlingSinceMs = undefined;
  const { offsetMs } = seat.clock;
  const isSkewed = seat.referee.seats.some((other) =>
    !other.clock.dead && !other.left && other.clock.offsetMs !== offsetMs
  );
  return idles && nowMs - seat.idlingSinceMs! > (isSkewed ? 2 * TICK_MS : -1); // set if it idles
}

/** Counts against records, and records against what the referee has heard. */
function inspectStore(referee: Referee, { queue, clock, pool }: Seat): void {
  const expect = (holds: boolean, what: string): void => {
    if (!holds) referee.breach(what);
  };
  const counts = queue!.count(clock.nowMs()); // who is awake has joined
  const { jobs } = queue!.list({ limit: Infinity });
  const records = new Map(jobs.map((job) => [job.id, job]));
  for (const [id, known] of referee.jobs) {
    const record = records.get(id);
    if (record === undefined) {
      expect(known.removed, `${id} is lost`);
      continue;
    }
    const isEnded = record.endedAtMs !== undefined;
    expect(isEnded === (known.ended !== undefined), `${id} is ${record.state}: ${known.ended}`);
    const { lease } = known;
    if (record.state === "running") expect(lease !== undefined, `${id} runs without a lease`);
    else if (lease !== undefined) {
      const { seat, fence } = lease;
      const isLost = referee.mayHaveLost(seat) || fence <= seat.lostFence;
      expect(isLost, `${id} is ${record.state} while ${seat.name} holds it`);
    }
  }
  expect(records.size <= referee.jobs.size, "the store has jobs that nobody added");
  pool.settings.lanes.forEach(({ name }, index) => {
    const own = jobs.filter(({ lane }) => lane === name);
    const expected = countsOf(own, name === "high" ? PER_KEY : Infinity);
    const { ready, blocked, delayed, running } = counts[index]!;
    const counted = JSON.stringify({ ready, blocked, delayed, running });
    expect(counted === JSON.stringify(expected), `${name}: ${counted}, but ${text(expected)}`);
  });
  const owners = jobs.filter((job) => job.endedAtMs === undefined && job.dedupeKey !== undefined);
  const keys = new Set(owners.map(({ dedupeKey }) => dedupeKey));
  expect(keys.size === owners.length, "two jobs of one dedupeKey have not ended");
}

interface Counts {
  readonly ready: number;
  readonly blocked: number;
  readonly delayed: number;
  readonly running: number;
}

function text({ ready, blocked, delayed, running }: Counts): string {
  return `${ready} ready, ${blocked} blocked, ${delayed} delayed, ${running} running on record`;
}

function countsOf(jobs: readonly JobRecord[], perKey: number): Counts {
  const due = jobs.filter(({ state }) => state === "ready" || state === "blocked");
  const running = jobs.filter(({ state }) => state === "running");
  let blocked = 0;
  for (const [key, own] of Map.groupBy(due, (job) => job.key)) {
    if (key === undefined) continue;
    const held = running.filter((job) => job.key === key).length;
    blocked += Math.max(0, own.length - Math.max(0, perKey - held));
  }
  const delayed = jobs.filter(({ state }) => state === "delayed").length;
  return { ready: due.length - blocked, blocked, delayed, running: running.length };
}
