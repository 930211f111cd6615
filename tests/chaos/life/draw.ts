/**
 * Ordinary lives of a pool: a config with many options at once, and what its users and its
 * surroundings do to it. A seed says all of it.
 *
 * @module
 */

import { randomStream } from "../../../src/base/random.ts";
import { Chance } from "../chance.ts";

/** Where the jobs of a life are kept. */
export type LifeStore = "memory" | "kv";

/** How an attempt ends. */
export const ENDS = [
  ...["ok", "ok", "ok", "ok", "ok", "throw", "once", "later", "fatal"] as const,
  ...["throw-text", "throw-undefined", "throw-frozen", "throw-hostile"] as const,
];

/** How the receiver of an attempt refuses it: not now, or for good. */
const REFUSALS = ["refuse", "gone"] as const;

/** Circuit breakers: the default, none, by key and by pool, with waits that a life has time for. */
const COOLDOWNS = [
  ...[undefined, false] as const,
  { by: "key", after: 1, minMs: 20, maxMs: 300, failures: 2, gone: true },
  { by: "key", after: 2, minMs: 100, maxMs: 1000 },
  { failures: 3, gone: true, minMs: 20, maxMs: 300 },
] as const;

/** Rates of the keys of a lane: one start at a time, several, and two windows. */
const RATES_PER_KEY = [
  [{ calls: 20, perMs: 1000, burst: 1 }],
  [{ calls: 30, perMs: 1000, burst: 5 }],
  [{ calls: 10, perMs: 1000 }, { calls: 60, perMs: 10_000 }],
] as const;

/** What a handler returns. */
export const RESULTS = [
  ...["text", "text", "text", "nothing", "null"] as const,
  ...["bigint", "cycle", "function", "map", "throwing"] as const,
];

/** What one job does. It is the job's payload. */
export interface Plan {
  /** Number of the job: its name in the ledger. */
  readonly n: number;
  /** Run time, ms. */
  readonly ms: number;
  /** How its attempts end. `once`: only the first attempt fails; of `REFUSALS` it is done at the third start. */
  readonly end: (typeof ENDS)[number] | (typeof REFUSALS)[number];
  /** Whether its handler ends when its signal aborts. */
  readonly heedsAbort: boolean;
  /** What it returns. */
  readonly result: (typeof RESULTS)[number];
  /** Bytes of the result, if it is a text. */
  readonly resultBytes: number;
  /** Makes the payload as large as was drawn. */
  readonly pad: string;
}

/** How jobs of one step differ from the last drawn ones. */
export interface Batch {
  readonly who: number;
  readonly count: number;
  readonly lane: string;
  readonly type: string;
  readonly keys: number;
  readonly dedupe: number;
  readonly delayMs: number;
  readonly ttlMs: number | undefined;
  readonly ms: number;
  readonly end: Plan["end"];
  readonly heedsAbort: boolean;
  readonly result: Plan["result"];
  readonly bytes: readonly number[];
  readonly how: "each" | "bulk" | "post";
  /** True: all are cancelled as soon as they are taken. */
  readonly isWithdrawn?: boolean;
}

/** One thing that happens. `who` chooses a process. */
export type LifeStep =
  | ({ readonly do: "enqueue" } & Batch)
  | { readonly do: "advance"; readonly ms: number }
  | { readonly do: "start" }
  | { readonly do: "kill" | "stop" | "slice" | "walk"; readonly who: number }
  | { readonly do: "block"; readonly who: number; readonly ms: number }
  | { readonly do: "full"; readonly ms: number }
  | { readonly do: "clock"; readonly who: number; readonly aheadMs: number }
  | { readonly do: "reload"; readonly who: number; readonly variant: number }
  | { readonly do: "pause" | "resume"; readonly who: number; readonly lane: string | undefined }
  | { readonly do: "override"; readonly who: number; readonly target: number }
  | {
    readonly do: "change";
    readonly who: number;
    readonly change: "cancel" | "revive" | "remove";
    readonly count: number;
    readonly from: number;
  };

/** A lane, as the ledger has to know it. */
export interface LifeLane {
  readonly name: string;
  readonly maxRunning?: number;
  readonly maxRunningPerKey?: number;
  readonly ratesPerKey?: readonly { readonly calls: number; readonly perMs: number }[];
  readonly ttlMs?: number;
  readonly backoff?: { readonly baseMs: number; readonly maxMs: number };
  readonly [option: string]: unknown;
}

/** A life. */
export interface Life {
  readonly store: LifeStore;
  readonly lanes: readonly LifeLane[];
  /** Most handlers that run in all processes together. `Infinity`: no such cap. */
  readonly clusterCap: number;
  /** The rest of the pool's config; a handler for each of `types`. */
  readonly pool: Readonly<Record<string, unknown>>;
  readonly types: readonly string[];
  readonly leaseMs: number;
  readonly drainMs: number;
  readonly steps: readonly LifeStep[];
}

