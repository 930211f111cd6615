/**
 * Changes of a config as a search makes them: one value at one place.
 *
 * @module
 */

import { isRecord, type Path } from "../../config/faults.ts";

/** A change of one value. */
export interface Edit {
  /** Where it is. */
  readonly path: Path;
  /** What is there. `undefined`: nothing, the default holds. */
  readonly from: unknown;
  /** What is to be there. `undefined`: nothing. */
  readonly to: unknown;
}

/** What is at a place of a config. `undefined`: nothing. */
export function valueAt(config: unknown, path: Path): unknown {
  let here = config;
  for (const key of path) {
    if (!isRecord(here) && !Array.isArray(here)) return undefined;
    here = Reflect.get(here, key);
  }
  return here;
}

/** A config with one value changed; what does not lie on its path is shared with the given one. */
export function withValue(config: unknown, path: Path, to: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return to;
  if (Array.isArray(config) && typeof key === "number") {
    const changed = withValue(config[key], rest, to);
    return changed === undefined ? config.toSpliced(key, 1) : config.toSpliced(key, 1, changed);
  }
  const record = isRecord(config) ? config : {};
  const changed = withValue(record[key], rest, to);
  if (changed !== undefined) return { ...record, [key]: changed };
  return Object.fromEntries(Object.entries(record).filter(([name]) => name !== String(key)));
}

/** A config with all changes made. */
export function edited(config: unknown, edits: readonly Edit[]): unknown {
  return edits.reduce((changed, { path, to }) => withValue(changed, path, to), config);
}

/**
 * The changes of a candidate and one more. A value that was changed before is changed once, and one
 * that is back where it was is not changed.
 */
export function withEdit(config: unknown, edits: readonly Edit[], edit: Edit): readonly Edit[] {
  const within = ({ path }: Edit) => edit.path.every((key, index) => path[index] === key);
  const from = valueAt(config, edit.path);
  const others = edits.filter((other) => !within(other));
  return same(from, edit.to) ? others : [...others, { ...edit, from }];
}

/** Tells sets of changes apart, in whatever order they were made. */
export function editsKey(edits: readonly Edit[]): string {
  return edits.map(({ path, to }) => JSON.stringify([path, to])).sort().join();
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** A change in one line: `pools.mail.size.max: 32 -> 24`. */
export function editText({ path, from, to }: Edit): string {
  return `${path.join(".")}: ${shown(from)} -> ${shown(to)}`;
}

function shown(value: unknown): string {
  return value === undefined ? "(default)" : JSON.stringify(value);
}
