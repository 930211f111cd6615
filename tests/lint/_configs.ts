/**
 * Configs of one pool, resolved, for tests of the feasibility check.
 *
 * @module
 */

import * as v from "valibot";
import { builtins, defaults } from "../../plugins/mod.ts";
import type { ConfigInput } from "../../src/config/input.ts";
import { type Concern, lint, type Platform } from "../../src/lint/mod.ts";
import {
  defineCap,
  defineController,
  defineLanePolicy,
  defineStore,
} from "../../src/contract/plugin.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import { makeLane } from "../../src/testing/views.ts";
import type { Settings } from "../../src/config/settings.ts";
import { denoKv } from "../../stores/deno_kv/mod.ts";
import { memory } from "../../stores/memory/mod.ts";

type Pool = ConfigInput["pools"][string];

/** What varies of a config in a test. */
export interface Given {
  /** Parts of the pool; lanes are `high` and `low` unless given. */
  readonly pool?: Partial<Pool>;
  /** Parts of a second pool, named `q`. @default {there is none} */
  readonly beside?: Partial<Pool>;
  /** Downstreams. @default {none} */
  readonly downstreams?: ConfigInput["downstreams"];
  /** The store. @default {memory} */
  readonly store?: "memory" | "durable" | "deno-kv";
}

/** A cap as a user may write one: workers for a rate, by the formula of the experiments. */
const seedCap = defineCap({
  name: "seed-cap",
  options: v.strictObject({ callsPerSec: v.number(), serviceMs: v.number() }),
  create: ({ callsPerSec, serviceMs }) => () => ({
    workers: Math.max(1, Math.floor(callsPerSec * serviceMs / 1000)),
    reason: "rate x time",
  }),
});

/** A cap that fails. */
const brokenCap = defineCap({
  name: "broken-cap",
  create: () => {
    let asked = 0;
    return () => {
      if (asked++ >= 0) throw new Error("not today");
      return { workers: 1, reason: "" };
    };
  },
});

/** A controller that answers nonsense, but only once jobs wait. */
const brokenController = defineController({
  name: "broken-controller",
  create: () => ({ lanes }) => ({ workers: lanes[0]?.ready === 0 ? 1 : NaN, reason: "" }),
});

/** A lane policy that answers with a lane of its own. */
const brokenPolicy = defineLanePolicy({
  name: "broken-policy",
  create: () => () => makeLane({ name: "mine" }),
});

/** A lane policy that says what it goes by. */
const weighed = defineLanePolicy({
  name: "weighed",
  reads: ["weight"],
  create: () => (_, eligible) => eligible.toSorted((a, b) => b.weight - a.weight)[0],
});

/** A cap that goes by a signal. */
const signalCap = defineCap({
  name: "signal-cap",
  create: () => ({ signals }) => ({ workers: 40 - signals.load!.value, reason: "by load" }),
});

/** Stores that say how they are named; they are never made. */
function storeNamed(name: string): ReturnType<typeof defineStore> {
  return defineStore({ name, create: () => memory.create({}, never()) });
}

function never(): never {
  throw new Error("The check opens no store");
}

const PLUGINS = {
  "seed-cap": seedCap,
  "broken-cap": brokenCap,
  "broken-controller": brokenController,
  "broken-policy": brokenPolicy,
  "weighed": weighed,
  "signal-cap": signalCap,
  "durable": storeNamed("durable"),
  "deno-kv": { ...storeNamed("deno-kv"), measured: denoKv.measured },
};

/** Resolves a config of one pool named `p`. */
export async function settingsOf(
  { pool = {}, beside, store = "memory", downstreams = {} }: Given,
): Promise<Settings> {
  const full = {
    handler: "sleep",
    size: { min: 1, max: 32 },
    lanes: [{ name: "high" }, { name: "low" }],
  };
  const config = {
    store,
    downstreams,
    pools: {
      p: { ...full, ...pool },
      ...(beside === undefined ? {} : { q: { ...full, ...beside } }),
    },
  } as ConfigInput; // parts of a test may be of any shape
  return await resolveConfig(config, {
    builtins,
    defaults,
    plugins: PLUGINS,
    signals: { load: () => 0 },
  });
}

/** What is wrong with a config of one pool. */
export async function concernsOf(
  given: Given,
  platform?: Platform,
): Promise<readonly Concern[]> {
  return lint(await settingsOf(given), platform);
}
