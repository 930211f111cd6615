/**
 * From what `use` says to a plugin: a name, a module, or the thing itself.
 *
 * @module
 */

import type { Job, JobContext } from "../contract/job.ts";
import { defineHandler, isPlugin, type Kind, type Plugin } from "../contract/plugin.ts";
import { nearest, quoted, suggestion } from "../base/suggest.ts";
import { display, type FaultList, type Path, toPointer } from "./faults.ts";
import { isModule, loadExport, type ModuleRules } from "./modules.ts";

/** Where plugins are found. */
export interface PluginSources {
  /** Plugins that every config may name. */
  readonly builtins: readonly Plugin[];
  /** Plugins and handler functions given in code, by the name that a config knows them by. */
  readonly plugins: Readonly<Record<string, unknown>>;
  /** What modules may be loaded. */
  readonly modules: ModuleRules;
  /** Told of all faults. */
  readonly faults: FaultList;
}

/** What is wanted, and where it is. */
export interface Wanted<K extends Kind> {
  /** What the plugin must be. */
  readonly kind: K;
  /** Where `use` is. */
  readonly path: Path;
}

/** Finds the plugin that `use` says. `undefined`: there is none, and a fault says why. */
export async function findPlugin<K extends Kind>(
  use: unknown,
  wanted: Wanted<K>,
  sources: PluginSources,
): Promise<Plugin<K> | undefined> {
  const { kind, path } = wanted;
  if (typeof use !== "string") return accept(use, { ...wanted, from: undefined }, sources);
  if (Object.hasOwn(sources.plugins, use)) {
    return accept(sources.plugins[use], { ...wanted, from: use }, sources);
  }
  const builtin = sources.builtins.find((plugin) => plugin.name === use && plugin.kind === kind);
  if (isPlugin(builtin, kind)) return builtin;
  if (isModule(use)) {
    const loaded = await loadExport(use, sources.modules, toPointer(path));
    if (loaded.ok) return accept(loaded.value, { ...wanted, from: use }, sources);
    sources.faults.add(path, loaded.message, { cause: loaded.cause });
    return undefined;
  }
  const names = namesOf(kind, sources);
  const other = sources.builtins.find((plugin) => plugin.name === use);
  const message = other === undefined || nearest(use, names) !== undefined
    ? `No ${kind} is named "${use}"${suggestion(use, names)}`
    : `${wrongKind(`"${use}"`, other.kind, kind)}: there is ${quoted(names)}`;
  sources.faults.add(path, message);
  return undefined;
}

/** True for a plugin of any kind. */
export function isAnyPlugin(value: unknown): value is Plugin {
  return kinds.some((kind) => isPlugin(value, kind));
}

interface Found<K extends Kind> extends Wanted<K> {
  /** What `use` says. `undefined`: the value itself is in the config. */
  readonly from: string | undefined;
}

function accept<K extends Kind>(
  value: unknown,
  { kind, path, from }: Found<K>,
  { faults }: PluginSources,
): Plugin<K> | undefined {
  if (isPlugin(value, kind)) return value;
  if (kind === "handler" && typeof value === "function" && !isClass(value)) {
    const plugin = handlerPlugin(value, from);
    if (isPlugin(plugin, kind)) return plugin;
  }
  faults.add(
    path,
    isAnyPlugin(value)
      ? wrongKind(`"${from ?? value.name}"`, value.kind, kind)
      : noPlugin(value, kind, from),
  );
  return undefined;
}

/** True for what only `new` can call: as a handler it would fail every job. */
function isClass(value: object): boolean {
  return /^class\b/.test(Function.prototype.toString.call(value));
}

/** Plugins made of functions, by function: a reload that finds the same function finds the same plugin. */
const ofFunctions = new WeakMap<object, Plugin<"handler">>();

function handlerPlugin(run: object, from: string | undefined): Plugin<"handler"> {
  const own = "name" in run && typeof run.name === "string" ? run.name : "";
  const name = from ?? (own || "handler");
  const known = ofFunctions.get(run);
  if (known?.name === name) return known;
  // Called with what every handler is called with: whether it takes that is its author's word.
  const call = run as (job: Job, context: JobContext<undefined>) => unknown;
  const plugin = defineHandler({ name, run: call });
  ofFunctions.set(run, plugin);
  return plugin;
}

function namesOf(kind: Kind, { builtins, plugins }: PluginSources): readonly string[] {
  const given = Object.entries(plugins).filter(([, value]) =>
    isPlugin(value, kind) || (kind === "handler" && typeof value === "function")
  );
  const builtin = builtins.filter((plugin) => plugin.kind === kind).map(({ name }) => name);
  return [...given.map(([name]) => name), ...builtin];
}

function noPlugin(value: unknown, kind: Kind, from: string | undefined): string {
  const made = `a plugin made by ${defineNames[kind]}`;
  const wanted = kind === "handler" ? `a function (job, context) or ${made}` : made;
  const what = typeof value === "function" && isClass(value) ? "a class" : display(value);
  return from === undefined
    ? `Expected a name, { "use", "with" } or ${wanted} but received ${what}`
    : `Expected ${wanted} but "${from}" is ${what}`;
}

function wrongKind(what: string, is: Kind, wanted: Kind): string {
  return `Expected ${article(wanted)} but ${what} is ${article(is)}`;
}

function article(kind: Kind): string {
  return `${/^[aeiou]/.test(kind) ? "an" : "a"} ${kind}`;
}

const defineNames: Readonly<Record<Kind, string>> = {
  "controller": "defineController",
  "lane-policy": "defineLanePolicy",
  "cap": "defineCap",
  "retirement": "defineRetirement",
  "admission": "defineAdmission",
  "store": "defineStore",
  "handler": "defineHandler",
};

// Its keys are exactly the kinds.
const kinds = Object.keys(defineNames) as readonly Kind[];