/** Sizes of payloads and results, bytes: from nothing to beyond what a store takes. */
const SIZES: readonly (readonly [number, number])[] = [
  ...[[0, 20], [1, 5], [200, 20], [1000, 15], [4096, 10], [8192, 20], [15_000, 10]] as const,
  ...[[49_990, 4], [50_100, 4], [70_000, 3], [300_000, 1], [1_048_000, 1], [1_100_000, 1]] as const,
];

/** Bytes that the jobs of one step hold together, at most: memory and patience are limited. */
const MOST_BYTES = 12e6;

const KINDS: readonly (readonly [LifeStep["do"], number])[] = [
  ...[["enqueue", 30], ["advance", 30], ["start", 5], ["kill", 3], ["stop", 3]] as const,
  ...[["slice", 2], ["walk", 2], ["block", 4], ["full", 3], ["reload", 4], ["pause", 2]] as const,
  ...[["resume", 3], ["override", 2], ["clock", 3], ["change", 10]] as const,
];

/** The life of a seed in one kind of store. */
export function lifeOf(seed: number, store: LifeStore): Life {
  const chance = new Chance(randomStream(seed, `life/${store}`));
  const rated = new Chance(randomStream(seed, `rated/${store}`));
  const lanes = laneNames(chance).map((name) => laneOf(chance, name)).map((lane) =>
    rated.is(0.3)
      ? { ...lane, ratesPerKey: rated.of<(typeof RATES_PER_KEY)[number]>(...RATES_PER_KEY) }
      : lane
  );
  const types = chance.is(0.7) ? [""] : ["mail", "image"];
  const leaseMs = chance.of(2000, 5000, 30_000);
  const drainMs = chance.of(0, 500, 5000);
  const clusterCap = chance.of(Infinity, Infinity, 1, 3, 20);
  const drawn = poolOf(chance, lanes, { types, leaseMs, drainMs, clusterCap });
  // Half of all lives have no harm done to them: more must hold there.
  const isHarmless = chance.is(0.5);
  // Jobs in memory are those of one process: they have one clock, or none that is set.
  const others = store === "kv" ? NONE : chance.is(0.5) ? CLOCKS : PROCESSES;
  const kinds = KINDS.filter(([kind]) => !others.has(kind) && !(isHarmless && HARMS.has(kind)));
  const withdrawn = new Chance(randomStream(seed, `withdrawn/${store}`));
  const refused = new Chance(randomStream(seed, `refused/${store}`));
  const cooldown = refused.of<(typeof COOLDOWNS)[number]>(...COOLDOWNS);
  const pool = cooldown === undefined ? drawn : { ...drawn, cooldown };
  const steps = chance.many(chance.whole(4, 30), () => stepOf(chance, kinds, lanes, types))
    .map((step) =>
      step.do === "enqueue" && withdrawn.is(0.1)
        ? { ...step, how: "bulk" as const, isWithdrawn: true }
        : step
    ).map((step) =>
      step.do === "enqueue" && refused.is(0.2)
        ? { ...step, end: refused.of(...REFUSALS), keys: refused.of(step.keys, 1, 5) }
        : step
    );
  return { store, lanes, clusterCap, pool, types, leaseMs, drainMs, steps };
}

const HARMS = new Set<LifeStep["do"]>(["kill", "block", "full"]);
const CLOCKS = new Set<LifeStep["do"]>(["clock"]);
const PROCESSES = new Set<LifeStep["do"]>(["start", "kill", "stop"]);
const NONE = new Set<LifeStep["do"]>();

function laneNames(chance: Chance): readonly string[] {
  return ["urgent", "daily", "batch", "bulk"].slice(0, chance.whole(1, 4));
}

/** Any of the options of a lane, or none. */
function laneOf(chance: Chance, name: string): LifeLane {
  const maybe = <T>(key: string, ...values: readonly T[]): Readonly<Record<string, T>> =>
    chance.is(0.35) ? { [key]: chance.of(...values) } : {};
  return {
    name,
    attempts: chance.of(1, 2, 3, 5),
    backoff: { baseMs: chance.of(0, 1, 100), maxMs: chance.of(100, 1000), jitter: 0.5 },
    ...maybe("targetWaitMs", 50, 1000, null),
    ...maybe("deadlineMs", 300, 5000),
    ...maybe("ttlMs", 300, 5000),
    ...maybe("maxDepth", 1, 50, 1000),
    ...maybe("maxRunning", 1, 3, 50),
    ...maybe("maxRunningPerKey", 1, 2),
    ...maybe("weight", 0.5, 4),
    ...maybe("paused", true, false),
    ...maybe("expect", { perSec: 10, serviceMs: 20 }),
  } as LifeLane; // only its limits matter to the ledger
}

interface PoolParts {
  readonly types: readonly string[];
  readonly leaseMs: number;
  readonly drainMs: number;
  readonly clusterCap: number;
}

