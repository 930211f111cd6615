/**
 * Plugins and helpers for tests of the config floor.
 *
 * @module
 */

import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import * as v from "valibot";
import type { ConfigInput } from "../../src/config/input.ts";
import { ConfigError, type Fault, formatFault, OptionError } from "../../src/contract/errors.ts";
import { silentLogger } from "../../src/runtime/log.ts";
import {
  defineAdmission,
  defineCap,
  defineController,
  defineHandler,
  defineLanePolicy,
  defineRetirement,
  defineStore,
  type Plugin,
  type PluginContext,
} from "../../src/contract/plugin.ts";
import { resolveConfig, type ResolveOptions } from "../../src/config/resolve.ts";
import type { Settings } from "../../src/config/settings.ts";

/** What plugins are made with. */
export const context: PluginContext = {
  pool: "mail",
  lanes: ["urgent"],
  size: { min: 0, max: 1 },
  random: () => 0,
  log: silentLogger(),
};

const whole = v.pipe(v.number(), v.integer(), v.minValue(1));

/** A controller whose options all have defaults. */
export const steady = defineController({
  name: "steady",
  options: v.strictObject({
    perWorker: v.exactOptional(whole, 10),
    targetWaitMs: v.exactOptional(v.number()),
  }),
  create: () => (view) => ({ workers: view.busy, reason: "as many as are busy" }),
});

/** A lane policy whose factory judges lane names and the pool's size. */
export const reserve = defineLanePolicy({
  name: "reserve",
  options: v.strictObject({ reserve: v.exactOptional(v.record(v.string(), whole), {}) }),
  create: ({ reserve }, { lanes, size }) => {
    for (const [lane, count] of Object.entries(reserve)) {
      if (!lanes.includes(lane)) {
        throw new OptionError(["reserve", lane], `No lane is named "${lane}"`);
      }
      if (count >= size.max) {
        throw new OptionError(
          ["reserve", lane],
          `Expected less than size.max (${size.max}) but received ${count}`,
        );
      }
    }
    return (_view, eligible) => eligible[0];
  },
});

/** A cap that needs an option and holds over all processes. */
export const connections = defineCap({
  name: "connections",
  scope: "cluster",
  options: v.strictObject({ count: whole }),
  create: ({ count }) => () => ({ workers: count, reason: `${count} connections` }),
});

/** A cap without options. */
export const open = defineCap({
  name: "open",
  create: () => () => ({ workers: Infinity, reason: "no bound" }),
});

/** A handler with options that may hold secrets. */
export const post = defineHandler({
  name: "post",
  options: v.strictObject({
    url: v.pipe(v.string(), v.startsWith("https:")),
    headers: v.exactOptional(v.record(v.string(), v.string()), {}),
  }),
  create: ({ url }) => ({ run: () => url }),
});

/** A handler without options. */
export const echo = defineHandler({ name: "echo", run: (job) => job.payload });

const gentle = defineRetirement({ name: "gentle", create: () => () => [] });
const admit = defineAdmission({
  name: "admit",
  create: () => ({ submit: () => ({ admit: true }) }),
});
const nowhere = defineStore({
  name: "nowhere",
  create: () => {
    throw new Error("the disk is full");
  },
});

/** What is used for the built-ins. */
export const builtins: readonly Plugin[] = [
  steady,
  reserve,
  connections,
  open,
  post,
  echo,
  gentle,
  admit,
  nowhere,
];

/** Options with all of the above, and an environment that holds nothing. */
export const options: ResolveOptions = {
  builtins,
  defaults: {
    controller: "steady",
    "lane-policy": "reserve",
    retirement: "gentle",
    admission: "admit",
    store: "nowhere",
  },
  env: () => undefined,
};

/** A pool without faults, with overrides. */
export function pool(overrides: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    handler: "echo",
    size: { min: 1, max: 4 },
    lanes: [{ name: "urgent" }, { name: "batch" }],
    ...overrides,
  };
}

/** Resolves a config given as an object, right or wrong. */
export function resolveObject(
  config: unknown,
  given: Partial<ResolveOptions> = {},
): Promise<Settings> {
  // Wrong configs are what these tests are about.
  return resolveConfig(config as ConfigInput, { ...options, ...given });
}

/** Resolves files in a folder of their own; the first is the config. Path is the folder's. */
export async function resolveFiles(
  files: Readonly<Record<string, string>>,
  given: Partial<ResolveOptions> & { readonly prepare?: (folder: string) => Promise<void> } = {},
): Promise<Settings> {
  const { prepare, ...rest } = given;
  const folder = await Deno.realPath(await Deno.makeTempDir());
  try {
    for (const [name, text] of Object.entries(files)) {
      await Deno.mkdir(dirname(join(folder, name)), { recursive: true });
      await Deno.writeTextFile(join(folder, name), text);
    }
    await prepare?.(folder);
    return await resolveConfig(join(folder, Object.keys(files)[0] ?? ""), { ...options, ...rest });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** The faults of a config that must have some. */
export async function faultsOf(resolving: Promise<unknown>): Promise<readonly Fault[]> {
  return (await errorOf(resolving)).faults;
}

/** The error of a config that must have faults. */
export async function errorOf(resolving: Promise<unknown>): Promise<ConfigError> {
  try {
    await resolving;
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return error;
  }
  assert.fail("Expected a ConfigError but the config has no fault");
}

/** The faults of a config object, one line each. */
export async function linesOf(
  config: unknown,
  given: Partial<ResolveOptions> = {},
): Promise<readonly string[]> {
  return (await faultsOf(resolveObject(config, given))).map(formatFault);
}

/** The faults of a config of one pool, one line each, without `/pools/mail`. */
export async function poolLines(
  overrides: Readonly<Record<string, unknown>>,
  given: Partial<ResolveOptions> = {},
): Promise<readonly string[]> {
  const lines = await linesOf({ pools: { mail: pool(overrides) } }, given);
  return lines.map((line) => line.replace("/pools/mail", ""));
}
