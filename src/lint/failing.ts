/**
 * Strategies that fail on plain views: an idle pool, and a busy one with jobs that wait.
 *
 * @module
 */

import { judgeLane } from "../base/answers.ts";
import type { Path } from "../config/faults.ts";
import { viewLane } from "../testing/lane_view.ts";
import { makeView } from "../testing/views.ts";
import { messageOf } from "../contract/errors.ts";
import type { Bound, PluginContext } from "../contract/plugin.ts";
import { createPlanner } from "../planning/planner.ts";
import { MOST_LANES } from "./shares.ts";
import type { PoolSettings } from "../config/settings.ts";
import type { Proposal } from "../contract/strategy.ts";
import type { PoolView } from "../contract/view.ts";
import { type Concern, concern } from "./concern.ts";

/** Controller, lane policy and caps that throw or answer nonsense, as a running pool judges it. */
export function lintFailing(
  pool: PoolSettings,
  path: Path,
  context: PluginContext,
): readonly Concern[] {
  if (pool.lanes.length > MOST_LANES) return []; // a strategy may look at all lanes for each of them
  const views = viewsOf(pool);
  const { controller, lanePolicy, caps } = pool;
  return [
    ...told(controller, [...path, "controller"], faultIn(views, planning(controller, context))),
    ...told(lanePolicy, [...path, "lanePolicy"], faultIn(views, choosing(lanePolicy, context))),
    ...caps.flatMap(({ bound, scope }, index) => {
      const cap = { name: bound.name, scope, run: bound.create(context) };
      const planner = createPlanner({ name: "", run: same }, [cap]);
      const fault = faultIn(views, (view) => planner.plan(view, boundsOf(view)).failures[0]?.error);
      return told(bound, [...path, "caps", index], fault);
    }),
  ];
}

type Try = (view: PoolView) => string | undefined;

function planning(controller: Bound<"controller">, context: PluginContext): Try {
  const { name } = controller;
  const planner = createPlanner({ name, run: controller.create(context) }, []);
  return (view) => planner.plan(view, boundsOf(view)).failures[0]?.error;
}

function choosing(lanePolicy: Bound<"lane-policy">, context: PluginContext): Try {
  const policy = lanePolicy.create(context);
  return (view) => {
    judgeLane(policy(view, view.lanes), view.lanes);
    return undefined;
  };
}

function same({ target }: PoolView): Proposal {
  return { workers: target, reason: "as many as there are" };
}

function faultIn(views: readonly PoolView[], tries: Try): string | undefined {
  for (const view of views) {
    try {
      const fault = tries(view);
      if (fault !== undefined) return fault;
    } catch (thrown) {
      return messageOf(thrown);
    }
  }
  return undefined;
}

function boundsOf({ size: { min, max } }: PoolView): Parameters<
  ReturnType<typeof createPlanner>["plan"]
>[1] {
  return { min, max, target: undefined, starting: 0, shares: undefined, startable: Infinity };
}

/** Signals are as before their first reading. */
function viewsOf(pool: PoolSettings): readonly PoolView[] {
  const signals = Object.fromEntries(
    [...pool.signals.keys()].map((name) => [name, { value: 0, stale: false }]),
  );
  const live = Math.max(1, pool.size.min);
  return [0, live].map((busy) => {
    const waits = busy === 0
      ? {}
      : { ready: 10, running: 1, oldestWaitMs: 100, arrivalsPerSec: 10 };
    const lanes = pool.lanes.map((lane) => ({ ...viewLane(lane), ...waits }));
    return makeView({ pool: pool.name, size: pool.size, live, busy, lanes, signals });
  });
}

function told({ kind, name }: Bound, path: Path, fault: string | undefined): readonly Concern[] {
  if (fault === undefined) return [];
  return [concern({
    code: "strategy-fails",
    severity: "error",
    path,
    message: `The ${kind} "${name}" fails when it is asked: ${fault}`,
    formula: "answers that fail > 0, of an idle and of a busy pool",
    numbers: { failed: 1 },
    change: `Fix it: the checks of @sluice/sluice/testing try a ${kind} on many views`,
  })];
}
