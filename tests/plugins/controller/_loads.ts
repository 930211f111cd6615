/**
 * Loads for the queue simulation.
 *
 * @module
 */

import { randomStream } from "../../../src/base/random.ts";
import type { QueueSim } from "./_queue_sim.ts";

/** A rate that holds until `untilMs`. */
export interface Phase {
  readonly untilMs: number;
  readonly perSec: number;
}

/** The step of the autoscaling experiment: 50/s, 800/s, 50/s, ten seconds each. */
export const STEP: readonly Phase[] = [
  { untilMs: 10_000, perSec: 50 },
  { untilMs: 20_000, perSec: 800 },
  { untilMs: 30_000, perSec: 50 },
];

/** Evenly spaced arrivals. */
export function even(phases: readonly Phase[]): number[] {
  return arrivals(phases, () => 1);
}

/** Poisson arrivals. */
export function poisson(phases: readonly Phase[], seed: number): number[] {
  return arrivals(phases, unitExponential(seed));
}

/** Exponential run times. */
export function exponential(meanMs: number, seed: number): () => number {
  const draw = unitExponential(seed ^ 0x5bd1);
  return () => meanMs * draw();
}

/** One second at `perSec`, one second of nothing, and so on. */
export function onOff(perSec: number, untilMs: number): Phase[] {
  const count = untilMs / 1000;
  return Array.from(
    { length: count },
    (_, index) => ({ untilMs: (index + 1) * 1000, perSec: index % 2 === 0 ? perSec : 0 }),
  );
}

/** Scale events of the 60 s after `fromMs`; changes in one direction within 50 ms count once. */
export function eventsInMinute({ changes }: QueueSim, fromMs: number): number {
  let events = 0, lastAtMs = -Infinity, lastUp = false;
  for (const { atMs, from, to } of changes) {
    const up = to > from;
    const joined = up === lastUp && atMs - lastAtMs <= 50;
    if (atMs >= fromMs && atMs < fromMs + 60_000 && !joined) events++;
    lastAtMs = atMs;
    lastUp = up;
  }
  return events;
}

/** The highest of `values`, -Infinity of none. */
export function highest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), -Infinity);
}

/** The target at `atMs`. */
export function targetAt({ changes, size }: QueueSim, atMs: number): number {
  return changes.findLast((change) => change.atMs <= atMs)?.to ?? size.min;
}

function arrivals(phases: readonly Phase[], gap: () => number): number[] {
  const times: number[] = [];
  let fromMs = 0;
  for (const { untilMs, perSec } of phases) {
    if (perSec > 0) {
      for (
        let atMs = fromMs + gap() * 1000 / perSec;
        atMs <= untilMs;
        atMs += gap() * 1000 / perSec
      ) times.push(atMs);
    }
    fromMs = untilMs;
  }
  return times;
}

function unitExponential(seed: number): () => number {
  const random = randomStream(seed);
  return () => -Math.log(1 - random());
}
