/**
 * Resolves the config of one system, at its start and at every reload.
 *
 * @module
 */

import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { ConfigInput } from "./input.ts";
import { getEnv, type Resolved, type ResolveOptions, resolveSource } from "./resolve.ts";
import type { KnownModules } from "./modules.ts";

/** A config: its file, or itself. */
export type ConfigSource = string | URL | ConfigInput;

/** What one resolving came to. */
export interface Resolution extends Resolved {
  /** Modules in use whose files have changed since they were loaded: their old code runs on. */
  readonly stale: readonly string[];
}

/** How much a config may bring. */
export interface ResolverOptions {
  /** True: no module is loaded that is not yet, and no variable read that is not referred to yet. */
  readonly sealed: boolean;
}

/** Resolves the config that a system was started with, or another in its place. */
export type Resolver = (
  given: ConfigSource | undefined,
  options: ResolverOptions,
) => Promise<Resolution>;

/**
 * Makes the resolver of one system. It remembers which modules were loaded and which variables read.
 *
 * @param source What the system is started with: read again whenever nothing else is given.
 */
export function createResolver(
  source: ConfigSource,
  options: Omit<ResolveOptions, "modules" | "folder">,
): Resolver {
  const loaded: KnownModules["loaded"] = new Map();
  const asked = new Set<string>();
  const read = new Set<string>();
  const { env = getEnv } = options;

  return async (given = source, { sealed }) => {
    const stale = new Set<string>();
    const resolved = await resolveSource(given, {
      ...options,
      folder: folderOf(source),
      modules: { loaded, asked, stale, sealed },
      env: (name) => {
        if (sealed && !read.has(name)) throw new TypeError(UNREAD);
        const value = env(name);
        if (!sealed) read.add(name);
        return value;
      },
    });
    return { ...resolved, stale: [...stale] };
  };
}

const UNREAD = "HTTP may only refer to variables that the config refers to already";

/** Folder of a config file. `undefined`: it is not a file. */
function folderOf(source: ConfigSource): string | undefined {
  if (typeof source !== "string" && !(source instanceof URL)) return undefined;
  const text = String(source);
  return dirname(text.startsWith("file:") ? fileURLToPath(text) : text);
}
