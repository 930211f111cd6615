/**
 * When a pool that is behind catches up, from what comes, what goes and what waits. Pure.
 *
 * @module
 */

import { counted, duration } from "../base/format.ts";
import { figure } from "./diagnose/finding.ts";
import type { HoldCause } from "../planning/hold_times.ts";
import type { Sample } from "../planning/sample.ts";
import { lanesIn, type LaneSpan, type SampleSpan, spanOf } from "./diagnose/span.ts";

/** When a pool catches up. */
export interface CatchUp {
  /** In how long no job waits for longer than it should, ms. `null`: never as things are, or unknown. */
  readonly inMs: number | null;
  /** Jobs a second that come to the lanes that are behind, rejected ones included. `null`: not known yet. */
  readonly comePerSec: number | null;
  /** Jobs a second of them that start. `null`: not known yet. */
  readonly goPerSec: number | null;
  /** Workers that would be enough. `null`: it needs none more, or something else. */
  readonly workers: number | null;
  /** All of that in words, without a period. */
  readonly text: string;
}

/** What is asked besides the samples. */
export interface CatchUpFacts {
  /** Processes that share its jobs. */
  readonly peers: number;
  /** True while nothing is to start: it drains, or the store cannot be read. */
  readonly holds: boolean;
}

/** Over how long rates are counted, and over how long at least, ms. */
const COUNTED_MS = 30_000;
const LEAST_MS = 10_000;

/** A job of a lane without a target that has been ready for so long is behind, ms. */
const LONG_MS = 30_000;

/** Fewer jobs more or less are chance, as are twice the root of those that came. */
const FEW = 3;

/** Workers that are busy for a larger share of the time do not catch up. */
const MOST_BUSY = 0.9;

/** Says when a pool catches up. `undefined`: it is not behind. */
export function catchUpOf(
  samples: readonly Sample[],
  { peers, holds }: CatchUpFacts,
): CatchUp | undefined {
  const last = samples.at(-1);
  if (last === undefined || !last.lanes.some(isBehind)) return undefined;
  if (holds) return unknown("nothing starts at present");
  if (last.holdUntilMs > 0) return unknown("the receiver takes no jobs");
  const span = spanOf(samples, COUNTED_MS) ?? spanOf(samples, LEAST_MS);
  if (span === undefined) return unknown("too little has been seen yet");
  const lanes = lanesIn(span);
  const behind = lanes.filter(({ lane }) => isBehind(lane));
  const waiting = sum(behind, ({ lane }) => lane.ready);
  const before = sum(behind, ({ lane }) => readyIn(span.from, lane.name));
  const shed = sum(behind, (lane) => lane.shed);
  const starts = sum(behind, ({ lane }) => lane.starts - startsIn(span.from, lane.name));
  const more = waiting - before + shed;
  const perSec = 1000 / span.ms;
  const goPerSec = starts * perSec;
  const comePerSec = Math.max(0, starts + more) * perSec; // retries come again, jobs of other processes too
  const rates = { comePerSec, goPerSec };
  const chance = Math.max(FEW, 2 * Math.sqrt(starts + Math.max(0, more)));
  if (more < 0 && (-more > chance || comePerSec === 0)) {
    const inMs = waiting * span.ms / -more;
    return { ...rates, inMs, workers: null, text: `catches up in ${duration(inMs)}` };
  }
  const flow = peers > 1
    ? `${figure(Math.abs(more) * perSec)}/s more come than go`
    : `${figure(comePerSec)}/s come, ${figure(goPerSec)}/s go`;
  if (more <= chance) {
    return { ...unknown(`about as many jobs come as go, ${figure(goPerSec)}/s`), ...rates };
  }
  const workers = enoughOf(lanes, behind, span);
  const enough = workers === null
    ? ""
    : `, ${counted(workers, "worker")} would be enough${peers > 1 ? " here" : ""}`;
  return { ...rates, inMs: null, workers, text: `never catches up: ${flow}${enough}` };
}

function unknown(why: string): CatchUp {
  const text = `may or may not catch up: ${why}`;
  return { inMs: null, comePerSec: null, goPerSec: null, workers: null, text };
}

/** True if a job of the lane waits for longer than it should. */
function isBehind(lane: Sample["lanes"][number]): boolean {
  const { ready, oldestWaitMs, targetWaitMs, startWithinMs } = lane;
  return ready > 0 && oldestWaitMs > (targetWaitMs ?? Math.max(LONG_MS, startWithinMs ?? 0));
}

/** What more workers help against. */
const BY_WORKERS: readonly (HoldCause | undefined)[] = ["worker", "growth"];

/** Workers that would be enough for what comes. `null`: nobody knows run times, or workers are not what is missing. */
function enoughOf(
  lanes: readonly LaneSpan[],
  behind: readonly LaneSpan[],
  { to: { live } }: SampleSpan,
): number | null {
  const needed = sum(lanes, ({ need }) => need);
  if (needed === 0 || !behind.every(({ cause }) => BY_WORKERS.includes(cause))) return null;
  return Math.max(live + 1, Math.ceil(needed / MOST_BUSY - 1e-9));
}

function readyIn({ lanes }: Sample, name: string): number {
  return lanes.find((lane) => lane.name === name)?.ready ?? 0;
}

function startsIn({ lanes }: Sample, name: string): number {
  return lanes.find((lane) => lane.name === name)?.starts ?? 0;
}

function sum<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}
