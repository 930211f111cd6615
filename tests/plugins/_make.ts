/**
 * Makes strategies from plugins as the resolver does.
 *
 * @module
 */

import { bind } from "../../src/contract/bind.ts";
import type { Instances, Kind, Plugin } from "../../src/contract/plugin.ts";
import { randomStream } from "../../src/base/random.ts";

/** What a test may say of the pool that a plugin is made for. */
export interface PoolFacts {
  /** Names of the lanes, highest first. @default {["urgent", "batch"]} */
  readonly lanes?: readonly string[];
  /** Bounds of the size. @default {0 to 10} */
  readonly size?: { readonly min: number; readonly max: number };
  /** Chance. @default {a seeded stream} */
  readonly random?: () => number;
}

/** Checks options and makes an instance. */
export function make<K extends Kind, Input>(
  plugin: Plugin<K, Input>,
  options?: Input,
  { lanes = ["urgent", "batch"], size = { min: 0, max: 10 }, random = randomStream(1) }: PoolFacts =
    {},
): Instances[K] {
  const binding = bind(plugin, options);
  if (!binding.ok) throw new TypeError(faultsOf(plugin, options).join("\n"));
  const silent = (): void => {};
  const log = { debug: silent, info: silent, warn: silent, error: silent };
  return binding.bound.create({ pool: "pool", lanes, size, random, log });
}

/** Messages of what is wrong with options, each with its path. */
export function faultsOf<K extends Kind>(plugin: Plugin<K>, options: unknown): readonly string[] {
  const binding = bind(plugin, options);
  if (binding.ok) return [];
  return binding.issues.map(({ path = [], message }) => {
    const keys = path.map((part) => String(typeof part === "object" ? part.key : part));
    return `${keys.join(".")}: ${message}`;
  });
}
