/**
 * Reloads a system that this process runs: at a signal, and when its files change.
 *
 * @module
 */

import { basename, dirname, resolve } from "node:path";
import { ConfigError, formatFault, messageOf } from "../errors.ts";
import type { Logger } from "../job.ts";
import type { Sluice } from "../sluice.ts";
import { printChanges } from "./changes.ts";
import type { Io } from "./io.ts";
import { json, line } from "./print.ts";

/** What is reloaded, and how that is told. */
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

/** A file is read so long after the last change in its folder: saving makes several. */
const QUIET_MS = 100;

/** But no later than so long after the first: something else in the folder may change all the time. */
const LONGEST_MS = 1_000;

/** Reloads at each SIGHUP, and at changes if that is wanted, until what it returns is called. */
export function reloadOn(sluice: Sluice, options: ReloadOnOptions): () => Promise<void> {
  const reload = (): Promise<void> => reloadAndTell(sluice, options);
  const unlisten = options.io.onHangup(reload);
  const watching = options.watch ? watch(options, reload) : undefined;
  return async () => {
    unlisten();
    await watching?.();
  };
}

async function reloadAndTell(sluice: Sluice, options: ReloadOnOptions): Promise<void> {
  const { io, log } = options;
  try {
    const report = await sluice.reload();
    if (options.json) return json(io, { reloaded: true, ...report });
    line(io, `Loaded ${options.file} anew`);
    printChanges(io, report);
  } catch (thrown) {
    const faults = thrown instanceof ConfigError
      ? thrown.faults.map(formatFault)
      : [messageOf(thrown)];
    for (const fault of faults) log.error(fault);
    log.warn("The config was not loaded: the one before runs on", { faults: faults.length });
  }
}

/** Watches the folder, not the file: editors save by renaming another file to its name. */
function watch(
  { file, log }: ReloadOnOptions,
  reload: () => Promise<void>,
): () => Promise<void> {
  const path = resolve(file);
  const watcher = Deno.watchFs(dirname(path), { recursive: false });
  let text = readOrNothing(path);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let firstAtMs: number | undefined;
  let isModule = false;

  const look = async (): Promise<void> => {
    timer = undefined;
    firstAtMs = undefined;
    const now = readOrNothing(path);
    const concerns = isModule || (now !== undefined && now !== text);
    isModule = false;
    if (!concerns) return;
    text = now;
    await reload();
  };
  const seen = ({ paths, kind }: Deno.FsEvent): void => {
    if (kind === "access") return; // reading the config itself makes these
    isModule ||= paths.some((changed) => /\.[cm]?[jt]sx?$/.test(basename(changed)));
    const nowMs = performance.now();
    firstAtMs ??= nowMs;
    clearTimeout(timer);
    timer = setTimeout(look, Math.max(0, Math.min(QUIET_MS, firstAtMs + LONGEST_MS - nowMs)));
  };
  const ended = (async () => {
    for await (const event of watcher) seen(event);
  })().catch((thrown) => {
    log.error("The folder of the config cannot be watched any more", { error: messageOf(thrown) });
  });
  return async () => {
    watcher.close();
    clearTimeout(timer);
    await ended;
  };
}

/** `undefined`: the file is not there, as between the two steps of a save. */
function readOrNothing(path: string): string | undefined {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return undefined; // what is wrong with it, a reload tells
  }
}
