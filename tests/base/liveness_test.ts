import assert from "node:assert/strict";
import { sight, type Sighting } from "../../src/base/liveness.ts";

const LEASE_MS = 30;

/** How silent another is to an observer that looks this many ms after its last look, at these signs. */
function silence(looks: readonly (readonly [sinceMs: number, sign: number])[]): number {
  let seen: Sighting<number> | undefined;
  for (const [sinceMs, sign] of looks) seen = sight(seen, sign, sinceMs, LEASE_MS);
  return seen!.silentMs;
}

Deno.test("sight() counts how long a sign of life has been the same", () => {
  assert.equal(silence([[99, 1]]), 0);
  assert.equal(silence([[99, 1], [10, 1], [10, 1]]), 20);
  assert.equal(silence([[99, 1], [10, 1], [10, 2]]), 0);
  assert.equal(silence([[99, 1], [10, 1], [10, 2], [10, 2]]), 10);
});

Deno.test("sight() counts no more than half a lease of a time in which the observer was away", () => {
  assert.equal(silence([[0, 1], [1000, 1]]), LEASE_MS / 2);
  assert.equal(silence([[0, 1], [1000, 1], [1000, 1]]), LEASE_MS);
});
