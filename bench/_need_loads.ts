/**
 * Loads that show what a controller takes for needed: a spike beside a backlog, steady load beside
 * each lane policy, long jobs, several processes, and lanes that want throughput.
 *
 * @module
 */

import type { LaneInput, PoolInput } from "../src/config/input.ts";
import type { Arrivals, LaneLoad, ScenarioInput } from "../src/simulate/mod.ts";

/** One load on one pool. */
export interface NeedLoad {
  /** What it belongs to: the word that its name begins with. */
  readonly family: "spike" | "steady" | "long" | "peers" | "drain" | "judge";
  /** The pool, without its handler. */
  readonly pool: Omit<PoolInput, "handler" | "handlers">;
  /** What its lanes get. */
  readonly lanes: Readonly<Record<string, LaneLoad>>;
  /** How long it lasts, ms. */
  readonly durationMs: number;
  /** From when on changes count, ms. */
  readonly fromMs: number;
  /** Faults, processes and late timers. */
  readonly more?: Pick<ScenarioInput, "faults" | "peers" | "timerLateMs">;
}

/** Random arrivals at one rate. */
export function poisson(perSec: number): Arrivals {
  return { kind: "poisson", perSec };
}

/** Jobs of one length. */
export function fixedMs(ms: number): LaneLoad["serviceMs"] {
  return { kind: "fixed", ms };
}

/** Jobs of exponential length. */
export function exponential(ms: number): LaneLoad["serviceMs"] {
  return { kind: "exponential", ms };
}

const MINUTE_MS = 60_000;
const SPIKE: Arrivals = {
  kind: "poisson",
  phases: [
    { untilMs: 30_000, perSec: 30 },
    { untilMs: 35_000, perSec: 1500 },
    { untilMs: 300_000, perSec: 30 },
  ],
};

/** 2 to 40 workers, urgent jobs of 20 ms at 30/s but 1,500/s from 30 to 35 s, beside a backlog that never ends. */
function spike(
  backlog: number,
  serviceMs: LaneLoad["serviceMs"],
  { pool = {}, targetWaitMs = null }: {
    readonly pool?: Partial<NeedLoad["pool"]>;
    readonly targetWaitMs?: number | null;
  } = {},
): NeedLoad {
  return {
    family: "spike",
    pool: {
      size: { min: 2, max: 40 },
      lanes: [{ name: "urgent", targetWaitMs: 50 }, { name: "batch", targetWaitMs }],
      ...pool,
    },
    lanes: {
      urgent: { arrivals: SPIKE, serviceMs: fixedMs(20) },
      batch: { backlog, serviceMs },
    },
    durationMs: 5 * MINUTE_MS,
    fromMs: 2 * MINUTE_MS,
  };
}

/** Lanes by name, each with arrivals a second, run times and, if it is not the default, a target. */
type Lanes = Readonly<
  Record<
    string,
    readonly [perSec: number, serviceMs: LaneLoad["serviceMs"], lane?: Omit<LaneInput, "name">]
  >
>;

function constant(
  family: NeedLoad["family"],
  max: number,
  lanes: Lanes,
  rest: Partial<NeedLoad["pool"]> = {},
  minutes = 5,
): NeedLoad {
  const named = Object.entries(lanes);
  return {
    family,
    pool: {
      size: { min: 2, max },
      lanes: named.map(([name, [, , lane = {}]]) => ({ name, ...lane })),
      ...rest,
    },
    lanes: Object.fromEntries(
      named.map(([name, [perSec, serviceMs]]) => [name, { arrivals: poisson(perSec), serviceMs }]),
    ),
    durationMs: minutes * MINUTE_MS,
    fromMs: minutes * MINUTE_MS / (family === "long" ? 3 : 5),
  };
}

function reserve(workers: Readonly<Record<string, number>>): Partial<NeedLoad["pool"]> {
  return { lanePolicy: { use: "reserved-lane", with: { reserve: workers } } };
}

function dedicated(workers: Readonly<Record<string, number>>): Partial<NeedLoad["pool"]> {
  return { lanePolicy: { use: "dedicated-lanes", with: { workers } } };
}

function peers(count: number, load: NeedLoad): NeedLoad {
  return { ...load, family: "peers", more: { peers: count } };
}

