/**
 * Loads the modules that a config names. A module runs code: only what lies in the config's folder
 * is loaded, and what the config allows by name.
 *
 * @module
 */

import { isAbsolute, resolve, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { messageOf } from "../contract/errors.ts";
import { quoted, suggestion } from "../base/suggest.ts";
import { importModule } from "./import.ts";

/** Modules that were loaded, over all reloads of one system. Their code is loaded once. */
export interface KnownModules {
  /** Time of the file's last change when it was loaded, by URL. `undefined`: it is not a file. */
  readonly loaded: Map<string, number | undefined>;
  /** Paths of the files among them, as they were asked for: nothing is looked up on the disk. */
  readonly asked: Set<string>;
  /** Those asked for whose file has changed since: the old code runs on. As `use` writes them. */
  readonly stale: Set<string>;
  /** True: nothing more is loaded. */
  readonly sealed: boolean;
}

/** What modules may be loaded. */
export interface ModuleRules {
  /** Folder that relative modules are looked up from, and must lie in. */
  readonly folder: () => string;
  /** Modules from elsewhere that may be loaded, exactly as `use` writes them, with or without their `#export`. */
  readonly allowed: readonly string[];
  /** What is loaded already. `undefined`: nobody keeps track. */
  readonly known?: KnownModules | undefined;
}

/** What came of loading an export. */
export type Loaded =
  | { readonly ok: true; readonly value: unknown }
  | {
    readonly ok: false;
    /** What is wrong, what is wanted, what to do. */
    readonly message: string;
    /** What was thrown. */
    readonly cause?: unknown;
  };

/** True if `use` is written as a module, allowed or not: any other text is a name. */
export function isModule(use: string): boolean {
  return /^\.{0,2}[/\\]|^[a-z][a-z0-9+.-]+:/i.test(use) || /\.[cm]?[jt]sx?(#.*)?$/.test(use);
}

/**
 * Loads the export that `use` names: `./file.ts#name`; `default` without `#`.
 *
 * @param pointer JSON Pointer to where it is, for a module that ends the process.
 */
export async function loadExport(
  use: string,
  rules: ModuleRules,
  pointer = "",
): Promise<Loaded> {
  const [module = "", name = "default"] = splitExport(use);
  const located = await locate(module, use, rules);
  if (!located.ok) return located;
  const refusal = rules.known && await look(located.url, module, rules.known);
  if (refusal !== undefined) return refusal;
  let exports: Readonly<Record<string, unknown>>;
  try {
    exports = await importModule({ url: located.url, module, pointer });
  } catch (cause) {
    return { ok: false, message: `Cannot load the module "${module}": ${messageOf(cause)}`, cause };
  }
  if (located.path !== undefined) rules.known?.asked.add(located.path);
  if (rules.known?.loaded.has(located.url) === false) {
    rules.known.loaded.set(located.url, await changedAtMs(located.url));
  }
  if (Object.hasOwn(exports, name)) return { ok: true, value: exports[name] };
  const names = Object.keys(exports);
  const message = names.length === 0
    ? `The module "${module}" exports nothing: expected an export "${name}"`
    : `The module "${module}" does not export "${name}"${otherExport(name, module, names)}`;
  return { ok: false, message };
}

/** Looks whether a module is loaded, and still the same. A fault: it is not, and may not be. */
async function look(
  url: string,
  module: string,
  { loaded, stale, sealed }: KnownModules,
): Promise<(Loaded & { readonly ok: false }) | undefined> {
  if (loaded.has(url)) {
    if (loaded.get(url) !== await changedAtMs(url)) stale.add(module);
    return undefined;
  }
  return sealed ? unloaded(module) : undefined;
}

function unloaded(module: string): Loaded & { readonly ok: false } {
  const message =
    `The module "${module}" is not loaded, and HTTP requests may not load code: add it to the config file and reload that`;
  return { ok: false, message };
}

async function changedAtMs(url: string): Promise<number | undefined> {
  if (!url.startsWith("file:")) return undefined;
  try {
    return (await Deno.stat(fileURLToPath(url))).mtime?.getTime();
  } catch {
    return undefined; // a file that is gone has changed
  }
}

function splitExport(use: string): readonly string[] {
  const hash = use.indexOf("#");
  return hash < 0 ? [use] : [use.slice(0, hash), use.slice(hash + 1)];
}

/** `default` is nobody's misspelling: say how to name what there is. */
function otherExport(name: string, module: string, names: readonly string[]): string {
  if (name !== "default") return suggestion(name, names);
  return `: it exports ${quoted(names)}, write "${module}#${names[0]}"`;
}

type Located =
  | {
    readonly ok: true;
    readonly url: string;
    /** Where a file was asked for, links not followed. */
    readonly path?: string;
  }
  | (Loaded & { readonly ok: false });

async function locate(module: string, use: string, rules: ModuleRules): Promise<Located> {
  const scheme = /^([a-z][a-z0-9+.-]+):/i.exec(module)?.[1]?.toLowerCase();
  if (scheme !== undefined && scheme !== "file") {
    if (rules.allowed.includes(use) || rules.allowed.includes(module)) {
      return { ok: true, url: module };
    }
    const message = `A "${scheme}:" module runs code from elsewhere: add "${
      display(use)
    }" to "allowModules" to allow it`;
    return { ok: false, message };
  }
  if (scheme === undefined && !/^\.{1,2}\//.test(module)) {
    const hint = isAbsolute(module) || module.includes("\\") ? "" : `: did you mean "./${use}"?`;
    const message = `A module starts with "./", "../" or "file:" but this is "${use}"${hint}`;
    return { ok: false, message };
  }
  return await locateFile(module, scheme, rules);
}

async function locateFile(
  module: string,
  scheme: string | undefined,
  rules: ModuleRules,
): Promise<Located> {
  let folder: string;
  let file: string;
  let path: string;
  try {
    file = scheme === undefined ? resolve(rules.folder(), module) : fileURLToPath(module);
    // Before the disk is looked at: who may bring no code need not learn what files there are.
    if (rules.known?.sealed && !rules.known.asked.has(file)) return unloaded(module);
    folder = await Deno.realPath(rules.folder());
    path = await Deno.realPath(file);
  } catch (cause) {
    const why = cause instanceof Deno.errors.NotFound
      ? "no such file, relative to the folder of the config"
      : messageOf(cause);
    return { ok: false, message: `Cannot find the module "${module}": ${why}`, cause };
  }
  if (path === folder || (await Deno.stat(path)).isDirectory) {
    const message =
      `The module "${module}" is a folder: name a file in it, such as "./handlers/mail.ts"`;
    return { ok: false, message };
  }
  // The real path is both checked and loaded: a link that changes meanwhile changes nothing.
  const root = folder.endsWith(sep) ? folder : folder + sep;
  if (path.startsWith(root)) {
    return { ok: true, url: pathToFileURL(path).href, path: file };
  }
  const message =
    `The module "${module}" lies outside the folder of the config: move it to "${folder}" or below`;
  return { ok: false, message };
}

function display(use: string): string {
  return use.length > 80 ? `${use.slice(0, 80)}…` : use;
}
