/**
 * The caps of a pool: those that its config lists, and the one that judges growth.
 *
 * @module
 */

import type { Bound } from "../contract/plugin.ts";
import type { CapSettings } from "./settings.ts";
import { display, isRecord, type Path } from "./faults.ts";
import { resolveUses, type UsesOptions } from "./downstreams.ts";
import { resolveSlot, type SlotPlace } from "./slot.ts";

/** Least time between two reports about a cluster cap, ms. */
const REPORT_MS = 50;

/** What is beside the caps of a config. */
export interface CapDefaults {
  /** What the key `adaptive` adds. `undefined`: nothing. */
  readonly adaptive?: {
    /** Name of the cap. */
    readonly cap: string;
  } | undefined;
  /** Which caps hold pools to what a named downstream bears. `undefined`: no pool may use one. */
  readonly downstream?: {
    /** Name of the one for connections, with the options `connections` and `perWorker`. */
    readonly connections: string;
    /** Name of the one for rates, with the options `rates` and `callsPerJob`. */
    readonly rates: string;
  } | undefined;
}

/** Where caps stand. */
export interface CapPlace extends Pick<SlotPlace<"cap">, "probe"> {
  /** Where the pool is. */
  readonly path: Path;
  /** The pool's controller. `undefined`: it has faults. */
  readonly controller: Bound<"controller"> | undefined;
}

/** What caps are resolved with. */
export interface CapOptions extends UsesOptions {
  /** What is beside them. */
  readonly defaults: CapDefaults;
}

/** Resolves the caps of a pool. */
export async function resolveCaps(
  pool: Readonly<Record<string, unknown>>,
  place: CapPlace,
  options: CapOptions,
): Promise<readonly CapSettings[]> {
  const { path, probe } = place;
  const caps: CapSettings[] = [];
  for (const [index, slot] of (Array.isArray(pool.caps) ? pool.caps : []).entries()) {
    const here = [...path, "caps", index];
    const resolved = await resolveSlot({ kind: "cap", raw: slot, path: here, probe }, options);
    const given: unknown = isRecord(slot) ? slot.scope : undefined;
    const scope = given ?? resolved?.plugin.scope ?? "process";
    if (scope !== "cluster" && scope !== "process") {
      const message = `Expected "cluster" or "process" but received ${display(scope)}`;
      options.faults.add([...here, "scope"], message);
      continue;
    }
    const reportMs = reportMsIn(slot, { scope, path: [...here, "reportMs"] }, options);
    if (resolved !== undefined) caps.push({ bound: resolved.bound, scope, reportMs });
  }
  const uses = await resolveUses(pool.uses, { path, probe }, options);
  caps.push(...uses.map((cap) => ({ ...cap, reportMs: REPORT_MS })));
  const cap = adaptiveCapOf(pool, place.controller, options);
  if (cap === undefined || caps.some(({ bound }) => bound.name === cap)) return caps;
  const own = { kind: "cap", raw: cap, path: [...path, "adaptive"], probe } as const;
  const resolved = await resolveSlot(own, options);
  return resolved === undefined ? caps : [
    ...caps,
    { bound: resolved.bound, scope: "process", reportMs: REPORT_MS },
  ];
}

interface Reported {
  readonly scope: "cluster" | "process";
  readonly path: Path;
}

/** How often a process may report about its part of a cluster cap. */
function reportMsIn(slot: unknown, { scope, path }: Reported, { faults }: CapOptions): number {
  const given: unknown = isRecord(slot) ? slot.reportMs : undefined;
  if (given === undefined) return REPORT_MS;
  if (scope === "process") {
    const message =
      'Expected no reportMs beside "scope": "process": nothing is reported, so remove it';
    faults.add(path, message, { at: "key" });
  } else if (typeof given !== "number" || !(given >= 1) || given === Infinity) {
    faults.add(path, `Expected a number >= 1 but received ${display(given)}`);
  } else return given;
  return REPORT_MS;
}

/** The cap that judges growth. `undefined`: none is wanted, or the pool has one size or is asked for one. */
function adaptiveCapOf(
  { adaptive, size }: Readonly<Record<string, unknown>>,
  controller: Bound<"controller"> | undefined,
  { defaults }: CapOptions,
): string | undefined {
  if (defaults.adaptive === undefined || adaptive === false) return undefined;
  if (isRecord(size) && size.min === size.max) return undefined;
  const isNeeded = controller !== undefined && controller.plugin?.constant !== true;
  return isNeeded ? defaults.adaptive.cap : undefined;
}
