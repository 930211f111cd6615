/**
 * Routes about the whole: health, config, plugins, metrics.
 *
 * @module
 */

import { Hono } from "hono";
import type { BlankEnv } from "hono/types";
import { readPool } from "../metrics/catalog.ts";
import type { Bound } from "../plugin.ts";
import { optionsSchema } from "../schema.ts";
import type { PoolHandle } from "../sluice.ts";
import type { PluginJson, Readiness, SystemRoutes } from "./api.ts";
import type { AdminContext } from "./context.ts";
import { METRICS_TYPE, renderMetrics } from "./metrics.ts";
import { answer, API_HEADERS } from "./problem.ts";

/** How long a store may take to answer, ms. */
const STORE_ANSWERS_WITHIN_MS = 2_000;

/** A pool that has waited for its store for so long claims nothing, ms. */
const LOOP_STANDS_AFTER_MS = 5_000;

/**
 * Makes the routes that are open to all: they tell no names and no figures.
 *
 * @internal
 */
export function healthRoutes(context: AdminContext): Hono<BlankEnv, SystemRoutes, "/"> {
  let asking: Promise<Readiness> | undefined; // one look serves all who ask meanwhile
  const routes = new Hono()
    .get("/healthz", () => answer({ ok: true }, 200))
    .get("/readyz", async () => {
      asking ??= readiness(context.sluice.pools).finally(() => {
        asking = undefined;
      });
      const found = await asking;
      return answer(found, found.ready ? 200 : 503);
    });
  // The routes of the whole are made in two parts: these stand before the guard.
  return routes as unknown as Hono<BlankEnv, SystemRoutes, "/">;
}

/**
 * Makes the routes that are guarded.
 *
 * @internal
 */
export function systemRoutes(context: AdminContext): Hono<BlankEnv> {
  const { sluice } = context;
  return new Hono()
    .get("/api/config", () => answer(context.show(sluice.config), 200))
    .get(
      "/api/plugins",
      () =>
        answer([
          shown("", sluice.store, context),
          ...sluice.pools.flatMap((pool) => pluginsOf(pool, context)),
        ], 200),
    )
    .get(
      "/metrics",
      () =>
        new Response(renderMetrics(sluice.pools.map(readPool)), {
          headers: { ...API_HEADERS, "content-type": METRICS_TYPE },
        }),
    );
}

async function readiness(pools: readonly PoolHandle[]): Promise<Readiness> {
  const reasons = new Set<string>();
  for (const pool of pools) {
    const { stale, draining, decision, storeWaitMs } = pool.snapshot();
    if (draining) reasons.add("A pool is draining");
    else if (decision === undefined) reasons.add("A pool has not made its first decision");
    if (stale) reasons.add("A store could not be read");
    if (storeWaitMs >= LOOP_STANDS_AFTER_MS) reasons.add("A pool's loop does not advance");
  }
  const answers = await Promise.all(pools.map(storeAnswers));
  if (answers.includes(false)) reasons.add("A store does not answer");
  return reasons.size === 0 ? { ready: true } : { ready: false, reasons: [...reasons] };
}

async function storeAnswers(pool: PoolHandle): Promise<boolean> {
  const late = Promise.withResolvers<false>();
  const timer = setTimeout(() => late.resolve(false), STORE_ANSWERS_WITHIN_MS);
  const look = pool.list({ limit: 1 }).then(() => true, () => false);
  try {
    return await Promise.race([look, late.promise]);
  } finally {
    clearTimeout(timer);
  }
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
