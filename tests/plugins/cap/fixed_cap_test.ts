import assert from "node:assert/strict";
import { fixedCap } from "../../../plugins/cap/fixed_cap.ts";
import { makeView } from "../../../src/testing/views.ts";
import { faultsOf, make } from "../_make.ts";

Deno.test("fixedCap allows its number of workers, whatever is wanted", () => {
  const cap = make(fixedCap, { workers: 7 });

  assert.deepEqual(cap(makeView(), 3), { workers: 7, reason: "fixed at 7" });
  assert.deepEqual(cap(makeView(), 300), { workers: 7, reason: "fixed at 7" });
});

Deno.test("fixedCap stops the pool at an explicit 0", () => {
  assert.equal(make(fixedCap, { workers: 0 })(makeView(), 3).workers, 0);
});

Deno.test("fixedCap refuses what is no count", () => {
  assert.deepEqual(faultsOf(fixedCap, { workers: 2.5 }), [
    "workers: Invalid integer: Received 2.5",
  ]);
  assert.deepEqual(faultsOf(fixedCap, { workers: -1 }), [
    "workers: Invalid value: Expected >=0 but received -1",
  ]);
  assert.deepEqual(faultsOf(fixedCap, {}), [
    'workers: Invalid key: Expected "workers" but received undefined',
  ]);
});
