/**
 * Steady loads drawn by chance: two to four lanes beside any lane policy, short and long jobs.
 *
 * @module
 */

import { randomStream } from "../src/base/random.ts";
import type { LaneInput, PoolInput } from "../src/config/input.ts";
import type { LaneLoad } from "../src/simulate/mod.ts";
import { exponential, fixedMs, type NeedLoad, poisson } from "./_need_loads.ts";

/** How many of them the benchmark plays. */
const COUNT = 40;

const MINUTE_MS = 60_000;

/** The load of a number: the same in any process. */
export function drawNeed(number: number): NeedLoad {
  const random = randomStream(number, "need");
  const between = (low: number, high: number): number => low * (high / low) ** random();
  const isLong = random() < 0.3;
  const count = isLong ? 1 + Math.floor(random() * 2) : 2 + Math.floor(random() * 3);
  const drawn = Array.from({ length: count }, (_, index) => {
    const runMs = isLong && index === count - 1 ? between(10_000, 60_000) : between(5, 2000);
    const erlangs = between(0.2, 12);
    return {
      lane: { name: `l${index}`, targetWaitMs: between(50, 5000) },
      load: {
        arrivals: poisson(erlangs * 1000 / runMs),
        serviceMs: random() < 0.7 ? exponential(runMs) : fixedMs(runMs),
      },
      runMs,
      erlangs,
    };
  });
  const load = drawn.reduce((sum, { erlangs }) => sum + erlangs, 0);
  const max = Math.ceil(load / (0.5 + 0.3 * random())) + 4;
  const longestMs = Math.max(...drawn.map(({ runMs }) => runMs));
  const fromMs = Math.max(15_000, 15 * longestMs); // three look-backs of 5 s or of five run times
  return {
    family: "steady",
    pool: {
      size: { min: 2, max },
      lanes: drawn.map(({ lane }): LaneInput => lane),
      ...policy(random, drawn.map(({ erlangs }) => erlangs), max),
    },
    lanes: Object.fromEntries(drawn.map(({ lane, load }): [string, LaneLoad] => [lane.name, load])),
    durationMs: fromMs + (isLong ? 10 : 4) * MINUTE_MS,
    fromMs,
  };
}

/** Any built-in policy; reserves of up to a third of the pool, dedicated workers by the load. */
function policy(
  random: () => number,
  erlangs: readonly number[],
  max: number,
): Partial<PoolInput> {
  const names = erlangs.map((_, index) => `l${index}`);
  switch (Math.floor(random() * 6)) {
    case 0:
      return { lanePolicy: "strict-priority" };
    case 1:
      return { lanePolicy: "fifo" };
    case 2: {
      const most = Math.floor(max / 3 / names.length);
      const reserve = names.map((name) => [name, Math.floor(random() * (most + 1))] as const);
      return {
        lanePolicy: { use: "reserved-lane", with: { reserve: Object.fromEntries(reserve) } },
      };
    }
    case 3: {
      const load = erlangs.reduce((sum, value) => sum + value, 0);
      const room = max - names.length;
      const workers = erlangs.map((value, index) =>
        [names[index]!, 1 + Math.floor(room * value / load)] as const
      );
      return {
        lanePolicy: { use: "dedicated-lanes", with: { workers: Object.fromEntries(workers) } },
      };
    }
    default:
      return {};
  }
}

/** All of them, by name. */
export const needDraws: Readonly<Record<string, NeedLoad>> = Object.fromEntries(
  Array.from({ length: COUNT }, (_, index) => [`draw ${index + 1}`, drawNeed(index + 1)]),
);
