/**
 * Named downstreams, and what pools use of them: caps whose permits several pools share.
 *
 * @module
 */

import type { InferOutput } from "valibot";
import type { PluginContext } from "../contract/plugin.ts";
import { suggestion } from "../base/suggest.ts";
import type { CapDefaults } from "./caps.ts";
import { checkShape } from "./check.ts";
import { display, type FaultList, isRecord, nameFault, type Path } from "./faults.ts";
import { checkWaits } from "./lane.ts";
import type { CapSettings, CooldownSettings, DownstreamSettings } from "./settings.ts";
import { downstreamShape } from "./shape.ts";
import { resolveSlot, type SlotOptions } from "./slot.ts";

/** What a rate leaves free, at most: the default of the cap for a window of a second. */
const HEADROOM = 0.04;

/** What uses are resolved with. */
export interface UsesOptions extends SlotOptions {
  /** The downstreams that there are; those with faults too. */
  readonly downstreams: ReadonlyMap<string, DownstreamSettings | undefined>;
  /** Which caps hold pools to them. */
  readonly defaults: CapDefaults;
}

/** Resolves `downstreams`. `undefined`: that one has faults, which were told. */
export function resolveDownstreams(
  raw: unknown,
  faults: FaultList,
): ReadonlyMap<string, DownstreamSettings | undefined> {
  const found = new Map<string, DownstreamSettings | undefined>();
  for (const [name, own] of Object.entries(isRecord(raw) ? raw : {})) {
    const path = ["downstreams", name];
    const fault = nameFault(name);
    if (fault !== undefined) faults.add(path, fault, { at: "key" });
    const shape = checkShape(downstreamShape, own, { path, faults });
    if (isRecord(own)) checkWaits(own.cooldown, "minMs", [...path, "cooldown"], faults);
    if (shape !== undefined && Object.keys(own as object).length === 0) { // its shape is an object's
      faults.add(
        path,
        'Expected "connections", "rates" or "cooldown" but it says nothing of what it bears',
      );
    }
    found.set(name, shape && settingsOf(name, shape));
  }
  return found;
}

type DownstreamShape = InferOutput<typeof downstreamShape>;

function settingsOf(
  name: string,
  { connections, rates = [], cooldown }: DownstreamShape,
): DownstreamSettings {
  const failures = cooldown?.failures ?? Infinity;
  return { name, connections, rates, cooldown: cooldown && { by: "pool", ...cooldown, failures } };
}

/** What opens the circuit breakers of downstreams that a pool uses. */
export function cooldownsOf(
  uses: unknown,
  downstreams: UsesOptions["downstreams"],
): ReadonlyMap<string, CooldownSettings> {
  return new Map(
    Object.keys(isRecord(uses) ? uses : {}).flatMap((name) => {
      const rules = downstreams.get(name)?.cooldown;
      return rules === undefined ? [] : [[name, rules]];
    }),
  );
}

/** Where the uses of a pool are. */
export interface UsesPlace {
  /** Where the pool is. */
  readonly path: Path;
  /** Context to try caps in. */
  readonly probe: PluginContext | undefined;
}

/** The cap that a use comes to. */
export type UseSettings = Omit<CapSettings, "reportMs">;

/** Resolves what a pool uses, to a cap each. */
export async function resolveUses(
  raw: unknown,
  { path, probe }: UsesPlace,
  options: UsesOptions,
): Promise<readonly UseSettings[]> {
  const { downstreams, faults, defaults } = options;
  const caps: UseSettings[] = [];
  for (const [name, each] of Object.entries(isRecord(raw) ? raw : {})) {
    const here = [...path, "uses", name];
    if (!downstreams.has(name)) {
      const near = suggestion(name, downstreams.keys());
      faults.add(here, () => `No downstream is named ${display(name)}${near}`, { at: "key" });
      continue;
    }
    const downstream = downstreams.get(name);
    if (downstream === undefined) continue;
    if (typeof each !== "number" || !Number.isInteger(each) || each < 1) {
      faults.add(here, `Expected a whole number >= 1 but received ${display(each)}`);
      continue;
    }
    const fault = tooMuch(downstream, each);
    if (fault !== undefined) {
      faults.add(here, fault);
      continue;
    }
    for (const { what, connections, options: given } of needsOf(downstream, each)) {
      const cap = defaults.downstream?.[what];
      if (cap === undefined) {
        faults.add(here, `Expected defaults with a cap for ${what} but they name none`);
        continue;
      }
      const slot = { kind: "cap", raw: { use: cap, with: given }, path: here, probe } as const;
      const resolved = await resolveSlot(slot, options);
      if (resolved === undefined) continue;
      const shared = { downstream: name, what, connections, each };
      caps.push({ bound: resolved.bound, scope: "cluster", shared });
    }
  }
  return caps;
}

interface UseNeed {
  readonly what: "connections" | "rates";
  readonly connections: number;
  /** Options of the cap. */
  readonly options: Readonly<Record<string, unknown>>;
}

function needsOf({ connections, rates }: DownstreamSettings, each: number): readonly UseNeed[] {
  const needs: UseNeed[] = [];
  if (connections !== undefined) {
    needs.push({ what: "connections", connections, options: { connections, perWorker: each } });
  }
  if (rates.length > 0) {
    needs.push({ what: "rates", connections: Infinity, options: { rates, callsPerJob: each } });
  }
  return needs;
}

/** Why no job could ever start that needs so much. `undefined`: one could. */
function tooMuch(
  { name, connections, rates }: DownstreamSettings,
  each: number,
): string | undefined {
  if (connections !== undefined && connections > 0 && each > connections) {
    return `Expected at most the ${connections} connections of "${name}" but received ${each}: no job could start`;
  }
  const slow = rates.find(({ calls }) => Math.ceil(calls * (1 - HEADROOM)) < each);
  if (slow === undefined) return undefined;
  const { calls, perMs } = slow;
  return `Expected at most the ${calls} calls in ${perMs} ms of "${name}" but received ${each}: ` +
    "give its rate as more calls in a longer window";
}
