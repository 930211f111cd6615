/**
 * When jobs arrive: absolute times, which nothing delays.
 *
 * @module
 */

import { unitExponential } from "./chance.ts";
import type { Phase } from "./scenario.ts";
import type { ScenarioLane } from "./read_scenario.ts";

/** Times of arrival in rising order, ms since the beginning, at least all up to `untilMs`. */
export function arrivalTimes(
  of: NonNullable<ScenarioLane["arrivals"]>,
  untilMs: number,
  random: () => number,
): Iterator<number, void> {
  switch (of.kind) {
    case "trace":
      return of.atMs.values();
    case "even":
      return even(phasesOf(of, untilMs));
    case "poisson":
      return poisson(phasesOf(of, untilMs), random);
    case "counts":
      return counted(of.perMin, of.spacing === "even" ? undefined : random);
    case "on-off":
      return of.spacing === "even" ? even(onOff(of, untilMs)) : poisson(onOff(of, untilMs), random);
  }
}

/** From the beginning of each phase at equal distances, the first one a distance after it. */
function* even(phases: Iterable<Phase>): Generator<number, void> {
  let fromMs = 0;
  for (const { untilMs, perSec } of phases) {
    if (perSec > 0) {
      // Counted rather than summed: a sum would drift.
      for (let count = 1;; count++) {
        const atMs = fromMs + count * 1000 / perSec;
        if (atMs > untilMs) break;
        yield atMs;
      }
    }
    fromMs = untilMs;
  }
}

function* poisson(phases: Iterable<Phase>, random: () => number): Generator<number, void> {
  let fromMs = 0;
  for (const { untilMs, perSec } of phases) {
    if (perSec > 0) {
      let atMs = fromMs + unitExponential(random) * 1000 / perSec;
      for (; atMs <= untilMs; atMs += unitExponential(random) * 1000 / perSec) yield atMs;
    }
    fromMs = untilMs; // the distribution has no memory: a new rate may begin with a new draw
  }
}

const MINUTE_MS = 60_000;

/** In each minute as many as are counted: evenly, the first one a distance after its beginning, or at random. */
function* counted(
  perMin: readonly number[],
  random: (() => number) | undefined,
): Generator<number, void> {
  for (const [minute, count] of perMin.entries()) {
    let ms = 0; // of the minute
    for (let left = count; left > 0; left--) {
      // At random: the first of those that are left, which lie anywhere in the rest of the minute.
      ms = random === undefined
        ? MINUTE_MS * (count - left + 1) / count
        : ms + (MINUTE_MS - ms) * (1 - (1 - random()) ** (1 / left));
      yield MINUTE_MS * minute + ms;
    }
  }
}

interface Rates {
  readonly perSec?: number | undefined;
  readonly phases?: readonly Phase[] | undefined;
}

function phasesOf({ perSec = 0, phases }: Rates, untilMs: number): Iterable<Phase> {
  return phases ?? [{ untilMs, perSec }];
}

interface OnOff {
  readonly perSec: number;
  readonly onMs: number;
  readonly offMs: number;
}

function* onOff({ perSec, onMs, offMs }: OnOff, untilMs: number): Generator<Phase, void> {
  for (let cycle = 0; cycle * (onMs + offMs) <= untilMs; cycle++) {
    const fromMs = cycle * (onMs + offMs);
    yield { untilMs: fromMs + onMs, perSec };
    yield { untilMs: fromMs + onMs + offMs, perSec: 0 };
  }
}
