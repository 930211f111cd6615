/**
 * Configs for tests of reloads.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { ConfigInput, PoolInput } from "../../src/config/input.ts";
import { ConfigError } from "../../src/contract/errors.ts";
import type { PoolParts } from "../_virtual.ts";

/** A handler that does nothing: the same function in each config. */
export function ok(): string {
  return "ok";
}

/** The config of `withPool`, with other parts and further pools. */
export function config(
  parts: PoolParts,
  more: Readonly<Record<string, PoolInput>> = {},
): ConfigInput {
  const p = {
    handler: ok,
    size: { min: 1, max: 4 },
    lanes: [{ name: "high" }, { name: "low" }],
    ...parts,
  };
  return { pools: { p: p as PoolInput, ...more } }; // the parts of a test may leave no handler
}

/** Faults of a reload that must fail, as `pointer: message`. */
export async function faultsOf(reload: Promise<unknown>): Promise<readonly string[]> {
  try {
    await reload;
  } catch (thrown) {
    assert.ok(thrown instanceof ConfigError, String(thrown));
    return thrown.faults.map(({ pointer, message }) => `${pointer}: ${message}`);
  }
  assert.fail("The reload did not fail");
}
