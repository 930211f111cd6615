/**
 * How far a pool can grow and how fast it can start jobs: its caps, asked as the runtime asks them.
 *
 * @module
 */

import type { Path } from "../config/faults.ts";
import { isRecord } from "../config/faults.ts";
import { makeView } from "../testing/views.ts";
import { limitsIn } from "../planning/planner.ts";
import { windowOf } from "../planning/start_window.ts";
import type { PluginContext } from "../contract/plugin.ts";
import type { CapSettings, PoolSettings } from "../config/settings.ts";
import type { Limit } from "../contract/strategy.ts";

/** What one cap allows while nothing is wrong. */
export interface CapBound {
  /** Name of the plugin. */
  readonly name: string;
  /** For texts: `cap "NAME"`, or the downstream that it is about. */
  readonly title: string;
  /** Where it is. */
  readonly path: Path;
  /** Its options as checked. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Most workers, whole. `Infinity`: no bound. */
  readonly workers: number;
  /** Most starts per second. `Infinity`: no bound. */
  readonly startsPerSec: number;
  /** The longest window of its rates, ms. 0: it has none. */
  readonly windowMs: number;
  /** Most starts per second of lanes that have rates of their own. */
  readonly laneRates: ReadonlyMap<string, number>;
  /** Over how many processes it holds. */
  readonly scope: CapSettings["scope"];
}

/** What holds a pool back, by name and place. */
export interface Binder {
  /** For texts: `size.max`, `cap "NAME"` or `downstream "NAME"`. */
  readonly name: string;
  /** Where it is. */
  readonly path: Path;
}

/** The bounds of one pool in one process. */
export interface Bounds {
  /** Its caps, in config order. */
  readonly caps: readonly CapBound[];
  /** Most workers that `size.max` and the caps allow. */
  readonly workers: number;
  /** What allows no more. */
  readonly binder: Binder;
  /** Most starts per second. `Infinity`: no bound. */
  readonly startsPerSec: number;
  /** The cap that sets it. `undefined`: none does. */
  readonly rateCap: CapBound | undefined;
}

/** Asks the caps of a pool. A cap that learns is asked before it has learned anything. */
export function boundsOf(pool: PoolSettings, path: Path, context: PluginContext): Bounds {
  const caps = pool.caps.map((cap, index) =>
    askCap(cap, { pool, path: [...path, ...placeOf(cap, index)], context })
  );
  let workers = pool.size.max;
  let binder: Binder = { name: "size.max", path: [...path, "size", "max"] };
  let startsPerSec = Infinity;
  let rateCap: CapBound | undefined;
  for (const cap of caps) {
    if (cap.workers < workers) {
      workers = cap.workers;
      binder = { name: cap.title, path: cap.path };
    }
    if (cap.startsPerSec < startsPerSec) {
      startsPerSec = cap.startsPerSec;
      rateCap = cap;
    }
  }
  return { caps, workers, binder, startsPerSec, rateCap };
}

function placeOf({ shared }: CapSettings, index: number): Path {
  return shared === undefined ? ["caps", index] : ["uses", shared.downstream];
}

interface CapPlace {
  readonly pool: PoolSettings;
  readonly path: Path;
  readonly context: PluginContext;
}

function askCap(
  { bound, shared, scope }: CapSettings,
  { pool, path, context }: CapPlace,
): CapBound {
  const options = isRecord(bound.options) ? bound.options : {};
  const { min, max } = pool.size;
  const lanes = pool.lanes.map(({ name }) => ({ name }));
  const [least, most] = [min, max].map((live) => {
    const view = makeView({
      pool: pool.name,
      lanes,
      size: pool.size,
      live,
      busy: live,
      limit: max,
    });
    return answerOf(() => bound.create(context)(view, max));
  }) as [Answer, Answer]; // one each
  return {
    name: bound.name,
    title: shared === undefined ? `cap "${bound.name}"` : `downstream "${shared.downstream}"`,
    path,
    options,
    scope,
    workers: Math.max(least.workers, most.workers),
    startsPerSec: Math.max(least.startsPerSec, most.startsPerSec),
    windowMs: Math.max(least.windowMs, most.windowMs),
    laneRates: most.laneRates,
  };
}

type Answer = Pick<CapBound, "workers" | "startsPerSec" | "windowMs" | "laneRates">;

/** A cap that fails says nothing: the pool will tell of it when it runs. */
function answerOf(ask: () => Limit): Answer {
  try {
    const limit = ask();
    const limits = limitsIn(limit);
    const slowest = (lane?: string): number => {
      const own = limits.filter((limit) => limit.lane === lane);
      return Math.min(Infinity, ...own.map(({ starts, perMs }) => starts * 1000 / perMs));
    };
    const named = limits.flatMap(({ lane }) => lane ?? []);
    const windows = limits.map((limit) => limit.starts > 0 ? windowOf(limit).perMs : 0);
    return {
      workers: whole(limit.workers),
      startsPerSec: slowest(),
      windowMs: Math.max(0, ...windows),
      laneRates: new Map(named.map((lane) => [lane, slowest(lane)])),
    };
  } catch { // see above
    return { workers: Infinity, startsPerSec: Infinity, windowMs: 0, laneRates: new Map() };
  }
}

function whole(workers: number): number {
  return workers >= 0 ? Math.floor(workers + 1e-9) : Infinity;
}
