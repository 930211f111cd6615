/**
 * The configs that the processes of a schedule start with and move among. What the invariants are
 * about is the same in all.
 *
 * @module
 */

import type { ConfigInput } from "../../src/config/input.ts";
import type { HandlerFunction } from "../../src/config/slot_input.ts";
import type { Plugin } from "../../src/contract/plugin.ts";

/** Most workers of one process. */
export const CAP = 5;
/** Most workers of all processes together. */
export const CLUSTER_CAP = 9;
/** Most starts a second of all processes together. */
export const STARTS_PER_SEC = 40;
/** Most starts of lane `low` a second of all processes together. */
export const LOW_PER_SEC = 6;
/** Most starts within this time, over restarts too: a ledger holds them. */
export const LONG_STARTS = 50;
export const LONG_MS = 20_000;
/** Most jobs of one key that run at once in lane `high`. */
export const PER_KEY = 2;
/** Most jobs of lane `low` that run at once in one process. */
export const LOW_RUNNING = 3;
/** Least `leaseMs` of all configs. */
export const LEASE_MS = 3000;
/** `timeoutMs` of all configs. */
export const TIMEOUT_MS = 5000;
/** `drainMs` of all configs. */
export const DRAIN_MS = 7000;
/** Longest `tickMs`. */
export const TICK_MS = 100;
/** Workers that no other lane than `high` may use, at most. */
export const RESERVE = 1;

/** How many configs there are. */
export const CONFIGS = 6;

/** What a config of a process is made with. */
export interface ConfigParts {
  readonly run: HandlerFunction;
  readonly store: Plugin<"store">;
  /** What holds over all processes is a named downstream's, of which a job needs two: else it is caps of the pool. */
  readonly isNamed: boolean;
}

/** A config of a process. The first has all lanes. */
export function configOf(index: number, { run, store, isNamed }: ConfigParts): ConfigInput {
  const backoff = { baseMs: 50, maxMs: 400, jitter: 0.5 };
  const high = { name: "high", maxRunningPerKey: PER_KEY, attempts: 2, backoff };
  const low = { name: "low", maxRunning: LOW_RUNNING, attempts: 3, backoff };
  const extra = { name: "extra", attempts: 2, backoff };
  const own = { use: "fixed-cap", with: { workers: CAP } } as const;
  const lowRate = { calls: LOW_PER_SEC, perMs: 1000, lane: "low" };
  const longRate = { calls: LONG_STARTS, perMs: LONG_MS, burst: 30 };
  const ownRates = {
    use: "api-rate-cap",
    with: { rates: [lowRate, longRate], headroom: 0 },
  } as const;
  const caps = isNamed ? [own, ownRates] : [
    own,
    ownRates,
    { use: "fixed-cap", with: { workers: CLUSTER_CAP }, scope: "cluster" },
    { use: "api-rate-cap", with: { callsPerSec: STARTS_PER_SEC, headroom: 0 } },
  ] as const;
  const keep = { done: 100_000, dead: 100_000 };
  const base = {
    handler: run,
    caps,
    uses: isNamed ? { shared: 2 } : {},
    keep,
    size: { min: 1, max: 6 },
    leaseMs: LEASE_MS,
    timeoutMs: TIMEOUT_MS,
    drainMs: DRAIN_MS,
    tickMs: TICK_MS,
  };
  const reserved = { use: "reserved-lane", with: { reserve: { high: RESERVE } } };
  const pools = [
    { ...base, lanes: [high, low, extra], lanePolicy: reserved },
    { ...base, lanes: [{ ...low, maxRunning: 2 }, high], lanePolicy: "strict-priority" },
    { ...base, lanes: [high, { ...extra, weight: 3 }, low], tickMs: 50, lanePolicy: "fifo" },
    { ...base, lanes: [high, low], controller: "littles-law", leaseMs: LEASE_MS * 1.5 },
    {
      ...base,
      lanes: [extra, high, low],
      lanePolicy: "strict-priority",
      size: { min: 3, max: 3 },
      controller: { use: "fixed", with: { workers: 3 } },
      caps: [...caps, { use: "fixed-cap", with: { workers: 4 } }],
    },
    {
      ...base,
      lanes: [extra, low, high],
      lanePolicy: "strict-priority",
      size: { min: 0, max: 2 },
      admission: "admit-all",
      retirement: "idle-only",
    },
  ] as const;
  const rates = [{ calls: 2 * STARTS_PER_SEC, perMs: 1000 }];
  const downstreams = { shared: { connections: 2 * CLUSTER_CAP, rates } };
  return { store, downstreams, pools: { p: pools[index]! } } as ConfigInput; // callers stay below CONFIGS
}
