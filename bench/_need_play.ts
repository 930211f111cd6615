/**
 * Plays a load on a watched pool, and reads what it came to.
 *
 * @module
 */

import { builtins } from "../plugins/mod.ts";
import type { ConfigInput } from "../src/config/input.ts";
import type { Plugin } from "../src/contract/plugin.ts";
import { type PoolReport, simulate } from "../src/simulate/mod.ts";
import type { Figures } from "./_bench.ts";
import type { NeedLoad } from "./_need_loads.ts";
import { type Start, Watch } from "./_need_watch.ts";

/** A run that has ended. */
export interface Played {
  readonly watch: Watch;
  readonly report: PoolReport;
}

/** A wait is late above its target by more than rounding. */
const GRAIN_MS = 0.001;

/** Plays a load once. */
export async function playNeed(
  { pool, lanes, durationMs, more }: NeedLoad,
  seed: number,
): Promise<Played> {
  const watch = new Watch();
  const { controller = "age-scaler", ...rest } = pool;
  const { use, with: options = {} } = typeof controller === "string"
    ? { use: controller }
    : controller as { readonly use: string; readonly with?: unknown };
  const plugin = builtins.find((plugin) => plugin.kind === "controller" && plugin.name === use);
  const config: ConfigInput = {
    pools: {
      p: {
        handler: "http",
        adaptive: false,
        timeoutMs: 3_600_000,
        ...rest,
        controller: watch.controller(plugin as Plugin<"controller">, options),
        admission: watch.admission(),
      },
    },
  };
  const report = await simulate(config, {
    durationMs,
    timerLateMs: { kind: "exponential", ms: 0.5 },
    ...more,
    pools: { p: { lanes } },
  }, { seed });
  return { watch, report: report.pools.p! };
}

/** What lanes with targets waited, over all runs. */
function waits({ pool }: NeedLoad, played: readonly Played[]): Figures {
  let late = 0, longest = 0, started = 0;
  for (const { name, targetWaitMs = 50 } of pool.lanes) {
    if (targetWaitMs === null) continue;
    for (const { watch } of played) {
      for (const { waitMs } of watch.starts.get(name) ?? []) {
        started++;
        if (waitMs > targetWaitMs + GRAIN_MS) late++;
        longest = Math.max(longest, waitMs / targetWaitMs);
      }
    }
  }
  return { late, of: started, "longest wait by target": longest };
}

/** Changes and workers of a steady load, from `fromMs` on. */
function steady(load: NeedLoad, played: readonly Played[]): Figures {
  const { fromMs, durationMs } = load;
  const changes = played.map(({ watch }) => watch.changesPerMin(fromMs, durationMs));
  return {
    "changes/min": mean(changes),
    worst: Math.max(...changes),
    workers: mean(played.map(({ watch }) => watch.meanWorkers(fromMs, durationMs))),
    peak: Math.max(...played.map(({ watch }) => watch.peakWorkers(fromMs))),
  };
}

/** Workers before and after a spike that ends after 35 s, and what a backlog got later. */
function spike({ fromMs, durationMs }: NeedLoad, played: readonly Played[]): Figures {
  const workers = (from: number, until: number): number =>
    mean(played.map(({ watch }) => watch.meanWorkers(from, until)));
  const started = (starts: readonly Start[] = []): number =>
    starts.filter(({ atMs }) => atMs >= fromMs).length;
  const batch = played.map(({ watch }) => started(watch.starts.get("batch")));
  return {
    "25 to 30 s": workers(25_000, 30_000),
    "at 45 s": mean(played.map(({ watch }) => watch.workersAt(45_000))),
    "60 to 120 s": workers(60_000, 120_000),
    "batch/s": mean(batch) * 1000 / (durationMs - fromMs),
  };
}

/** What a backlog waited, and when the last of it started. */
function drained(played: readonly Played[]): Figures {
  const starts = played.map(({ watch }) => watch.starts.get("batch") ?? []);
  return {
    "last start s": mean(starts.map((list) => (list.at(-1)?.atMs ?? 0) / 1000)),
    "longest wait s": most(starts.flatMap((list) => list.map(({ waitMs }) => waitMs / 1000))),
    done: mean(played.map(({ report }) => report.lanes["batch"]?.done ?? 0)),
    arrived: mean(played.map(({ report }) => report.lanes["batch"]?.arrived ?? 0)),
  };
}

/** Plays a load with each seed, and gives its figures. */
export async function measureNeed(load: NeedLoad, seeds: readonly number[]): Promise<Figures> {
  const played: Played[] = [];
  for (const seed of seeds) played.push(await playNeed(load, seed));
  return {
    ...steady(load, played),
    ...waits(load, played),
    ...(load.family === "spike" ? spike(load, played) : {}),
    ...(load.family === "drain" ? drained(played) : {}),
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function most(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), 0);
}
