// A report made by hand: three seconds of one pool with two lanes.

import type { Decision } from "../../../src/contract/decision.ts";
import type { LaneReport, LaneSeries, PoolReport, Report } from "../../../src/simulate/mod.ts";

/** A decision, and no more of it than pictures read. */
export function decision(atMs: number, from: number, to: number): Decision {
  const sentence = `${
    to > from ? "Grew" : "Shrank"
  } from ${from} to ${to}: <age-scaler> wants ${to}`;
  const inputs = {
    ...{ ready: 0, blocked: 0, oldestWaitMs: 0, busy: 0 },
    ...{ live: from, starting: 0, retiring: 0, stuck: 0 },
  };
  return {
    ...{ atMs, untilMs: atMs, from, to, inputs, sentence },
    ...{ proposals: [], boundBy: "controller", retire: [] },
  };
}

/** What one lane came to. */
export function lane(parts: Partial<LaneReport> = {}): LaneReport {
  const quantiles = { p50: 1, p95: 5, p99: 12, max: 30 };
  return {
    ...{ arrived: 60, started: 60, done: 60, dead: 0, shed: 0, left: 0, perSec: 20 },
    ...{ waitMs: quantiles, sojournMs: quantiles },
    ...parts,
  };
}

/** What was seen of one lane. */
export function seen(parts: Partial<LaneSeries> = {}): LaneSeries {
  const none = [0, 0, 0];
  return {
    ...{ targetWaitMs: 50, arrived: [20, 20, 20], done: [20, 20, 20] },
    ...{ dead: none, shed: none, ageMs: [5, 30, 5] },
    ...parts,
  };
}

/** What one pool came to. */
export function pool(parts: Partial<PoolReport> = {}): PoolReport {
  return {
    lanes: { urgent: lane(), batch: lane({ done: 50, shed: 7, left: 3 }) },
    workers: {
      ...{ min: 2, peak: 6, final: 2, mean: 3.4, workerSeconds: 10.2 },
      timeline: [[0, 2], [1000, 6], [2500, 2]],
    },
    scaleEvents: 2,
    reversals: 1,
    decisions: [decision(1000, 2, 4), decision(1100, 4, 6), decision(2500, 6, 2)],
    diagnosis: [],
    series: {
      ...{ bucketMs: 1000, untilMs: 3000, min: [2, 2, 2], limit: [8, 8, 8] },
      lanes: {
        urgent: seen(),
        batch: seen({ ageMs: [10, 80, 10], shed: [0, 7, 0] }),
      },
    },
    ...parts,
  };
}

/** A report on it. */
export function report(parts: Partial<PoolReport> = {}): Report {
  return { seed: 1, durationMs: 3000, pools: { mail: pool(parts) } };
}
