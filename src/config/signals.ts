/**
 * From the `signals` of a pool to functions that read them.
 *
 * @module
 */

import type { SignalReader } from "../contract/strategy.ts";
import { suggestion } from "../base/suggest.ts";
import {
  display,
  type FaultList,
  isRecord,
  nameFault,
  type Path,
  toPointer,
  unknownKey,
} from "./faults.ts";
import { isModule, loadExport, type ModuleRules } from "./modules.ts";

/** Where signal functions are found. */
export interface SignalSources {
  /** Functions given in code, by the name that a config knows them by. */
  readonly signals: Readonly<Record<string, SignalReader>>;
  /** What modules may be loaded. */
  readonly modules: ModuleRules;
  /** Told of all faults. */
  readonly faults: FaultList;
}

/** Finds all functions of `signals`, which is at `path`. */
export async function findSignals(
  raw: Readonly<Record<string, unknown>>,
  path: Path,
  sources: SignalSources,
): Promise<ReadonlyMap<string, SignalReader>> {
  const found = new Map<string, SignalReader>();
  for (const [name, slot] of Object.entries(raw)) {
    const here = [...path, name];
    const fault = nameFault(name);
    if (fault !== undefined) sources.faults.add(here, fault, { at: "key" });
    const reader = await findSignal(slot, here, sources);
    if (reader !== undefined) found.set(name, reader);
  }
  return found;
}

async function findSignal(
  slot: unknown,
  path: Path,
  { signals, modules, faults }: SignalSources,
): Promise<SignalReader | undefined> {
  const use = isRecord(slot) ? slot.use : slot;
  const usePath = isRecord(slot) ? [...path, "use"] : path;
  for (const key of isRecord(slot) ? Object.keys(slot) : []) {
    if (key !== "use") faults.add([...path, key], () => unknownKey(key, ["use"]), { at: "key" });
  }
  if (isReader(use)) return use;
  if (typeof use !== "string") {
    faults.add(
      usePath,
      `Expected { "use": … } with a function, its name or its module but received ${display(use)}`,
    );
    return undefined;
  }
  if (Object.hasOwn(signals, use)) return signals[use];
  if (!isModule(use)) {
    const known = suggestion(use, Object.keys(signals));
    const hint = known === "" ? `: pass it in code, or name a module such as "./${use}.ts"` : known;
    faults.add(usePath, `No signal is named "${use}"${hint}`);
    return undefined;
  }
  const loaded = await loadExport(use, modules, toPointer(usePath));
  if (loaded.ok && isReader(loaded.value)) return loaded.value;
  if (loaded.ok) {
    faults.add(
      usePath,
      `Expected a function that returns a number but "${use}" is ${display(loaded.value)}`,
    );
  } else faults.add(usePath, loaded.message, { cause: loaded.cause });
  return undefined;
}

/** What it returns is looked at each time it is read. */
function isReader(value: unknown): value is SignalReader {
  return typeof value === "function";
}
