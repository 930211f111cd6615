/**
 * From one entry of `pools` to what a pool runs with.
 *
 * @module
 */

import type { Bound, Kind } from "../contract/plugin.ts";
import type { PoolSettings } from "./settings.ts";
import type { SignalReader } from "../contract/strategy.ts";
import { type CapDefaults, resolveCaps } from "./caps.ts";
import { cooldownsOf, type UsesOptions } from "./downstreams.ts";
import { checkShape } from "./check.ts";
import {
  display,
  type FaultList,
  isRecord,
  nameFault,
  type Path,
  poolNameFault,
} from "./faults.ts";
import { suggestion } from "../base/suggest.ts";
import { checkLanes, checkWaits, laneSettings } from "./lane.ts";
import { probeOf } from "./probe.ts";
import { poolShape, slotKinds } from "./shape.ts";
import { findSignals, type SignalSources } from "./signals.ts";
import { checkRoutes } from "./routes.ts";
import { checkSchedules } from "./schedules.ts";
import { checkSizes } from "./sizes.ts";
import { resolveSlot, type SlotPlace } from "./slot.ts";

/** What fills slots that are left empty. */
export interface Defaults
  extends CapDefaults, Readonly<Record<Exclude<Kind, "handler" | "cap">, string>> {}

/** What pools are resolved with. */
export interface PoolOptions extends UsesOptions, SignalSources {
  /** What fills slots that are left empty. */
  readonly defaults: Defaults;
  /** True: handlers and signals are not loaded. */
  readonly simulated: boolean;
}

/** Resolves one pool. `undefined`: it has faults, which were told. */
export async function resolvePool(
  name: string,
  raw: unknown,
  options: PoolOptions,
): Promise<PoolSettings | undefined> {
  const path = ["pools", name];
  const { faults, defaults } = options;
  const fault = poolNameFault(name);
  if (fault !== undefined) faults.add(path, fault, { at: "key" });
  const shape = checkShape(poolShape, raw, { path, faults });
  if (!isRecord(raw)) return undefined;
  checkSize(raw.size, [...path, "size"], faults);
  checkWaits(raw.cooldown, "minMs", [...path, "cooldown"], faults);
  const sizes = checkSizes(raw.sizes, raw.size, { path: [...path, "sizes"], faults });
  const lanes = checkLanes(raw.lanes, [...path, "lanes"], faults);
  const probe = probeOf(name, raw);

  const slot = async <K extends Exclude<Kind, "handler" | "cap">>(
    key: keyof typeof slotKinds,
    kind: K,
  ): Promise<Bound<K> | undefined> => {
    const place = { kind, raw: raw[key] ?? defaults[kind], path: [...path, key], probe };
    return (await resolveSlot(place, options))?.bound;
  };
  const handlers = await resolveHandlers(raw, path, options);
  const controller = await slot("controller", slotKinds.controller);
  const shadow = isRecord(raw.shadow) && raw.shadow.controller !== undefined
    ? await resolveSlot({
      kind: "controller",
      raw: raw.shadow.controller,
      path: [...path, "shadow", "controller"],
      probe,
    }, options)
    : undefined;
  checkTimes(raw, path, faults);
  const names = {
    faults,
    lanes: namesOf(raw.lanes),
    types: new Set(isRecord(raw.handlers) ? Object.keys(raw.handlers) : []),
  };
  const routes = checkRoutes(raw.routes, { path: [...path, "routes"], ...names });
  const schedules = checkSchedules(raw.schedules, { path: [...path, "schedules"], ...names });
  const lanePolicy = await slot("lanePolicy", slotKinds.lanePolicy);
  const caps = await resolveCaps(raw, { path, probe, controller }, options);
  const cooldowns = cooldownsOf(raw.uses, options.downstreams);
  const retirement = await slot("retirement", slotKinds.retirement);
  const admission = await slot("admission", slotKinds.admission);
  const signals = isRecord(raw.signals)
    ? options.simulated
      ? unreadSignals(raw.signals)
      : await findSignals(raw.signals, [...path, "signals"], options)
    : new Map();

  if (shape === undefined || controller === undefined || lanePolicy === undefined) return undefined;
  if (retirement === undefined || admission === undefined) return undefined;
  const { size, cooldown, tickMs, leaseMs, timeoutMs, timeoutMsByType, drainMs, keep } = shape;
  const targetWaitMs = targetOf(controller);
  const handOns = { pool: name, onDead: shape.onDead, then: shape.then };
  return {
    name,
    handlers,
    size,
    sizes,
    lanes: lanes.map((lane) => laneSettings(lane, { targetWaitMs, handOns })),
    routes,
    controller,
    shadow: shadow?.bound,
    lanePolicy,
    caps,
    cooldown: cooldown === false
      ? undefined
      : { ...cooldown, failures: cooldown.failures ?? Infinity },
    cooldowns,
    retirement,
    admission,
    signals,
    schedules,
    tickMs,
    leaseMs,
    timeoutMs,
    timeoutMsByType,
    drainMs,
    keep,
  };
}

