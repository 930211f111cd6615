/**
 * Loads that no shrink rule may spoil: steps, bursts, slow-downs, heavy tails, late timers, long jobs.
 *
 * @module
 */

import type { Arrivals, LaneLoad } from "../src/simulate/mod.ts";
import { exponential, fixedMs, type NeedLoad, poisson } from "./_need_loads.ts";

/** One lane `a` on 2 to 64 workers. */
function one(
  seconds: number,
  load: LaneLoad,
  { size = { min: 2, max: 64 }, targetWaitMs = 50, ttlMs, more }:
    & Partial<Pick<NeedLoad["pool"], "size">>
    & Partial<Pick<NeedLoad, "more">>
    & { readonly targetWaitMs?: number; readonly ttlMs?: number } = {},
): NeedLoad {
  return {
    family: "judge",
    pool: { size, lanes: [{ name: "a", targetWaitMs, ...(ttlMs && { ttlMs }) }] },
    lanes: { a: load },
    durationMs: seconds * 1000,
    fromMs: 0,
    ...(more && { more }),
  };
}

/** Random arrivals, each rate until a second. */
function phases(...rates: readonly (readonly [untilSec: number, perSec: number])[]): Arrivals {
  const steps = rates.map(([untilSec, perSec]) => ({ untilMs: untilSec * 1000, perSec }));
  return { kind: "poisson", phases: steps };
}

function onOff(perSec: number, onMs: number, offMs: number): Arrivals {
  return { kind: "on-off", perSec, onMs, offMs };
}

/** Jobs take `factor` as long from a second on. */
function slow(fromSec: number, seconds: number, factor: number) {
  return { kind: "slow", atMs: fromSec * 1000, forMs: seconds * 1000, factor } as const;
}

function knee(ms: number, slots: number, collapse = 0): LaneLoad["serviceMs"] {
  return { kind: "knee", ms, slots, collapse };
}

const twenty = fixedMs(20);
const ramp = Array.from({ length: 51 }, (_, step) => [3 + step / 10, 50 + 23 * step] as const);
const waves = Array.from(
  { length: 8 },
  (_, index) => [8 * (index + 1), index % 2 ? 200 : 800] as const,
);
const eachOther = Array.from({ length: 18 }, (_, index) => slow(3 + 2 * index, 1, 3));
const minute: LaneLoad = { arrivals: phases([8, 0.05], [300, 0.5]), serviceMs: fixedMs(60_000) };
const small = { size: { min: 0, max: 8 } };
const brief = { ttlMs: 1000 };

/** All of them, by name. */
export const judgeLoads: Readonly<Record<string, NeedLoad>> = Object.fromEntries(
  Object.entries<NeedLoad>({
    "step 50 to 800/s and back": one(30, {
      arrivals: phases([10, 50], [20, 800], [30, 50]),
      serviceMs: twenty,
    }),
    "slow x2 for 20 s": one(50, { arrivals: poisson(400), serviceMs: twenty }, {
      more: { faults: [slow(15, 20, 2)] },
    }),
    "slow x4 for 20 s, exponential": one(50, {
      arrivals: poisson(300),
      serviceMs: exponential(20),
    }, { more: { faults: [slow(15, 20, 4)] } }),
    "slow x5 for the first 15 s": one(45, { arrivals: poisson(300), serviceMs: twenty }, {
      more: { faults: [slow(0, 15, 5)] },
    }),
    "slow x3 each other second": one(40, { arrivals: poisson(300), serviceMs: twenty }, {
      more: { faults: eachOther },
    }),
    "lognormal cv 3": one(60, {
      arrivals: poisson(400),
      serviceMs: { kind: "lognormal", ms: 20, cv: 3 },
    }),
    "lognormal cv 6": one(60, {
      arrivals: poisson(100),
      serviceMs: { kind: "lognormal", ms: 50, cv: 6 },
    }),
    "1,600/s for 50 of 100 ms": one(40, { arrivals: onOff(1600, 50, 50), serviceMs: twenty }),
    "2,000/s for 45 of 105 ms": one(40, { arrivals: onOff(2000, 45, 60), serviceMs: fixedMs(5) }),
    "2,000/s for 100 ms each 2 s": one(40, { arrivals: onOff(2000, 100, 1900), serviceMs: twenty }),
    "2,000/s for 100 ms each 8 s": one(80, { arrivals: onOff(2000, 100, 7900), serviceMs: twenty }),
    "timers 30 ms late": one(40, { arrivals: poisson(400), serviceMs: twenty }, {
      more: { timerLateMs: { kind: "exponential", ms: 30 } },
    }),
    "timers 100 ms late": one(40, { arrivals: poisson(100), serviceMs: twenty }, {
      more: { timerLateMs: { kind: "fixed", ms: 100 } },
    }),
    "60 s jobs, target 1 s": one(300, minute, { targetWaitMs: 1000 }),
    "60 s jobs, target 50 ms": one(300, minute),
    "10 s jobs, 1 to 3/s": one(180, {
      arrivals: phases([60, 1], [120, 3], [180, 1]),
      serviceMs: exponential(10_000),
    }, { targetWaitMs: 500 }),
    "from none, 0.2/s x 500 ms": one(
      300,
      { arrivals: poisson(0.2), serviceMs: fixedMs(500) },
      small,
    ),
    "from none, then 400/s": one(30, {
      arrivals: phases([10, 0], [20, 400], [30, 0]),
      serviceMs: twenty,
    }, { size: { min: 0, max: 64 } }),
    "10,000/s x 2 ms": one(12, { arrivals: poisson(10_000), serviceMs: fixedMs(2) }),
    "1,000 to 10,000/s x 2 ms": one(12, {
      arrivals: phases([4, 1000], [9, 10_000], [12, 1000]),
      serviceMs: fixedMs(2),
    }),
    "ramp 50 to 1,200/s": one(20, { arrivals: phases(...ramp, [20, 1200]), serviceMs: twenty }),
    "800 and 200/s, 8 s each": one(64, { arrivals: phases(...waves), serviceMs: twenty }),
    "step 50 to 1,600/s": one(20, { arrivals: phases([8, 50], [20, 1600]), serviceMs: twenty }),
    "40/s x 1 s": one(60, { arrivals: poisson(40), serviceMs: fixedMs(1000) }),
    "10 slots": one(40, { arrivals: poisson(800), serviceMs: knee(20, 10) }, brief),
    "10 slots, collapse": one(40, { arrivals: poisson(800), serviceMs: knee(20, 10, 0.05) }, brief),
    "10 slots, 400, 800, 300/s": one(40, {
      arrivals: phases([10, 400], [25, 800], [40, 300]),
      serviceMs: knee(20, 10, 0.05),
    }, brief),
    "4 slots": one(120, { arrivals: poisson(60), serviceMs: knee(100, 4, 0.05) }, { ttlMs: 2000 }),
    "30 slots": one(40, { arrivals: poisson(900), serviceMs: knee(50, 30, 0.02) }, brief),
    "5 slots": one(180, { arrivals: poisson(20), serviceMs: knee(500, 5, 0.05) }, { ttlMs: 5000 }),
    "40 slots, never reached": one(40, { arrivals: poisson(800), serviceMs: knee(20, 40, 0.05) }),
    "3,000 at first, then 200/s": one(30, {
      backlog: 3000,
      arrivals: poisson(200),
      serviceMs: twenty,
    }),
  }).map(([name, load]) => [`judge, ${name}`, load]),
);
