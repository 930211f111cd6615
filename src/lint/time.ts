/**
 * Run times against time limits, leases, drains and the kill time of the platform.
 *
 * @module
 */

import { type Concern, concern, figure, ofHundred, span } from "./concern.ts";
import type { LaneFacts, PoolFacts } from "./facts.ts";

/** Where a config is to run: how long it may take to end after the signal, ms. */
export const PLATFORMS = {
  deploy: 5_000,
  docker: 10_000,
  kubernetes: 30_000,
  systemd: 90_000,
} as const;

/** A platform whose kill time is known. */
export type Platform = keyof typeof PLATFORMS;

/** More than one run in this many cut short is worth a word. */
const CUT_SHARE = 0.05;

/** What is left of a kill time to hand jobs back and close. */
const KILL_ROOM_MS = 500;

/** Below this a pause of the event loop loses the lease: it is renewed every third of it. */
const LEAST_LEASE_MS = 1000;

/** What the checks of time know besides the pool. */
export interface TimeContext {
  /** Where it is to run. `undefined`: not said. */
  readonly platform: Platform | undefined;
  /** True if jobs outlive the process. */
  readonly durable: boolean;
}

/** Time limits at odds with how long jobs run. */
export function lintTime(pool: PoolFacts, { platform, durable }: TimeContext): readonly Concern[] {
  return [
    ...pool.lanes.flatMap((lane) => [
      ...deadline(lane),
      ...timeout(pool, lane),
      ...(durable ? lease(pool, lane) : []),
      ...drain(pool, lane),
    ]),
    ...(durable ? leaseShort(pool) : []),
    ...kill(pool, platform),
  ];
}

function deadline({ settings: { name, deadlineMs }, serviceMs, path }: LaneFacts): Concern[] {
  if (deadlineMs === undefined || serviceMs < deadlineMs) return [];
  return [concern({
    code: "deadline-below-run",
    severity: "error",
    path: [...path, "deadlineMs"],
    message: `A job of lane "${name}" runs ${span(serviceMs)} but is of no use after ` +
      `${span(deadlineMs)}: none ends in time`,
    formula: "serviceMs >= deadlineMs",
    numbers: { serviceMs, deadlineMs },
    change: `Raise deadlineMs above ${span(serviceMs)} and what a job may wait`,
  })];
}

function timeout(
  pool: PoolFacts,
  { settings: { name, timeoutMs: own }, serviceMs, path: lane }: LaneFacts,
): Concern[] {
  const timeoutMs = own ?? pool.settings.timeoutMs;
  const path = [...(own === undefined ? pool.path : lane), "timeoutMs"];
  const cut = Math.exp(-timeoutMs / serviceMs);
  if (serviceMs === 0 || cut <= CUT_SHARE) return [];
  const numbers = { serviceMs, timeoutMs, cut };
  if (serviceMs >= timeoutMs) {
    return [concern({
      code: "timeout-below-run",
      severity: "error",
      path,
      message: `A job of lane "${name}" runs ${span(serviceMs)} but is aborted after ` +
        span(timeoutMs),
      formula: "serviceMs >= timeoutMs",
      numbers,
      change: `Raise timeoutMs to ${span(Math.ceil(3 * serviceMs))}`,
    })];
  }
  return [concern({
    code: "timeout-tight",
    severity: "warning",
    path,
    message: `${ofHundred(cut)} of lane "${name}" are aborted after ${span(timeoutMs)} if run ` +
      `times of ${span(serviceMs)} vary as at random`,
    formula: "exp(-timeoutMs / serviceMs) > 0.05",
    numbers,
    change: `Raise timeoutMs to ${span(Math.ceil(3 * serviceMs))}`,
  })];
}

function drain(pool: PoolFacts, { settings: { name }, serviceMs }: LaneFacts): Concern[] {
  const { drainMs } = pool.settings;
  const cut = Math.exp(-drainMs / serviceMs);
  if (serviceMs === 0 || cut <= CUT_SHARE) return [];
  return [concern({
    code: "drain-short",
    severity: "warning",
    path: [...pool.path, "drainMs"],
    message: `A stop waits ${span(drainMs)} for jobs of ${span(serviceMs)}: ${ofHundred(cut)} of ` +
      `lane "${name}" that run then are cut short`,
    formula: "exp(-drainMs / serviceMs) > 0.05",
    numbers: { serviceMs, drainMs, cut },
    change: `Raise drainMs to ${span(Math.ceil(3 * serviceMs))}`,
  })];
}

function lease(pool: PoolFacts, { settings, serviceMs, path }: LaneFacts): Concern[] {
  const { leaseMs } = pool.settings;
  const { name, deadlineMs } = settings;
  const found: Concern[] = [];
  if (serviceMs >= leaseMs) {
    found.push(concern({
      code: "lease-below-run",
      severity: "note",
      path: [...pool.path, "leaseMs"],
      message: `A job of lane "${name}" runs ${span(serviceMs)}, longer than its lease of ` +
        `${span(leaseMs)}: only renewals keep it, which a handler that blocks the event loop stops`,
      formula: "serviceMs >= leaseMs",
      numbers: { serviceMs, leaseMs },
      change: `Raise leaseMs above ${span(serviceMs)}, or be sure that the handler never blocks`,
    }));
  }
  if (deadlineMs !== undefined && deadlineMs < leaseMs) {
    found.push(concern({
      code: "deadline-below-lease",
      severity: "note",
      path: [...path, "deadlineMs"],
      message: `Jobs of lane "${name}" that a dead process held come back after ` +
        `${span(leaseMs)}, past their deadline of ${span(deadlineMs)}`,
      formula: "deadlineMs < leaseMs",
      numbers: { deadlineMs, leaseMs },
      change: `Lower leaseMs below ${span(deadlineMs)}, or accept that a crash makes them late`,
    }));
  }
  return found;
}

function leaseShort(pool: PoolFacts): Concern[] {
  const { leaseMs } = pool.settings;
  if (leaseMs >= LEAST_LEASE_MS) return [];
  return [concern({
    code: "lease-short",
    severity: "warning",
    path: [...pool.path, "leaseMs"],
    message:
      `A lease of ${span(leaseMs)} is renewed every ${span(leaseMs / 3)}: one pause of the ` +
      "event loop or one slow commit loses every job that runs",
    formula: `leaseMs < ${LEAST_LEASE_MS}`,
    numbers: { leaseMs },
    change: `Raise leaseMs to ${LEAST_LEASE_MS} or more`,
  })];
}

function kill(pool: PoolFacts, platform: Platform | undefined): Concern[] {
  if (platform === undefined) return [];
  const { drainMs } = pool.settings;
  const killMs = PLATFORMS[platform];
  const mostMs = killMs - KILL_ROOM_MS;
  if (drainMs <= mostMs) return [];
  return [concern({
    code: "drain-past-kill",
    severity: "warning",
    path: [...pool.path, "drainMs"],
    message: `A stop waits up to ${span(drainMs)} but ${platform} kills the process ` +
      `${span(killMs)} after its signal: jobs are not handed back and wait for their lease to end`,
    formula: `drainMs > killMs - ${KILL_ROOM_MS}`,
    numbers: { drainMs, killMs },
    change: `Lower drainMs to ${figure(mostMs)}`,
  })];
}
