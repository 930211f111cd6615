/**
 * Says in sentences what became of a pool.
 *
 * @module
 */

import { counted, duration } from "../../base/format.ts";
import type { LaneReport, LaneSeries, PoolReport } from "../report.ts";
import { short } from "./words.ts";

/** What became of one lane. */
export interface LaneVerdict {
  /** `late`: over its target at some time. `open`: it has no target, or no jobs. */
  readonly kind: "met" | "late" | "open";
  /** The same as a word. */
  readonly word: string;
  /** It in a sentence. */
  readonly sentence: string;
}

/** What became of each lane, in config order. */
export function verdictsOf(pool: PoolReport): readonly LaneVerdict[] {
  return Object.entries(pool.lanes).map(([name, lane]) =>
    verdictOn(name, lane, pool.series.lanes[name]!, pool.series.bucketMs) // it has all lanes
  );
}

/** How many workers there were, and how often that changed. */
export function workersSentence({ workers, series, scaleEvents, reversals }: PoolReport): string {
  const { min, peak, final, mean, workerSeconds } = workers;
  const limits = new Set(series.limit.filter((limit) => limit !== null));
  const limit = limits.size === 1 ? `, at most ${short([...limits][0] ?? 0)} allowed` : "";
  return `${min} to ${counted(peak, "worker")}${limit}, ${
    short(mean)
  } on average, ${final} at the end; ` +
    `${short(workerSeconds)} worker-seconds; ${counted(short(scaleEvents), "scale event")}, ` +
    `${counted(short(reversals), "reversal")}.`;
}

function verdictOn(
  name: string,
  lane: LaneReport,
  { targetWaitMs, ageMs }: LaneSeries,
  bucketMs: number,
): LaneVerdict {
  const { arrived, done, shed, dead, left, waitMs } = lane;
  if (arrived === 0) return { kind: "open", word: "–", sentence: `${name}: no job arrived.` };
  const others = [[shed, "shed"], [dead, "dead"], [left, "left at the end"]] as const;
  const fates = [
    `${short(done)} of ${counted(short(arrived), "job")} done`,
    ...others.filter(([count]) => count > 0).map(([count, what]) => `${short(count)} ${what}`),
  ].join(", ");
  const waits = waitMs === null
    ? "none started"
    : `waits p50 ${duration(waitMs.p50)}, p99 ${duration(waitMs.p99)}, longest ${
      duration(waitMs.max)
    }`;
  if (targetWaitMs === null) {
    return { kind: "open", word: "–", sentence: `${name}: no target; ${waits}; ${fates}.` };
  }
  const target = `target ${duration(targetWaitMs)}`;
  const late = ageMs.filter((ms) => ms !== null && ms > targetWaitMs).length;
  if (late === 0) {
    return { kind: "met", word: "✓ met", sentence: `${name}: ${target}; ${waits}; ${fates}.` };
  }
  const when = `in ${late} of ${ageMs.length} stretches of ${duration(bucketMs)}`;
  const sentence = `${name}: over its ${target} ${when}; ${waits}; ${fates}.`;
  return { kind: "late", word: "✗ late", sentence };
}
