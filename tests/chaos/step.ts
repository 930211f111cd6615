/**
 * Schedules: what happens, step by step. A seed says all of it.
 *
 * @module
 */

import { randomStream } from "../../src/base/random.ts";
import { Chance } from "./chance.ts";

/** Run time of a job that ends only when it is asked to, or let go. */
const HANGS = 1e9;

/** What one job does. */
export interface Plan {
  /** How long it runs, ms. `HANGS`: until it is let go. */
  readonly ms: number;
  /** How its attempts end. `once`: the first fails. */
  readonly end: "ok" | "throw" | "later" | "fatal" | "once";
  /** Whether it ends when it is asked to. */
  readonly heedsAbort: boolean;
}

/** Kinds of calls that can fail. */
export const CALLS = [
  ...["add", "lease", "settle", "renew", "count"] as const,
  ...["find", "change", "reopen", "get", "commit"] as const,
];

/** A kind of call to the store. */
export type Call = typeof CALLS[number];

/** One thing that happens. `who` chooses among the processes that run, `which` among the jobs. */
export type Step =
  | { readonly do: "start"; readonly config: number; readonly offsetMs: number }
  | { readonly do: "kill" | "drain"; readonly who: number }
  | { readonly do: "stall"; readonly who: number; readonly ms: number }
  | {
    readonly do: "enqueue";
    readonly who: number;
    readonly lane: string;
    readonly plan: Plan;
    readonly count: number;
    readonly key?: string | undefined;
    readonly delayMs: number;
    readonly ttlMs?: number | undefined;
    readonly dedupeKey?: string | undefined;
  }
  | { readonly do: "advance"; readonly ms: number }
  | {
    readonly do: "fail";
    readonly who: number;
    readonly calls: readonly Call[];
    readonly how: "throw" | "reject";
    readonly ms: number;
  }
  | { readonly do: "late"; readonly who: number; readonly latencyMs: number; readonly ms: number }
  | { readonly do: "slow"; readonly factor: number }
  | { readonly do: "down"; readonly down: boolean }
  | { readonly do: "reload"; readonly who: number; readonly config: number }
  | { readonly do: "pause" | "resume"; readonly who: number; readonly lane?: string | undefined }
  | {
    readonly do: "override";
    readonly who: number;
    readonly bounds: { readonly min?: number; readonly max?: number; readonly target?: number };
  }
  | { readonly do: "cancel" | "revive" | "remove"; readonly who: number; readonly which: number };

/** Kinds of steps, as often as they come. */
const KINDS: readonly (readonly [Step["do"], number])[] = [
  ["enqueue", 30],
  ["advance", 26],
  ["start", 4],
  ["kill", 2],
  ["drain", 3],
  ["stall", 6],
  ["fail", 4],
  ["late", 2],
  ["slow", 2],
  ["down", 1],
  ["reload", 5],
  ["pause", 2],
  ["resume", 3],
  ["override", 4],
  ["cancel", 4],
  ["revive", 3],
  ["remove", 1],
];

/** The schedule of a seed: clocks differ in every other one. How many configs there are to choose from is `configs`. */
export function scheduleOf(seed: number, configs: number): readonly Step[] {
  const chance = new Chance(randomStream(seed, "schedule"), seed % 2 === 0);
  const first: Step = { do: "start", config: 0, offsetMs: chance.offsetMs() };
  return [first, ...chance.many(chance.whole(10, 70), () => stepOf(chance, configs))];
}

function stepOf(chance: Chance, configs: number): Step {
  const who = chance.whole(0, 11);
  const kind = chance.weighted(KINDS);
  switch (kind) {
    case "start":
      return { do: kind, config: chance.whole(0, configs - 1), offsetMs: chance.offsetMs() };
    case "kill":
    case "drain":
      return { do: kind, who };
    case "stall":
      return { do: kind, who, ms: chance.of(50, 400, 4000, 5000, 9000) };
    case "enqueue":
      return {
        do: kind,
        who,
        lane: chance.of("high", "high", "low", "extra"),
        plan: planOf(chance),
        count: chance.of(1, 1, 2, 4, 12),
        key: chance.of(undefined, undefined, "a", "b"),
        delayMs: chance.of(0, 0, 0, 10, 300, 2000),
        ttlMs: chance.of(undefined, undefined, undefined, 60, 800),
        dedupeKey: chance.of(undefined, undefined, undefined, "x", "y"),
      };
    case "advance":
      return { do: kind, ms: chance.of(0, 1, chance.whole(0, 300), chance.whole(0, 900), 3200) };
    case "fail":
      return {
        do: kind,
        who,
        calls: chance.is(0.4) ? CALLS : [chance.of(...CALLS), chance.of(...CALLS)],
        how: chance.of("throw", "reject"),
        ms: chance.whole(1, 3000),
      };
    case "late":
      return { do: kind, who, latencyMs: chance.whole(1, 150), ms: chance.whole(100, 4000) };
    case "slow":
      return { do: kind, factor: chance.of(1, 1, 3, 10) };
    case "down":
      return { do: kind, down: chance.is(0.5) };
    case "reload":
      return { do: kind, who, config: chance.whole(0, configs - 1) };
    case "pause":
    case "resume":
      return { do: kind, who, lane: chance.of(undefined, "high", "low") };
    case "override": {
      const bounds = chance.of<"target" | "max" | "min">("target", "max", "min");
      return { do: kind, who, bounds: { [bounds]: chance.whole(0, 3) } };
    }
    case "cancel":
    case "revive":
    case "remove":
      return { do: kind, who, which: chance.whole(0, 10_000) };
  }
}

function planOf(chance: Chance): Plan {
  const ms = chance.is(0.02) ? HANGS : chance.is(0.15) ? 4500 : chance.whole(0, 400);
  const end = chance.of("ok", "ok", "ok", "ok", "throw", "later", "fatal", "once");
  return { ms, end, heedsAbort: chance.is(0.6) };
}
