/**
 * From what is in a slot to a plugin with checked options.
 *
 * @module
 */

import { isAbsolute, resolve } from "node:path";
import { messageOf, OptionError } from "../contract/errors.ts";
import { bind } from "../contract/bind.ts";
import type { Bound, Instances, Kind, Plugin, PluginContext } from "../contract/plugin.ts";
import { nearest } from "../base/suggest.ts";
import { allIssues, optionIssue } from "./check.ts";
import { display, isRecord, type Path, toPointer, unknownKey } from "./faults.ts";
import { findPlugin, isAnyPlugin, type PluginSources } from "./find_plugin.ts";
import { hideSecrets, type ReadEnv, resolveSecrets } from "./secrets.ts";
import { toDisplay } from "./display.ts";

/** What slots are resolved with. */
export interface SlotOptions extends PluginSources {
  /** Reads the environment. */
  readonly env: ReadEnv;
}

/** A slot to resolve. */
export interface SlotPlace<K extends Kind> {
  /** What the plugin must be. */
  readonly kind: K;
  /** What is there. */
  readonly raw: unknown;
  /** Where it is. */
  readonly path: Path;
  /** Context to try the factory in, for faults that only it finds. `undefined`: it is not tried. */
  readonly probe?: PluginContext | undefined;
}

/** What a slot came to. */
export interface ResolvedSlot<K extends Kind> {
  /** The plugin. */
  readonly plugin: Plugin<K>;
  /** The plugin with its options. */
  readonly bound: Bound<K>;
}

/** Resolves one slot. `undefined`: it has faults, which were told. */
export async function resolveSlot<K extends Kind>(
  slot: SlotPlace<K>,
  options: SlotOptions,
): Promise<ResolvedSlot<K> | undefined> {
  const { kind, raw, path } = slot;
  const spelled = isRecord(raw) && !isAnyPlugin(raw) ? raw : undefined;
  if (spelled !== undefined) checkKeys(slot, spelled, options);
  if (spelled !== undefined && spelled.use === undefined) {
    const message = `Expected the key "use" but it is missing: it names the ${kind}`;
    options.faults.add([...path, "use"], message);
    return undefined;
  }
  const plugin = spelled === undefined
    ? await findPlugin(raw, { kind, path }, options)
    : await findPlugin(spelled.use, { kind, path: [...path, "use"] }, options);
  if (plugin === undefined) return undefined;
  const bound = bindOptions(plugin, { slot, given: spelled?.with }, options);
  return bound === undefined ? undefined : { plugin, bound };
}

function checkKeys(
  { kind, path }: SlotPlace<Kind>,
  raw: Readonly<Record<string, unknown>>,
  { faults }: SlotOptions,
): void {
  const known = kind === "cap" ? ["use", "with", "scope", "reportMs"] : ["use", "with"];
  for (const key of Object.keys(raw).filter((key) => !known.includes(key))) {
    faults.add([...path, key], () => unknownKey(key, known), { at: "key" });
  }
}

interface Given<K extends Kind> {
  readonly slot: SlotPlace<K>;
  /** Options as the config gives them. */
  readonly given: unknown;
}

function bindOptions<K extends Kind>(
  plugin: Plugin<K>,
  { slot, given }: Given<K>,
  options: SlotOptions,
): Bound<K> | undefined {
  const path = [...slot.path, "with"];
  if (given !== undefined && !isRecord(given)) {
    options.faults.add(path, `Expected an object but received ${display(given)}`);
    return undefined;
  }
  const { value, secrets, complete } = resolveSecrets(given, path, options);
  if (!complete) return undefined;
  // What is shown may be cut short or escaped: a secret in it would not be found any more.
  const show = (input: unknown): string =>
    typeof input === "string" ? display(hideSecrets(input, secrets)) : display(input);
  const report: Report = (below, message, { at, cause } = {}) => {
    // A cause that holds a secret would be printed with it.
    const isClean = cause !== undefined &&
      hideSecrets(messageOf(cause), secrets) === messageOf(cause);
    const hidden = () => hideSecrets(message(), secrets);
    options.faults.add([...path, ...below], hidden, isClean ? { at, cause } : { at });
  };
  try {
    const issues = allIssues(plugin.options, (rest) => issuesOf(plugin, rest), value);
    for (const issue of issues) {
      const { path: below, message, at } = optionIssue(issue, plugin, show);
      report(below, message, { at });
    }
    const binding = bind(plugin, value, toDisplay(given ?? {}));
    if (issues.length > 0 || !binding.ok) return undefined;
    if (!tryFactory(binding.bound, slot.probe, report)) return undefined;
    const { folder } = options.modules;
    return explained(binding.bound, { path: slot.path, secrets, folder });
  } catch (cause) {
    const message = () => `The options of "${plugin.name}" cannot be checked: ${messageOf(cause)}`;
    report([], message, { cause });
    return undefined;
  }
}

