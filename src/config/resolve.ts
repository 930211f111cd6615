/**
 * From a config to what pools run with: reads it, fills in defaults, loads and binds plugins, and
 * finds all faults at once.
 *
 * @module
 */

import type { InferOutput } from "valibot";
import type { ConfigInput } from "./input.ts";
import type { HandlerFunction } from "./slot_input.ts";
import { resolveAlerts } from "./alerts.ts";
import { checkShape } from "./check.ts";
import { resolveDownstreams } from "./downstreams.ts";
import { pathOf } from "./diff.ts";
import { type FaultList, faultList, isRecord } from "./faults.ts";
import { checkHandOns } from "./hand_on.ts";
import { isLoopback } from "./loopback.ts";
import type { KnownModules } from "./modules.ts";
import { type Defaults, type PoolOptions, resolvePool } from "./pool.ts";
import { isEnvRef, type ReadEnv, readSecret } from "./secrets.ts";
import { configShape } from "./shape.ts";
import { toDisplay } from "./display.ts";
import { resolveSlot } from "./slot.ts";
import { readSource, type Source } from "./source.ts";
import { ConfigError } from "../contract/errors.ts";
import type { ConfigChange } from "../contract/event.ts";
import type { Plugin } from "../contract/plugin.ts";
import { redactionOf } from "./redaction.ts";
import type { AdminSettings, PoolSettings, Settings } from "./settings.ts";
import type { SignalReader } from "../contract/strategy.ts";

export type { CapDefaults } from "./caps.ts";
export type { Defaults } from "./pool.ts";
export type { ReadEnv } from "./secrets.ts";

/** What a config is resolved with. */
export interface ResolveOptions {
  /** Plugins that every config may name. */
  readonly builtins: readonly Plugin[];
  /** Names of the plugins that stand in slots left empty. */
  readonly defaults: Defaults;
  /** Plugins and handler functions given in code, by the name that the config knows them by. They come before built-ins. */
  readonly plugins?: Readonly<Record<string, Plugin | HandlerFunction>> | undefined;
  /** Functions that read signals, by the name that the config knows them by. */
  readonly signals?: Readonly<Record<string, SignalReader>> | undefined;
  /** Reads the environment, for names that the config refers to. @default {Deno.env.get} */
  readonly env?: ReadEnv | undefined;
  /**
   * For a simulation: handlers are neither loaded nor made, signals are stale, the default store
   * replaces the configured one, and no token is read.
   *
   * @default {false}
   */
  readonly simulated?: boolean | undefined;
  /** For a system that reloads: which modules it has loaded. @default {nobody keeps track} */
  readonly modules?: KnownModules | undefined;
  /** Folder of the modules of a config that is no file. @default {the current directory} */
  readonly folder?: string | undefined;
}

/** A resolved config that knows where things stand in it. */
export interface Resolved {
  /** What pools run with. */
  readonly settings: Settings;
  /** The error of changes that are refused, each with its place. */
  refusal(changes: readonly ConfigChange[]): ConfigError;
}

/**
 * Resolves a config.
 *
 * @param source Path or `file:` URL of a JSON file with comments, or the config itself.
 * @throws {ConfigError} If there is any fault: all of them, in file order.
 */
export async function resolveConfig(
  source: string | URL | ConfigInput,
  options: ResolveOptions,
): Promise<Settings> {
  return (await resolveSource(source, options)).settings;
}

/** Resolves a config as `resolveConfig` does, and keeps the places. */
export async function resolveSource(
  source: string | URL | ConfigInput,
  options: ResolveOptions,
): Promise<Resolved> {
  const read = await readSource(source);
  const faults = faultList(read);
  const settings = read.broken ? undefined : await resolveTop(read, faults, options);
  if (settings === undefined || faults.size > 0) throw shownError(faults, read.value);
  return {
    settings,
    refusal: (changes) => {
      const refusals = faultList(read);
      for (const change of changes) refusals.add(pathOf(change), change.effect);
      return shownError(refusals, read.value);
    },
  };
}

/** The error of all faults, without what the config hides. */
function shownError(faults: FaultList, config: unknown): ConfigError {
  const redaction = redactionOf(config);
  const error = faults.toError();
  const shown = error.faults.map((fault) => ({
    ...fault,
    message: redaction.fault(fault.pointer, fault.message),
  }));
  const { cause, more } = error;
  return new ConfigError(shown, { ...(cause === undefined ? {} : { cause }), more });
}