function drain(
  lane: Omit<LaneInput, "name">,
  load: LaneLoad,
  { min = 2, max = 64, minutes = 15, beside = {} }: {
    readonly min?: number;
    readonly max?: number;
    readonly minutes?: number;
    readonly beside?: NeedLoad["lanes"];
  } = {},
): NeedLoad {
  return {
    family: "drain",
    pool: {
      size: { min, max },
      lanes: [
        ...Object.keys(beside).map((name) => ({ name })),
        { name: "batch", targetWaitMs: null, ...lane },
      ],
    },
    lanes: { ...beside, batch: load },
    durationMs: minutes * MINUTE_MS,
    fromMs: 0,
  };
}

const short = exponential(20);
const middle = exponential(200);
const urgentBatch: Lanes = { a: [30, short], b: [30, middle] };
const mostlyBatch: Lanes = { a: [10, short], b: [30, middle] };
const three: Lanes = {
  a: [8.54, exponential(300)],
  b: [105, exponential(41)],
  c: [4.78, exponential(390), { targetWaitMs: null }],
};
const four: Lanes = {
  a: [100, exponential(5)],
  b: [40, exponential(50)],
  c: [8, exponential(500), { targetWaitMs: 500 }],
  d: [2, exponential(2000), { targetWaitMs: 5000 }],
};
const tenThousand: LaneLoad = { backlog: 10_000, serviceMs: exponential(1000) };
const urgentThirty: NeedLoad["lanes"] = { urgent: { arrivals: poisson(30), serviceMs: short } };
const rare: LaneLoad = { arrivals: poisson(0.2), serviceMs: fixedMs(40_000) };

