/**
 * Makes what a pool runs with: strategies and handlers. What is configured as before is kept.
 *
 * @module
 */

import { sameLanes } from "../config/diff_lanes.ts";
import { sameBound } from "../config/diff_parts.ts";
import { matchCaps } from "../config/diff_pool.ts";
import { checkPayload } from "./job_input.ts";
import type { Logger } from "../contract/job.ts";
import { Misfit } from "../base/payload.ts";
import type { Named, NamedCap } from "../planning/planner.ts";
import type { Bound, Handler, Instances, Kind, PluginContext } from "../contract/plugin.ts";
import { randomStream } from "../base/random.ts";
import type { PoolSettings } from "../config/settings.ts";
import type { Admission, Controller, LanePolicy, Retirement } from "../contract/strategy.ts";

/** Instances of one pool's plugins. */
export interface PoolInstances {
  /** Handlers by job type; the same map as long as none of them has changed. */
  readonly handlers: ReadonlyMap<string, Handler>;
  /** How many workers? */
  readonly controller: Named<Controller>;
  /** A controller that is asked, without effect. `undefined`: none. */
  readonly shadow: Named<Controller> | undefined;
  /** How far may it grow? */
  readonly caps: readonly NamedCap[];
  /** Which lane next? */
  readonly lanePolicy: Named<LanePolicy>;
  /** Which workers stop? */
  readonly retirement: Named<Retirement>;
  /** Take this job? */
  readonly admission: Named<Admission>;
}

/** What instances are made with. */
export interface MakeOptions {
  /** Seed of all chance. */
  readonly seed: number;
  /** Where plugins log. */
  readonly log: Logger;
  /** What runs already, with the settings it was made of. `undefined`: nothing. */
  readonly before?: { readonly settings: PoolSettings; readonly instances: PoolInstances };
}

/**
 * Makes an instance a slot, or keeps the one that runs: its memory goes on. Controller, lane policy
 * and admission may be made for their lanes: other lanes, other instances.
 *
 * @throws {TypeError} If a plugin cannot be made.
 */
export function makeInstances(settings: PoolSettings, options: MakeOptions): PoolInstances {
  const { before } = options;
  const context = contexts(settings, options);
  const laned = before !== undefined && sameLanes(before.settings, settings) ? before : undefined;

  const handlers = makeHandlers(settings, before, context);
  checkSchedules(settings, handlers);
  return {
    handlers,
    controller: slot("controller", settings.controller, {
      bound: laned?.settings.controller,
      made: laned?.instances.controller,
    }),
    shadow: settings.shadow && slot("shadow", settings.shadow, {
      bound: laned?.settings.shadow,
      made: laned?.instances.shadow,
    }),
    lanePolicy: slot("lanePolicy", settings.lanePolicy, {
      bound: laned?.settings.lanePolicy,
      made: laned?.instances.lanePolicy,
    }),
    retirement: slot("retirement", settings.retirement, {
      bound: before?.settings.retirement,
      made: before?.instances.retirement,
    }),
    admission: slot("admission", settings.admission, {
      bound: laned?.settings.admission,
      made: laned?.instances.admission,
    }),
    caps: makeCaps(settings, before, context),
  };

  function slot<K extends Kind>(key: string, bound: Bound<K>, old: Old<K>): Named<Instances[K]> {
    const isSame = old.bound !== undefined && sameBound(old.bound, bound);
    return isSame && old.made !== undefined ? old.made : named(bound, context(key));
  }
}

/** @throws {TypeError} If what a schedule brings does not fit its handler. */
function checkSchedules(
  { name, schedules }: PoolSettings,
  handlers: ReadonlyMap<string, Handler>,
): void {
  schedules.forEach(({ type, payload }, index) => {
    const schema = handlers.get(type)?.payload;
    const checked = schema === undefined ? undefined : checkPayload(schema, payload);
    if (checked instanceof Misfit) {
      throw new TypeError(`/pools/${name}/schedules/${index}/payload: ${checked.fault}`);
    }
  });
}

/** What stood in a slot. */
interface Old<K extends Kind> {
  readonly bound: Bound<K> | undefined;
  readonly made: Named<Instances[K]> | undefined;
}

type Before = MakeOptions["before"];

type ContextMaker = (slot: string) => PluginContext;

function contexts(settings: PoolSettings, { seed, log }: MakeOptions): ContextMaker {
  return (slot) => ({
    pool: settings.name,
    lanes: settings.lanes.map((lane) => lane.name),
    size: settings.size,
    random: randomStream(seed, `${settings.name}/${slot}`),
    log,
  });
}

function makeHandlers(
  settings: PoolSettings,
  before: Before,
  context: ContextMaker,
): ReadonlyMap<string, Handler> {
  let kept = 0;
  const handlers = new Map<string, Handler>();
  for (const [type, bound] of settings.handlers) {
    const oldBound = before?.settings.handlers.get(type);
    const old = oldBound !== undefined && sameBound(oldBound, bound)
      ? before?.instances.handlers.get(type)
      : undefined;
    if (old !== undefined) kept++;
    handlers.set(type, old ?? bound.create(context(`handlers/${type}`)));
  }
  if (before === undefined || kept !== handlers.size) return handlers;
  return kept === before.instances.handlers.size ? before.instances.handlers : handlers;
}

function makeCaps(
  settings: PoolSettings,
  before: Before,
  context: ContextMaker,
): readonly NamedCap[] {
  const matches = matchCaps(before?.settings.caps ?? [], settings.caps);
  return settings.caps.map(({ bound, scope, shared }, index) => {
    const match = matches[index];
    const old = match === undefined ? undefined : before?.instances.caps[match];
    if (old !== undefined) return old;
    const made = named(bound, context(`caps/${index}`));
    return { ...made, name: shared?.downstream ?? made.name, scope, shared };
  });
}

function named<K extends Kind>(bound: Bound<K>, context: PluginContext): Named<Instances[K]> {
  return { name: bound.name, run: bound.create(context) };
}
