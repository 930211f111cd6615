/**
 * Endpoints of the whole: health, config, plugins, metrics.
 *
 * @module
 */

import type { Context } from "hono";
import { isLoopback } from "../../config/loopback.ts";
import type { Bound } from "../../contract/plugin.ts";
import { optionsSchema } from "../../config/schema.ts";
import type { PoolHandle, PoolSnapshot } from "../../runtime/handles.ts";
import { peerOf } from "../access/actor.ts";
import type { SystemEndpoints } from "../http/endpoints.ts";
import type { ConfigJson, PluginJson, Readiness } from "../http/wire.ts";
import type { AdminContext } from "./context.ts";
import { METRICS_TYPE, renderInTurns } from "./metrics.ts";
import { answer, API_HEADERS } from "../http/problem.ts";
import type { Handlers } from "./route.ts";
import { StoreLooks } from "./store_looks.ts";

/** A pool that has waited for its store for so long claims nothing, ms. */
const LOOP_STANDS_AFTER_MS = 5_000;

/** How long the instance is not ready after the store failed to take a job, ms. Balancers send it none then. */
const REFUSES_FOR_MS = 10_000;

/** A pool whose workers are all stuck is not ready once a job has waited for so long, ms. */
const HUNG_AFTER_MS = 60_000;

/** Handlers of the endpoints of the whole, but for events and reload. */
export function systemHandlers(
  context: AdminContext,
): Omit<
  Handlers<SystemEndpoints>,
  "GET /api/events" | "GET /api/events/past" | "POST /api/reload"
> {
  const { sluice } = context;
  const looks = new StoreLooks();
  return {
    "GET /api/config": {
      // A config is an object, and showing one keeps its form.
      run: () => answer(context.show(sluice.config) as ConfigJson, 200),
    },
    "GET /api/plugins": { run: () => answer(allPlugins(context), 200) },
    // What follows is asked by machines, and answers whatever query they add.
    "GET /metrics": async () =>
      new Response(await renderInTurns(sluice.pools), {
        headers: { ...API_HEADERS, "content-type": METRICS_TYPE },
      }),
    "GET /healthz": () => answer({ ok: true }, 200),
    "GET /readyz": async (c) => {
      const { pools } = sluice;
      await looks.again(pools);
      const hindrances = pools.flatMap((pool) => hindrancesOf(pool, looks));
      const found = readinessOf(hindrances, mayKnowNames(c, context));
      return answer(found, found.ready ? 200 : 503);
    },
  };
}

/** Something that keeps a pool from its work. */
interface Hindrance {
  /** Name of the pool. */
  readonly pool: string;
  /** What it is, said of "a pool": `is draining`. */
  readonly says: string;
}

/** Names of pools are for those who may ask for the pools. */
function mayKnowNames(c: Context, { identify }: AdminContext): boolean {
  const actor = identify(c);
  if (actor?.by !== "loopback") return actor !== undefined;
  const peer = peerOf(c.env);
  return peer === undefined || isLoopback(peer);
}

function readinessOf(found: readonly Hindrance[], named: boolean): Readiness {
  if (found.length === 0) return { ready: true };
  const reasons = found.map(({ pool, says }) => `${named ? `Pool "${pool}"` : "A pool"} ${says}`);
  return { ready: false, reasons: [...new Set(reasons)] };
}

function hindrancesOf(handle: PoolHandle, looks: StoreLooks): readonly Hindrance[] {
  const says = [...hindrancesIn(handle.snapshot())];
  if (looks.failed(handle)) says.push("has a store that does not answer");
  return says.map((text) => ({ pool: handle.name, says: text }));
}

function* hindrancesIn(pool: PoolSnapshot): Iterable<string> {
  if (pool.stopped) yield "has stopped";
  else if (pool.draining) yield "is draining";
  else if (pool.worked && pool.decision === undefined) yield "has not made its first decision";
  if (pool.stale) yield "has a store that could not be read or written";
  if (refusesJobs(pool)) yield "has a store that failed to store the latest job";
  if (pool.storeWaitMs >= LOOP_STANDS_AFTER_MS) yield "has a loop that does not advance";
  if (isHung(pool)) yield "has no worker for a job: all are stuck";
}

function refusesJobs({ nowMs, storeRefusedAtMs = -Infinity }: PoolSnapshot): boolean {
  return nowMs - storeRefusedAtMs < REFUSES_FOR_MS;
}

function isHung({ live, workers, lanes }: PoolSnapshot): boolean {
  return live === 0 && workers.some(({ state }) => state === "stuck") &&
    lanes.some(({ ready, oldestWaitMs }) => ready > 0 && oldestWaitMs >= HUNG_AFTER_MS);
}

/** The store and the plugins of each pool. */
export function allPlugins(context: AdminContext): readonly PluginJson[] {
  const { store, pools } = context.sluice;
  return [shown("", store, context), ...pools.flatMap((pool) => pluginsOf(pool, context))];
}

function pluginsOf(pool: PoolHandle, context: AdminContext): readonly PluginJson[] {
  const { settings } = pool;
  const of = (bound: Bound): PluginJson => shown(pool.name, bound, context);
  const handlers = [...settings.handlers].map(([type, bound]) =>
    type === "" ? of(bound) : { ...of(bound), type }
  );
  return [
    ...handlers,
    of(settings.controller),
    of(settings.lanePolicy),
    ...settings.caps.map((cap) => of(cap.bound)),
    of(settings.retirement),
    of(settings.admission),
  ];
}

/** A plugin as shown, with what its options may be. */
function shown(pool: string, bound: Bound, context: AdminContext): PluginJson {
  const { kind, name, given, schema } = bound;
  return {
    pool,
    kind,
    name,
    ...(given === undefined ? {} : { with: context.show(given) }),
    options: optionsSchema({ options: schema }),
  };
}
