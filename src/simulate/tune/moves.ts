/**
 * What a search may change of a pool: sizes, targets, bounds of lanes, strategies and their options.
 * Rates and connections of what is behind a pool are facts: they stay.
 *
 * @module
 */

import { isRecord, type Path } from "../../config/faults.ts";
import type { PoolSettings } from "../../config/settings.ts";
import { bind } from "../../contract/bind.ts";
import type { Bound, Kind, Plugin } from "../../contract/plugin.ts";
import type { Edit } from "./edit.ts";
import { valueAt } from "./edit.ts";
import type { Clause } from "./goal.ts";

/** Slots whose strategies are searched. */
const SLOTS = ["controller", "lanePolicy", "admission"] as const;

/** The furthest that `size.max` is raised from where the search began. */
const MOST_GROWTH = 4;

/** A pool whose config is searched. */
export interface SearchedPool {
  /** The candidate's settings. */
  readonly settings: PoolSettings;
  /** The whole config that it comes from. */
  readonly config: unknown;
  /** `size.max` before the search. */
  readonly maxBefore: number;
}

/** All changes that are tried next. Some may not fit the pool: resolving the config tells. */
export function movesOf(
  pool: SearchedPool,
  goal: readonly Clause[],
  plugins: readonly Plugin[],
): readonly Edit[] {
  const { settings, config } = pool;
  const root: Path = ["pools", settings.name];
  const edit = (path: Path, to: unknown): Edit => {
    const whole = [...root, ...path];
    return { path: whole, from: valueAt(config, whole), to };
  };
  const adaptive = settings.caps.some(({ bound }) => bound.plugin?.tries);
  return [
    ...sizes(pool, edit),
    ...lanes(settings, goal, edit),
    edit(["adaptive"], adaptive ? false : undefined),
    ...SLOTS.flatMap((key) => {
      const bound = settings[key];
      const options = variants(bound, settings);
      return [
        ...alternatives(bound, plugins).map((name) => edit([key], name)),
        ...options.map((variant) => slotEdit([...root, key], config, { bound, variant })),
      ];
    }),
    ...caps(pool, root),
  ];
}

type MakeEdit = (path: Path, to: unknown) => Edit;

function sizes({ settings, maxBefore }: SearchedPool, edit: MakeEdit): readonly Edit[] {
  const { min, max } = settings.size;
  const most = Math.min(100_000, maxBefore * MOST_GROWTH);
  const maxima = [0.5, 0.75, 0.9, 1.25, 1.5, 2].map((factor) => Math.round(max * factor));
  const minima = [Math.floor(min / 2), min + 1, min + 2, min * 2, Math.ceil(max / 2)];
  return [
    ...numbers(maxima, max, [Math.max(1, min), most]).map((to) => edit(["size", "max"], to)),
    ...numbers(minima, min, [0, max]).map((to) => edit(["size", "min"], to)),
  ];
}

/** Whole numbers within bounds, each once, without the present one. */
function numbers(
  given: readonly number[],
  now: number,
  [least, most]: readonly [number, number],
): readonly number[] {
  return [...new Set(given)].filter((value) => value !== now && value >= least && value <= most);
}

function lanes(
  { lanes }: PoolSettings,
  goal: readonly Clause[],
  edit: MakeEdit,
): readonly Edit[] {
  return lanes.flatMap(({ name, targetWaitMs, maxRunning }, index) => {
    const at = (key: string, to: unknown) => edit(["lanes", index, key], to);
    const asked = goal.find((clause) => clause.lane === name && clause.of !== "done");
    const targets = targetWaitMs !== null
      ? [0.25, 0.5, 2, 4].map((factor) => Math.max(1, targetWaitMs * factor))
      : asked !== undefined && asked.of !== "done"
      ? [asked.mostMs]
      : [];
    const bounds = maxRunning === Infinity
      ? []
      : [Math.ceil(maxRunning / 2), maxRunning * 2, undefined];
    return [
      ...targets.map((to) => at("targetWaitMs", to)),
      ...bounds.map((to) => at("maxRunning", to)),
    ];
  });
}

/** Names of the built-ins that could stand in a slot without any option. */
function alternatives(now: Bound, plugins: readonly Plugin[]): readonly string[] {
  return plugins.filter((plugin) =>
    plugin.kind === now.kind && plugin.name !== now.name && bind(plugin, {}).ok
  ).map(({ name }) => name);
}

function variants(
  { plugin, options }: Bound,
  { lanes, size }: PoolSettings,
): readonly Readonly<Record<string, unknown>>[] {
  return plugin?.variants?.(options, { lanes: lanes.map(({ name }) => name), size }) ?? [];
}

/** Other options of the plugin in a slot: one value where options are written, else the slot. */
function slotEdit(
  path: Path,
  config: unknown,
  { bound, variant }: {
    readonly bound: Bound<Kind>;
    readonly variant: Readonly<Record<string, unknown>>;
  },
): Edit {
  const slot = valueAt(config, path);
  if (!isRecord(slot) || !("use" in slot)) {
    const to = { use: slot ?? bound.name, with: variant };
    return { path, from: slot, to };
  }
  const [[key, to] = ["", undefined]] = Object.entries(variant);
  if (!isRecord(slot.with)) return { path: [...path, "with"], from: slot.with, to: variant };
  return { path: [...path, "with", key], from: slot.with[key], to };
}

/** Caps that say what else could be tried of them: they are a choice, and no fact. */
function caps({ settings, config }: SearchedPool, root: Path): readonly Edit[] {
  const listed = valueAt(config, [...root, "caps"]);
  if (!Array.isArray(listed)) return [];
  return settings.caps.slice(0, listed.length).flatMap(({ bound }, index) =>
    variants(bound, settings).map((variant) =>
      slotEdit([...root, "caps", index], config, { bound, variant })
    )
  );
}

/** What limits a pool from outside, each as a change that takes it away: for what bounds a goal. */
export function limitsOf({ settings, config }: SearchedPool): readonly Edit[] {
  const root: Path = ["pools", settings.name];
  const places: Path[] = [];
  const listed = valueAt(config, [...root, "caps"]);
  if (Array.isArray(listed)) {
    for (const index of listed.keys()) places.push([...root, "caps", index]);
  }
  const uses = valueAt(config, [...root, "uses"]);
  for (const name of Object.keys(isRecord(uses) ? uses : {})) places.push([...root, "uses", name]);
  for (const [index, lane] of settings.lanes.entries()) {
    for (const key of ["maxRunning", "maxRunningPerKey", "maxDepth"] as const) {
      if (lane[key] !== Infinity) places.push([...root, "lanes", index, key]);
    }
  }
  return places.map((path) => ({ path, from: valueAt(config, path), to: undefined }));
}
