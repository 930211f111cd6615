/**
 * Reloads a system that this process runs: at a signal, and when its files change.
 *
 * @module
 */

import { dirname, join, resolve } from "node:path";
import { ConfigError, formatFault, messageOf } from "../contract/errors.ts";
import type { Logger } from "../contract/job.ts";
import type { Sluice } from "../runtime/handles.ts";
import { printChanges } from "./changes.ts";
import type { Io } from "./io.ts";
import { json, line } from "./print.ts";

/** What is reloaded, and how that is reported. */
export interface ReloadOnOptions {
  /** Config file that it runs. */
  readonly file: string;
  /** True: also when the file or a module beside it changes. */
  readonly watch: boolean;
  /** True: tells in JSON. */
  readonly json: boolean;
  /** The world around. */
  readonly io: Io;
  /** Gets faults. */
  readonly log: Logger;
}

/** Time between two looks at the files, ms. */
const LOOK_MS = 200;

/** Reloads at each SIGHUP, and at changes if that is wanted, until what it returns is called. */
export function reloadOn(sluice: Sluice, options: ReloadOnOptions): () => Promise<void> {
  const reload = (saved: readonly string[]): Promise<void> => reloadAndTell(sluice, saved, options);
  const unlisten = options.io.onHangup(() => reload([]));
  const watching = options.watch ? watch(options, reload) : undefined;
  return async () => {
    unlisten();
    await watching?.();
  };
}

/** @param saved Names of modules beside the config that were saved since the last reload. */
async function reloadAndTell(
  sluice: Sluice,
  saved: readonly string[],
  options: ReloadOnOptions,
): Promise<void> {
  const { io, log } = options;
  try {
    const report = await sluice.reload();
    if (options.json) return json(io, { reloaded: true, ...report });
    line(io, `Reloaded ${options.file}`);
    printChanges(io, report);
    // What the config names is among the stale ones; which modules those import is not known.
    for (const name of saved.filter((one) => !report.stale.some((use) => use.includes(one)))) {
      line(io, `"${name}" was saved: where it is loaded, its old code runs on until a restart`);
    }
  } catch (thrown) {
    const faults = thrown instanceof ConfigError
      ? thrown.faults.map(formatFault)
      : [messageOf(thrown)];
    for (const fault of faults) log.error(fault);
    log.warn("The config was not loaded: the previous one stays in use", { faults: faults.length });
  }
}

/**
 * Looks at the config and the modules beside it again and again. Not by `Deno.watchFs`: that opens and
 * closes each file that changes in a folder, and with a database there takes the locks off it that
 * this process holds (POSIX gives up all locks of a file when any handle on it is closed).
 */
function watch(
  options: ReloadOnOptions,
  reload: (saved: readonly string[]) => Promise<void>,
): () => Promise<void> {
  const path = resolve(options.file);
  sayBlind(dirname(path), options.log);
  let loaded = printOf(path);
  let seen = loaded;
  let reloading = Promise.resolve();

  const look = (): void => {
    const now = printOf(path);
    const isQuiet = now === seen; // saving takes several steps
    seen = now;
    if (!isQuiet || now === loaded) return;
    const saved = savedBetween(loaded, now);
    loaded = now; // a file that is gone is reported once: by the reload, which cannot read it
    reloading = reloading.then(() => reload(saved));
  };
  const timer = setInterval(look, LOOK_MS);
  return async () => {
    clearInterval(timer);
    await reloading;
  };
}

/** Modules of both states that were saved between them; tests are loaded by no process that runs. */
function savedBetween(before = "", after = ""): readonly string[] {
  const timesIn = (print: string): ReadonlyMap<string, string> =>
    new Map([...print.matchAll(MODULE_LINE)].map(([, name = "", time = ""]) => [name, time]));
  const times = timesIn(before);
  return [...timesIn(after)].filter(([name, time]) =>
    times.has(name) && times.get(name) !== time && !/[._]test\.\w+$/.test(name)
  ).map(([name]) => name);
}

/** A module with its time, as `modulesIn` writes it. */
const MODULE_LINE = /^(\S.*\.[cm]?[jt]sx?) (\d+(?:\.\d+)?)$/gm;

/** Says what changes will not be noticed. */
function sayBlind(folder: string, log: Logger): void {
  try {
    modulesIn(folder);
  } catch (thrown) {
    log.warn(
      `The folder "${folder}" cannot be listed: --watch notices changes of the config, not of the ` +
        "modules next to it; allow it to read the folder",
      { error: messageOf(thrown) },
    );
  }
}

/** What tells two states of the files apart. `undefined`: the config is not there. */
function printOf(path: string): string | undefined {
  let text: string;
  try {
    text = Deno.readTextFileSync(path);
  } catch {
    return undefined; // what is wrong with it, a reload tells
  }
  try {
    return [text, ...modulesIn(dirname(path))].join("\n");
  } catch {
    return text; // told at the start; or the folder changes just now
  }
}

/** Modules of a folder, each with when it was saved last. */
function modulesIn(folder: string): readonly string[] {
  return [...Deno.readDirSync(folder)]
    .filter(({ name, isDirectory }) => !isDirectory && /\.[cm]?[jt]sx?$/.test(name))
    .map(({ name }) => `${name} ${Deno.statSync(join(folder, name)).mtime?.getTime()}`)
    .toSorted();
}