function checkSize(raw: unknown, path: Path, faults: FaultList): void {
  if (!isRecord(raw)) return;
  const { min, max } = raw;
  if (typeof min !== "number" || typeof max !== "number" || min <= max) return;
  faults.add([...path, "min"], `Expected at most max (${max}) but received ${min}`);
}

/** Times by type name types that there are. */
function checkTimes(raw: Readonly<Record<string, unknown>>, path: Path, faults: FaultList): void {
  if (!isRecord(raw.timeoutMsByType)) return;
  const types = isRecord(raw.handlers) ? Object.keys(raw.handlers) : [];
  for (const type of Object.keys(raw.timeoutMsByType)) {
    if (types.includes(type)) continue;
    const message = () =>
      types.length === 0
        ? "The pool has one handler and no types: set its timeoutMs"
        : `No handler takes jobs of type ${display(type)}${suggestion(type, types)}`;
    faults.add([...path, "timeoutMsByType", type], message, { at: "key" });
  }
}

/** Names of lanes as they stand there: one with a fault has a name too. */
function namesOf(raw: unknown): ReadonlySet<string> {
  const lanes: readonly unknown[] = Array.isArray(raw) ? raw : [];
  return new Set(
    lanes.flatMap((lane) => isRecord(lane) && typeof lane.name === "string" ? [lane.name] : []),
  );
}

async function resolveHandlers(
  raw: Readonly<Record<string, unknown>>,
  path: Path,
  options: PoolOptions,
): Promise<ReadonlyMap<string, Bound<"handler">>> {
  const { handler, handlers } = raw;
  const found = new Map<string, Bound<"handler">>();
  if (handler === undefined && handlers === undefined) {
    const message =
      'Expected the key "handler" or "handlers" but both are missing: what a worker does for each job';
    options.faults.add([...path, "handler"], message);
  }
  if (handler !== undefined && handlers !== undefined) {
    const message = 'Expected either "handler" or "handlers" but received both: remove one';
    options.faults.add([...path, "handlers"], message, { at: "key" });
  }
  const slots: [string, SlotPlace<"handler">][] = handler === undefined
    ? []
    : [["", { kind: "handler", raw: handler, path: [...path, "handler"] }]];
  for (const [type, slot] of isRecord(handlers) ? Object.entries(handlers) : []) {
    const here = [...path, "handlers", type];
    const fault = nameFault(type);
    if (fault !== undefined) options.faults.add(here, fault, { at: "key" });
    slots.push([type, { kind: "handler", raw: slot, path: here }]);
  }
  for (const [type, place] of slots) {
    const bound = options.simulated ? unloadedHandler : (await resolveSlot(place, options))?.bound;
    if (bound !== undefined) found.set(type, bound);
  }
  return found;
}

/** Takes the place of a handler that a simulation replaces. */
const unloadedHandler: Bound<"handler"> = {
  kind: "handler",
  name: "unloaded",
  given: {},
  options: {},
  create: () => {
    throw new TypeError("A simulation does not make the handlers of its config");
  },
};

/** Nothing outside is read in a simulation: strategies see these signals as stale. */
function unreadSignals(raw: Readonly<Record<string, unknown>>): ReadonlyMap<string, SignalReader> {
  const read = (): number => {
    throw new TypeError("A simulation does not read signals");
  };
  return new Map(Object.keys(raw).map((name) => [name, read]));
}

/** What a lane's target is by default: the controller's own, if it has one. */
function targetOf({ options }: Bound<"controller">): number {
  const own = isRecord(options) ? options.targetWaitMs : undefined;
  return typeof own === "number" ? own : 50;
}