/** All of them, by name. */
export const needLoads: Readonly<Record<string, NeedLoad>> = {
  "spike, no backlog": spike(0, fixedMs(200)),
  "spike, fixed 200 ms": spike(100_000, fixedMs(200)),
  "spike, 200 ms": spike(100_000, middle),
  "spike, 20 ms": spike(600_000, short),
  "spike, 2 s": spike(20_000, exponential(2000)),
  "spike, 2 s, reserve 3": spike(20_000, exponential(2000), { pool: reserve({ urgent: 3 }) }),
  "spike, 200 ms, strict": spike(100_000, middle, { pool: { lanePolicy: "strict-priority" } }),
  "spike, 200 ms, reserve 2": spike(100_000, middle, { pool: reserve({ urgent: 2 }) }),
  "spike, 200 ms, target 1 h": spike(20_000, middle, { targetWaitMs: 3_600_000 }),
  "spike, 200 ms, target 10 min": spike(20_000, middle, { targetWaitMs: 600_000 }),
  "spike, 200 ms, step": spike(100_000, middle, {
    pool: { controller: { use: "age-scaler", with: { rule: "step" } } },
  }),
  "spike, 200 ms, depth-scaler": spike(100_000, middle, { pool: { controller: "depth-scaler" } }),
  "spike, 200 ms, littles-law": spike(100_000, middle, { pool: { controller: "littles-law" } }),

  "steady, reserve 0": constant("steady", 32, mostlyBatch, reserve({ a: 0 })),
  "steady, reserve 4": constant("steady", 32, urgentBatch, reserve({ a: 4 })),
  "steady, reserve 8": constant("steady", 32, mostlyBatch, reserve({ a: 8 })),
  "steady, reserve 8, fixed times": constant(
    "steady",
    32,
    { a: [10, fixedMs(20)], b: [30, fixedMs(200)] },
    reserve({ a: 8 }),
  ),
  "steady, reserve 8, 100/s": constant(
    "steady",
    64,
    { a: [10, short], b: [100, middle] },
    reserve({ a: 8 }),
  ),
  "steady, auto": constant("steady", 32, urgentBatch),
  "steady, auto, 200/s": constant("steady", 32, { a: [200, short], b: [30, middle] }),
  "steady, dedicated 2/8": constant("steady", 20, urgentBatch, dedicated({ a: 2, b: 8 })),
  "steady, dedicated 5/8/6 at 19": constant("steady", 19, three, dedicated({ a: 5, b: 8, c: 6 })),
  "steady, dedicated 5/8/6 of 40": constant("steady", 40, three, dedicated({ a: 5, b: 8, c: 6 })),
  "steady, strict": constant("steady", 32, urgentBatch, { lanePolicy: "strict-priority" }),
  "steady, fifo": constant("steady", 32, urgentBatch, { lanePolicy: "fifo" }),
  "steady, four lanes": constant("steady", 64, four),
  "steady, four lanes, reserve 3/3/3": constant("steady", 64, four, reserve({ a: 3, b: 3, c: 3 })),
  "steady, targets 50 ms and 30 s": constant("steady", 32, {
    a: [30, short],
    b: [30, middle, { targetWaitMs: 30_000 }],
  }),
  "steady, one lane, 36/s x 180 ms": constant("steady", 32, { a: [36, exponential(180)] }),
  "steady, one lane, 800/s x 20 ms": constant("steady", 32, { a: [800, fixedMs(20)] }),

  "long, 2 s, 10/s": long(10, exponential(2000), 500, 10),
  "long, 10 s, 1/s": long(1, exponential(10_000), 500, 15),
  "long, 10 s, 3/s": long(3, exponential(10_000), 500, 15),
  "long, 10 s, 3/s, 50 ms": long(3, exponential(10_000), 50, 15),
  "long, 30 s fixed, 1/s": long(1, fixedMs(30_000), 50, 20),
  "long, 60 s fixed, 0.5/s": long(0.5, fixedMs(60_000), 1000, 30),
  "long, 60 s fixed, 0.5/s, 50 ms": long(0.5, fixedMs(60_000), 50, 30),
  "long, 60 s, 0.2/s": long(0.2, exponential(60_000), 10_000, 30),
  "long, 60 s, 0.05/s": long(0.05, exponential(60_000), 1000, 30),
  "long, 30 s beside 200/s x 20 ms": constant(
    "long",
    64,
    {
      u: [200, short],
      a: [0.5, exponential(30_000), { targetWaitMs: 1000 }],
    },
    {},
    15,
  ),
  "long, 30 s null beside 200/s x 20 ms": constant(
    "long",
    64,
    {
      u: [200, short],
      a: [0.5, exponential(30_000), { targetWaitMs: null }],
    },
    {},
    15,
  ),

  "peers, 4, 800/s x 20 ms": peers(4, constant("peers", 32, { a: [800, fixedMs(20)] })),
  "peers, 4, 100/s x 200 ms": peers(4, constant("peers", 32, { a: [100, middle] })),
  "peers, 2, reserve 4": peers(
    2,
    constant("peers", 32, { a: [20, short], b: [60, middle] }, reserve({ a: 4 })),
  ),
  "peers, 3, 10 s, 3/s": peers(3, long(3, exponential(10_000), 500, 15)),
  "peers, 3, backlog": peers(3, {
    ...spike(50_000, middle),
    lanes: {
      urgent: { arrivals: poisson(60), serviceMs: short },
      batch: { backlog: 50_000, serviceMs: middle },
    },
    fromMs: MINUTE_MS,
  }),

  "drain, rare, null": drain({}, rare, { min: 1, max: 16, minutes: 10 }),
  "drain, rare, 10 min": drain({ startWithinMs: 600_000 }, rare, { min: 1, max: 16, minutes: 60 }),
  "drain, rare, 1 min": drain({ startWithinMs: 60_000 }, rare, { min: 1, max: 16, minutes: 60 }),
  "drain, rare, 0": drain({ startWithinMs: 0 }, rare, { min: 1, max: 16, minutes: 60 }),
  "drain, 10,000, 10 min": drain({ startWithinMs: 600_000 }, tenThousand),
  "drain, 10,000, 0": drain({ startWithinMs: 0 }, tenThousand),
  "drain, 10,000 beside urgent": drain({ startWithinMs: 600_000 }, tenThousand, {
    beside: urgentThirty,
  }),
  "drain, 20/s, 5 min": drain({ startWithinMs: 300_000 }, {
    arrivals: poisson(20),
    serviceMs: exponential(500),
  }, { minutes: 30 }),
  "drain, 1,000 of cv 2, 10 min": drain({ startWithinMs: 600_000 }, {
    backlog: 1000,
    serviceMs: { kind: "lognormal", ms: 5000, cv: 2 },
  }, { min: 0 }),
};

function long(
  perSec: number,
  serviceMs: LaneLoad["serviceMs"],
  targetWaitMs: number,
  minutes: number,
): NeedLoad {
  return constant("long", 64, { a: [perSec, serviceMs, { targetWaitMs }] }, {}, minutes);
}
