/**
 * Readings of pools by hand, for tests of metrics.
 *
 * @module
 */

import { makeView } from "../../src/testing/views.ts";
import type { PoolReading } from "../../src/telemetry/catalog.ts";
import {
  type Distribution,
  Histogram,
  type LaneCounters,
} from "../../src/planning/lane_counters.ts";

/** What a test gives of a tally: durations as they came, ms. */
export type TallyParts = Partial<Omit<LaneCounters, "waits" | "runs">> & {
  readonly waits?: readonly number[];
  readonly runs?: readonly number[];
};

/** What a snapshot says beside its view, of a pool that nothing is the matter with. */
const AT_EASE = {
  degraded: false,
  draining: false,
  worked: true,
  drain: undefined,
  stopped: false,
  paused: false,
  schedules: [],
  breakers: [],
  storeWaitMs: 0,
  storeRefusedAtMs: undefined,
  override: undefined,
  shadow: undefined,
  decision: undefined,
  scaleEvents: 0,
  reversals: 0,
  reaped: 0,
  diagnosis: [],
};

/** A tally of one lane, empty but for what is given. */
export function tally({ waits = [], runs = [], ...parts }: TallyParts): LaneCounters {
  return {
    lane: "main",
    accepted: 0,
    shed: 0,
    late: 0,
    done: 0,
    failed: 0,
    deferred: 0,
    cancelled: 0,
    dead: { attempts: 0, fatal: 0, expired: 0, late: 0, payload: 0 },
    ...parts,
    waits: distribution(waits),
    blockedWaits: undefined,
    runs: distribution(runs),
  };
}

/** A reading of one pool with lanes of these tallies. */
export function reading(pool: string, ...lanes: readonly LaneCounters[]): PoolReading {
  return {
    jobs: { ready: 0, blocked: 0, delayed: 0, running: 0, done: 0, dead: 0 },
    ...makeView({ pool, lanes: lanes.map(({ lane }) => ({ name: lane })) }),
    ...AT_EASE,
    tally: lanes,
  };
}

function distribution(durations: readonly number[]): Distribution {
  const histogram = new Histogram();
  for (const ms of durations) histogram.add(ms);
  return histogram.read();
}
