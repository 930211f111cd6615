/**
 * Schedules of several pools that share named downstreams, and the configs that their processes have. A
 * seed says all of it.
 *
 * @module
 */

import type { ConfigInput } from "../../../src/config/input.ts";
import type { HandlerFunction } from "../../../src/config/slot_input.ts";
import type { Plugin } from "../../../src/contract/plugin.ts";
import { randomStream } from "../../../src/base/random.ts";
import { Chance } from "../chance.ts";
import { type Call, CALLS } from "../step.ts";

/** `leaseMs` of all pools. */
export const LEASE_MS = 3000;
/** Longest run time of a job, ms. */
export const LONGEST_MS = 1500;

/** What the pools use of each downstream. A worker of `reports` has two connections; a job of `texts` makes two calls. */
export const USES = {
  mails: { db: 1, mailer: 1 },
  reports: { db: 2 },
  texts: { mailer: 2, gateway: 1 },
  hooks: { gateway: 1 },
} as const satisfies Readonly<Record<string, Readonly<Record<string, number>>>>;

/** A pool. */
export type PoolName = keyof typeof USES;

/** All pools. */
export const POOLS = Object.keys(USES) as readonly PoolName[];

/** A downstream whose jobs it refuses now and then: named, or the receiver of a key of `hooks`. */
export const RECEIVERS = ["mailer", "gateway", "key:a", "key:b"] as const;

/** One of them. */
export type ReceiverName = typeof RECEIVERS[number];

/** Most connections at once. The second is what the other config says. */
export const CONNECTIONS = { db: [6, 4], gateway: [3, 3] } as const;
/** Most calls of the mailer a second. */
export const CALLS_PER_SEC = 25;

/** What a config is made with. */
export interface ConfigParts {
  readonly run: (pool: PoolName) => HandlerFunction;
  readonly store: Plugin<"store">;
  /** Those that the process runs. */
  readonly pools: readonly PoolName[];
  /** Which numbers of connections it knows. */
  readonly variant: 0 | 1;
}

/** A config of a process. */
export function configOf({ run, store, pools, variant }: ConfigParts): ConfigInput {
  const cooldown = { after: 2, minMs: 1000, maxMs: 8000 };
  const poolOf = (name: PoolName): unknown => ({
    handler: run(name),
    uses: USES[name],
    size: { min: name === "mails" ? 1 : 0, max: 8 },
    lanes: [{ name: "all", targetWaitMs: 50 }],
    cooldown: name === "hooks" ? { ...cooldown, by: "key" } : cooldown,
    adaptive: false,
    admission: "admit-all",
    leaseMs: LEASE_MS,
    timeoutMs: 20_000,
    drainMs: 7000,
    tickMs: 100,
  });
  return {
    store,
    downstreams: {
      db: { connections: CONNECTIONS.db[variant] },
      mailer: { rates: [{ calls: CALLS_PER_SEC, perMs: 1000 }], cooldown },
      gateway: { connections: CONNECTIONS.gateway[variant], cooldown: { ...cooldown, after: 3 } },
    },
    pools: Object.fromEntries(pools.map((name) => [name, poolOf(name)])),
  } as ConfigInput; // names are those above
}

/** One thing that happens. `who` chooses among the processes that run. */
export type Step =
  | {
    readonly do: "start";
    readonly pools: readonly PoolName[];
    readonly variant: 0 | 1;
    readonly offsetMs: number;
  }
  | { readonly do: "kill" | "drain"; readonly who: number }
  | { readonly do: "stall"; readonly who: number; readonly ms: number }
  | {
    readonly do: "fail";
    readonly who: number;
    readonly calls: readonly Call[];
    readonly how: "throw" | "reject";
    readonly ms: number;
  }
  | { readonly do: "late"; readonly who: number; readonly latencyMs: number; readonly ms: number }
  | {
    readonly do: "enqueue";
    readonly who: number;
    readonly count: number;
    readonly ms: number;
    readonly key: string;
  }
  | { readonly do: "advance"; readonly ms: number }
  | {
    readonly do: "refuse";
    readonly receiver: ReceiverName;
    readonly forMs: number;
    readonly askedMs?: number | undefined;
  }
  | { readonly do: "reload"; readonly who: number; readonly variant: 0 | 1 }
  | { readonly do: "close"; readonly who: number; readonly key?: string | undefined };

/** Kinds of steps, as often as they come. */
const KINDS: readonly (readonly [Step["do"], number])[] = [
  ["enqueue", 26],
  ["advance", 26],
  ["refuse", 8],
  ["start", 5],
  ["kill", 2],
  ["drain", 3],
  ["stall", 2],
  ["fail", 2],
  ["late", 3],
  ["reload", 3],
  ["close", 3],
];

/** The schedule of a seed: clocks differ in every other one. */
export function sharedSchedule(seed: number): readonly Step[] {
  const chance = new Chance(randomStream(seed, "shared"), seed % 2 === 0);
  const first: Step = { do: "start", pools: POOLS, variant: 0, offsetMs: chance.offsetMs() };
  return [first, ...chance.many(chance.whole(20, 70), () => stepOf(chance))];
}

function stepOf(chance: Chance): Step {
  const who = chance.whole(0, 11);
  const kind = chance.weighted(KINDS);
  switch (kind) {
    case "start": {
      const pools = POOLS.filter(() => chance.is(0.6));
      const variant = chance.of(0, 0, 1);
      const offsetMs = chance.offsetMs();
      return { do: kind, pools: pools.length === 0 ? POOLS : pools, variant, offsetMs };
    }
    case "kill":
    case "drain":
      return { do: kind, who };
    case "stall":
      return { do: kind, who, ms: chance.of(50, 400, 4000) };
    case "fail": {
      const calls = chance.is(0.4) ? CALLS : [chance.of(...CALLS), chance.of(...CALLS)];
      const how = chance.of("throw", "reject");
      return { do: kind, who, calls, how, ms: chance.whole(1, 3000) };
    }
    case "late":
      return { do: kind, who, latencyMs: chance.whole(1, 60), ms: chance.whole(100, 4000) };
    case "enqueue":
      return {
        do: kind,
        who,
        count: chance.of(1, 3, 10, 30),
        ms: chance.is(0.1) ? LONGEST_MS : chance.whole(0, 300),
        key: chance.of("a", "b", "c", "d"),
      };
    case "advance":
      return { do: kind, ms: chance.of(1, chance.whole(0, 300), chance.whole(0, 1500), 4000) };
    case "refuse": {
      const askedMs = chance.of(undefined, undefined, 200, 1500, 5000, 30_000);
      return { do: kind, receiver: chance.of(...RECEIVERS), forMs: chance.whole(1, 9000), askedMs };
    }
    case "reload":
      return { do: kind, who, variant: chance.of(0, 1) };
    case "close":
      return { do: kind, who, key: chance.of(undefined, "a", "b") };
  }
}
