/**
 * Faults of reloads, for tests.
 *
 * @module
 */

import assert from "node:assert/strict";
import { ConfigError } from "../../src/contract/errors.ts";

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
