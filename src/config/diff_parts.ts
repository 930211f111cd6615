/**
 * What comparisons of configs are made of.
 *
 * @module
 */

import type { ConfigChange } from "../contract/event.ts";
import type { Bound } from "../contract/plugin.ts";
import { type Path, toPointer } from "./faults.ts";
import { toDisplay } from "./display.ts";

/** Effect of what every tick reads. */
export const NEXT_TICK = "Applies from the next tick, which comes at once";

/** Effect of what is read whenever it is needed. */
export const AT_ONCE = "Holds at once";

/**
 * True if both are the same plugin with the same options: an instance of one serves for the other.
 * A secret that has another value than before makes a difference, though it reads the same.
 */
export function sameBound(from: Bound, to: Bound): boolean {
  return from.name === to.name && from.plugin === to.plugin && !differs(from.given, to.given) &&
    !differs(from.options, to.options);
}

/** True if two values differ as far as JSON can say. */
export function differs(from: unknown, to: unknown): boolean {
  return JSON.stringify(toDisplay(from)) !== JSON.stringify(toDisplay(to));
}

/** A slot as a config writes it. */
export function shownSlot({ name, given }: Bound): string | { use: string; with: unknown } {
  const empty = typeof given === "object" && given !== null && Object.keys(given).length === 0;
  return given === undefined || empty ? name : { use: name, with: given };
}

/** How values of an object are compared. */
export interface ChangesOptions {
  /** Where the object is. */
  readonly path: Path;
  /** Name of the lane that it is about. */
  readonly lane?: string | undefined;
  /** True: none of them may change. @default {false} */
  readonly refused?: boolean | undefined;
  /** How a change of a key takes hold. */
  readonly effects: (key: string) => string;
}

/** The keys of an object of plain values that differ. `Infinity` is no bound, and not shown. */
export function changesOf<T extends object>(
  from: T,
  to: T,
  { path, lane, refused = false, effects }: ChangesOptions,
): readonly ConfigChange[] {
  const before = new Map<string, unknown>(Object.entries(from));
  return Object.entries(to).filter(([key, value]) => differs(before.get(key), value)).map(
    ([key, value]): ConfigChange => ({
      pointer: toPointer([...path, key]),
      change: "changed",
      ...(lane === undefined ? {} : { lane }),
      from: shown(before.get(key)),
      to: shown(value),
      refused,
      effect: effects(key),
    }),
  );
}

/** What slots by name, such as handlers by type, differ in. */
export interface NamedOptions<T> {
  /** Where a name is. */
  readonly path: (name: string) => Path;
  /** True if nothing has changed. */
  readonly same: (from: T, to: T) => boolean;
  /** As a config writes it. */
  readonly show: (value: T) => unknown;
  /** How a change takes hold. */
  readonly effect: string;
}

/** The names that were added, removed or mean something else. */
export function changesByName<T>(
  from: ReadonlyMap<string, T>,
  to: ReadonlyMap<string, T>,
  { path, same, show, effect }: NamedOptions<T>,
): readonly ConfigChange[] {
  const rest = { refused: false, effect };
  const changes: ConfigChange[] = [];
  for (const [name, value] of to) {
    const old = from.get(name);
    const pointer = toPointer(path(name));
    if (old === undefined) changes.push({ pointer, change: "added", to: show(value), ...rest });
    else if (!same(old, value)) {
      changes.push({ pointer, change: "changed", from: show(old), to: show(value), ...rest });
    }
  }
  for (const [name, value] of from) {
    if (to.has(name)) continue;
    changes.push({ pointer: toPointer(path(name)), change: "removed", from: show(value), ...rest });
  }
  return changes;
}

function shown(value: unknown): unknown {
  return value === Infinity ? undefined : toDisplay(value);
}
