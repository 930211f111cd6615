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
      faults.add(path, 'Expected "connections" or "cooldown" but it says nothing of what it bears');
    }
    found.set(name, shape && settingsOf(name, shape));
  }
  return found;
}

type DownstreamShape = InferOutput<typeof downstreamShape>;

function settingsOf(name: string, { connections, cooldown }: DownstreamShape): DownstreamSettings {
  const failures = cooldown?.failures ?? Infinity;
  return { name, connections, cooldown: cooldown && { by: "pool", ...cooldown, failures } };
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
    const { connections } = downstream;
    if (typeof each !== "number" || !Number.isInteger(each) || each < 1) {
      faults.add(here, `Expected a whole number >= 1 but received ${display(each)}`);
      continue;
    }
    if (connections === undefined) continue;
    const cap = defaults.downstream?.connections;
    if (cap === undefined) {
      faults.add(here, "Expected defaults with a cap for connections but they name none");
      continue;
    }
    if (connections > 0 && each > connections) {
      const message = `Expected at most the ${connections} connections of "${name}" ` +
        `but received ${each}: no job could start`;
      faults.add(here, message);
      continue;
    }
    const use = { use: cap, with: { connections, perWorker: each } };
    const resolved = await resolveSlot({ kind: "cap", raw: use, path: here, probe }, options);
    if (resolved === undefined) continue;
    const shared = { downstream: name, what: "connections", permits: connections, each } as const;
    caps.push({ bound: resolved.bound, scope: "cluster", shared });
  }
  return caps;
}