function issuesOf(plugin: Plugin, value: unknown): ReturnType<typeof allIssues> {
  const binding = bind(plugin, value);
  return binding.ok ? [] : binding.issues;
}

type Report = (
  below: Path,
  message: () => string,
  options?: { readonly at?: "key" | "value"; readonly cause?: unknown },
) => void;

/**
 * Makes one instance, to hear what only the factory can judge. False: it failed, which was told.
 * Stores and handlers may own something from the start: they are not tried.
 */
function tryFactory(bound: Bound, probe: PluginContext | undefined, report: Report): boolean {
  if (probe === undefined || bound.kind === "store" || bound.kind === "handler") return true;
  try {
    requireStrategy(bound.kind, bound.create(probe));
    return true;
  } catch (error) {
    if (error instanceof OptionError) {
      report(error.path, () => `${error.message}${laneMeant(error, probe.lanes)}`);
    } else {
      report([], () => couldNotMake(bound, error), { cause: error });
    }
    return false;
  }
}

/** An admission has methods, all other strategies are functions. */
function requireStrategy(kind: Kind, made: unknown): void {
  const methods = kind === "admission";
  if (methods ? isAdmission(made) : typeof made === "function") return;
  const wanted = methods ? "an object with a method submit" : "a function of a view";
  throw new TypeError(`Expected create to answer with ${wanted} but received ${received(made)}`);
}

function isAdmission(made: unknown): boolean {
  return typeof made === "object" && made !== null && "submit" in made &&
    typeof made.submit === "function";
}

function received(made: unknown): string {
  return made instanceof Promise ? "a promise" : display(made);
}

/** For an option that is named after a lane that there is none of. */
function laneMeant({ path, message }: OptionError, lanes: readonly string[]): string {
  const name = path.findLast((key) => typeof key === "string");
  if (typeof name !== "string" || lanes.includes(name)) return "";
  if (!message.includes(name) || message.includes("did you mean")) return "";
  const near = nearest(name, lanes);
  return near === undefined ? "" : `${message.includes(":") ? "," : ":"} did you mean "${near}"?`;
}

interface Explanation {
  readonly path: Path;
  readonly secrets: readonly string[];
  readonly folder: () => string;
}

/** Names kind, plugin and place in whatever the factory throws when it is used, and sees paths from the folder. */
function explained<K extends Kind>(
  bound: Bound<K>,
  { path, secrets, folder }: Explanation,
): Bound<K> {
  const explain = (error: unknown): never => {
    const message = couldNotMake(bound, error);
    const hidden = hideSecrets(message, secrets);
    const cause = hidden === message ? { cause: error } : undefined;
    throw new TypeError(`${toPointer(path)}: ${hidden}`, cause);
  };
  const locate = (file: string): string => isAbsolute(file) ? file : resolve(folder(), file);
  return {
    ...bound,
    create(context) {
      let made: Instances[K];
      try {
        made = bound.create({ locate, ...context });
      } catch (error) {
        return explain(error);
      }
      // Only a store may come as a promise: what it resolves to stays the same.
      return made instanceof Promise ? made.catch(explain) as unknown as Instances[K] : made;
    },
  };
}

function couldNotMake({ kind, name }: Bound, error: unknown): string {
  return `The ${kind} "${name}" could not be made: ${messageOf(error)}`;
}