function poolOf(
  chance: Chance,
  lanes: readonly LifeLane[],
  { types, leaseMs, drainMs, clusterCap }: PoolParts,
): Readonly<Record<string, unknown>> {
  const max = chance.of(1, 2, 6, 50, 200);
  const dedicated = Object.fromEntries(lanes.map(({ name }) => [name, 1]));
  const policies = [
    ...["reserved-lane", "strict-priority", "fifo"],
    { use: "dedicated-lanes", with: { workers: dedicated } },
    ...max === 1 ? [] : [{ use: "reserved-lane", with: { reserve: { [lanes[0]!.name]: 1 } } }],
  ];
  const caps: unknown[] = [];
  if (clusterCap < Infinity) {
    caps.push({ use: "fixed-cap", with: { workers: clusterCap }, scope: "cluster" });
  }
  if (chance.is(0.2)) {
    caps.push({ use: "db-pool-cap", with: { connections: 400, perWorker: chance.of(1, 2) } });
  }
  if (chance.is(0.2)) caps.push({ use: "api-rate-cap", with: { callsPerSec: chance.of(50, 500) } });
  const lane = chance.of(...lanes).name;
  return {
    size: { min: chance.of(0, 0, 1, max), max },
    controller: chance.of("age-scaler", "depth-scaler", "littles-law"),
    lanePolicy: chance.of(...policies),
    retirement: chance.of("cooperative", "idle-only"),
    admission: chance.of("shed-at-cap", "admit-all"),
    adaptive: chance.is(0.5),
    caps,
    keep: { done: 100_000, dead: 100_000, forMs: 1e12 },
    schedules: chance.is(0.3) ? [{ lane, cron: "*/5 * * * * *", ...typed(types) }] : [],
    tickMs: chance.of(50, 200),
    leaseMs,
    timeoutMs: chance.of(400, 5000, 60_000),
    drainMs,
  };
}

function typed(types: readonly string[]): { readonly type?: string } {
  return types[0] === "" ? {} : { type: types[0]! };
}

function stepOf(
  chance: Chance,
  kinds: readonly (readonly [LifeStep["do"], number])[],
  lanes: readonly LifeLane[],
  types: readonly string[],
): LifeStep {
  const who = chance.whole(0, 11);
  const kind = chance.weighted(kinds);
  switch (kind) {
    case "enqueue":
      return { do: kind, ...batchOf(chance, chance.of(...lanes).name, chance.of(...types)), who };
    case "advance":
      return { do: kind, ms: chance.of(0, 1, 50, 300, 1000, chance.whole(0, 6000)) };
    case "start":
      return { do: kind };
    case "kill":
    case "stop":
    case "slice":
    case "walk":
      return { do: kind, who };
    case "block":
      return { do: kind, who, ms: chance.of(100, 1500, 4000, 40_000) };
    case "full":
      return { do: kind, ms: chance.of(1, 500, 5000) };
    case "clock":
      return { do: kind, who, aheadMs: chance.of(0, 2000, -40_000, 3_600_000, -86_400_000) };
    case "reload":
      return { do: kind, who, variant: chance.whole(0, 3) };
    case "pause":
    case "resume":
      return { do: kind, who, lane: chance.of(undefined, lanes[0]!.name) };
    case "override":
      return { do: kind, who, target: chance.of(0, 1, 1000) };
    case "change":
      return {
        do: kind,
        who,
        change: chance.of("cancel", "cancel", "revive", "remove"),
        count: chance.of(1, 3, 60, 1000),
        from: chance.whole(0, 10_000),
      };
  }
}

/** Who ignores its abort runs at least so long, ms: its attempt is given up meanwhile. */
const DEAF_MS = 8000;
/** Most jobs of one step that do. */
const MOST_DEAF = 10;

function batchOf(chance: Chance, lane: string, type: string): Omit<Batch, "who"> {
  const drawn = anyBatch(chance, lane, type);
  if (drawn.heedsAbort) return drawn;
  const count = Math.min(drawn.count, MOST_DEAF);
  return { ...drawn, count, ttlMs: undefined, ms: Math.max(drawn.ms, DEAF_MS) };
}

function anyBatch(chance: Chance, lane: string, type: string): Omit<Batch, "who"> {
  const count = chance.of(1, 1, 2, 10, 60, 60, chance.whole(1, 300), 1000);
  const bytes = chance.many(chance.whole(1, 3), () => chance.weighted(SIZES));
  const mean = bytes.reduce((sum, size) => sum + size, 0) / bytes.length;
  return {
    count: Math.max(1, Math.min(count, Math.floor(MOST_BYTES / (mean + 1)))),
    lane,
    type,
    keys: chance.of(0, 0, 1, 5),
    dedupe: chance.of(0, 0, 0, 3),
    delayMs: chance.of(0, 0, 0, 1, 200, 3000),
    ttlMs: chance.of(undefined, undefined, undefined, 1, 500, 4000),
    ms: chance.of(0, 1, 20, 20, 100, 300, 2000),
    end: chance.of(...ENDS),
    heedsAbort: chance.is(0.8),
    result: chance.of(...RESULTS),
    bytes,
    how: chance.of("each", "bulk", "bulk", "post"),
  };
}