async function resolveTop(
  { value: raw, file, folder: ownFolder }: Source,
  faults: FaultList,
  options: ResolveOptions,
): Promise<Settings | undefined> {
  const { builtins, defaults, plugins = {}, signals = {}, env = getEnv } = options;
  const { simulated = false } = options;
  const shape = checkShape(configShape, raw, { path: [], faults });
  if (!isRecord(raw)) return undefined;
  const listed: readonly unknown[] = Array.isArray(raw.allowModules) ? raw.allowModules : [];
  const allowed = listed.filter((module) => typeof module === "string");
  const { folder: given } = options;
  const folder = file === undefined && given !== undefined ? () => given : ownFolder;
  const modules = { folder, allowed, known: options.modules };
  const sources = { builtins, plugins, signals, env, modules };
  const downstreams = resolveDownstreams(raw.downstreams, faults);
  const all: PoolOptions = { ...sources, downstreams, defaults, faults, simulated };
  const place = simulated ? defaults.store : raw.store ?? defaults.store;
  const store = await resolveSlot({ kind: "store", raw: place, path: ["store"] }, all);
  const tokens = readTokens(simulated ? undefined : raw.admin, all);
  if (!simulated) checkOpenness(raw.admin, faults);
  const pools: PoolSettings[] = [];
  for (const [name, pool] of Object.entries(isRecord(raw.pools) ? raw.pools : {})) {
    const settings = await resolvePool(name, pool, all);
    if (settings !== undefined) pools.push(settings);
  }
  checkHandOns(raw.pools, faults);
  if (shape === undefined || store === undefined) return undefined;
  const alerts = simulated ? undefined : resolveAlerts(raw.admin, shape.admin?.alerts, all);
  const admin = shape.admin && { ...adminSettings(shape.admin, tokens), alerts };
  const { redact } = shape;
  const named = [...downstreams.values()].filter((one) => one !== undefined);
  return { store: store.bound, admin, redact, downstreams: named, pools, shown: toDisplay(raw) };
}

/** Reads the environment of the process. */
export function getEnv(name: string): string | undefined {
  return Deno.env.get(name);
}

type AdminShape = NonNullable<InferOutput<typeof configShape>["admin"]>;
type Tokens = Pick<AdminSettings, "adminToken" | "viewerToken">;

function adminSettings(shape: AdminShape, tokens: Tokens): AdminSettings {
  const { hostname, port, allowedHosts, basePath, trustedProxies } = shape;
  return { hostname, port, ...tokens, allowedHosts, basePath, trustedProxies };
}

/** Without a token only this machine may be answered. What is really bound is looked at by the server. */
function checkOpenness(admin: unknown, faults: FaultList): void {
  if (!isRecord(admin) || typeof admin.hostname !== "string" || admin.hostname === "") return;
  const { hostname, tokens } = admin;
  if (hostname.toLowerCase() === "localhost" || isLoopback(hostname)) return;
  if (isRecord(tokens) && Object.keys(tokens).length > 0) return;
  const message =
    `Expected a loopback address such as 127.0.0.1 but received "${hostname}": without a token others could write, set admin.tokens`;
  faults.add(["admin", "hostname"], message);
}

function readTokens(admin: unknown, options: PoolOptions): Tokens {
  const tokens = isRecord(admin) && isRecord(admin.tokens) ? admin.tokens : {};
  const adminToken = readToken("admin", tokens.admin, options);
  const viewerToken = readToken("viewer", tokens.viewer, options);
  if (adminToken !== undefined && adminToken === viewerToken) {
    const message = "Expected a token of its own but it is the admin token: a viewer could write";
    options.faults.add(["admin", "tokens", "viewer"], message);
  }
  return { adminToken, viewerToken };
}

const shortestToken = 16;

function readToken(
  role: "admin" | "viewer",
  reference: unknown,
  options: PoolOptions,
): string | undefined {
  if (!isEnvRef(reference)) return undefined;
  const path = ["admin", "tokens", role];
  const token = readSecret(reference, path, options);
  if (token === undefined) return undefined;
  if (!/^[\x21-\x7e]*$/.test(token)) {
    const message =
      `Expected a token of visible ASCII characters but the environment variable "${reference.env}" has others, such as a space or a trailing line break: a header cannot carry it`;
    options.faults.add(path, message);
  } else if (token.length < shortestToken) {
    const message =
      `Expected a token of at least ${shortestToken} characters but the environment variable "${reference.env}" has a shorter one`;
    options.faults.add(path, message);
  } else return token;
  return undefined;
}
