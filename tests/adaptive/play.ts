/**
 * Plays a drawn scenario with `adaptive-cap`, without it, or with its listening half alone.
 *
 * @module
 */

import { shedAtCap } from "../../plugins/admission/shed_at_cap.ts";
import { defineAdmission } from "../../src/contract/plugin.ts";
import type { Admission } from "../../src/contract/strategy.ts";
import type { PoolInput } from "../../src/config/input.ts";
import { type PoolReport, simulate } from "../../src/simulate/mod.ts";
import { make } from "../plugins/_make.ts";
import { type Draw, LATE_MS, SPAN_MS } from "./draw.ts";

/** Whether `adaptive-cap` is there. */
export type Way = "off" | "on" | "listens";

/** What a run came to. */
export interface Run {
  /** Jobs done. */
  readonly done: number;
  /** Share of those that arrived which were rejected, or started after the target. */
  readonly late: number;
  /** Changes of the target a minute, all processes together. */
  readonly changes: number;
  /** Jobs done a second between two times, ms. */
  readonly perSec: (fromMs: number, untilMs: number) => number;
  /** Workers between two times, ms, on average. */
  readonly workers: (fromMs: number, untilMs: number) => number;
}

const PARTS: Readonly<Record<Way, Partial<PoolInput>>> = {
  off: { adaptive: false },
  on: {},
  listens: { caps: [{ use: "adaptive-cap", with: { probe: false } }] },
};

/** Plays it. @param spanMs How much of it, ms. */
export async function play(draw: Draw, way: Way, seed: number, spanMs = SPAN_MS): Promise<Run> {
  const { size, targetWaitMs, peers, storeMs, lanes, faults } = draw;
  let started = 0;
  const counting = defineAdmission({
    name: "counting",
    create: () => {
      const own: Admission = make(shedAtCap, {});
      return {
        submit: (lane, view) => own.submit(lane, view),
        take: (lane, ageMs, view) => {
          if (ageMs > targetWaitMs + 0.001) started++;
          return own.take?.(lane, ageMs, view) ?? true;
        },
      };
    },
  });
  const names = Object.keys(lanes);
  const pool: PoolInput = {
    handler: "http",
    size,
    lanes: names.map((name) => ({ name, targetWaitMs })),
    admission: counting,
    timeoutMs: 600_000,
    ...PARTS[way],
  };
  const { pools } = await simulate({ pools: { pool } }, {
    durationMs: spanMs,
    timerLateMs: { kind: "exponential", ms: LATE_MS },
    ...{ peers, storeMs, faults },
    pools: { pool: { lanes } },
  }, { seed });
  const report = pools["pool"]!;
  const sum = (count: "done" | "shed" | "arrived"): number =>
    names.reduce((total, name) => total + report.lanes[name]![count], 0);
  return {
    done: sum("done"),
    late: (started + sum("shed")) / sum("arrived"),
    changes: report.scaleEvents * 60_000 / spanMs,
    perSec: (fromMs, untilMs) => perSec(report, fromMs, untilMs),
    workers: (fromMs, untilMs) => workers(report, fromMs, untilMs),
  };
}

function perSec({ series }: PoolReport, fromMs: number, untilMs: number): number {
  const { bucketMs } = series;
  const [from, until] = [Math.round(fromMs / bucketMs), Math.round(untilMs / bucketMs)];
  let done = 0;
  for (const lane of Object.values(series.lanes)) {
    for (const count of lane.done.slice(from, until)) done += count;
  }
  return done * 1000 / (bucketMs * (until - from));
}

function workers({ workers: { timeline } }: PoolReport, fromMs: number, untilMs: number): number {
  let workerMs = 0;
  timeline.forEach(([atMs, count], index) => {
    const endMs = Math.min(untilMs, timeline[index + 1]?.[0] ?? Infinity);
    workerMs += count * Math.max(0, endMs - Math.max(atMs, fromMs));
  });
  return workerMs / (untilMs - fromMs);
}
