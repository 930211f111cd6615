import assert from "node:assert/strict";
import { fixed } from "../../../plugins/controller/fixed.ts";
import { makeView } from "../../../src/testing/mod.ts";
import { faults, make } from "./_make.ts";

Deno.test("fixed asks for size.max, when no count is given", () => {
  const proposal = make(fixed)(makeView());

  assert.deepEqual(proposal, { workers: 32, reason: "fixed at size.max 32" });
});

Deno.test("fixed asks for its count, whatever waits", () => {
  const controller = make(fixed, { workers: 7 });

  const proposals = [0, 5000].map((ready) =>
    controller(makeView({ lanes: [{ ready, oldestWaitMs: ready }] }))
  );

  assert.deepEqual(proposals[0], { workers: 7, reason: "fixed at 7" });
  assert.deepEqual(proposals[1], proposals[0]);
});

Deno.test("fixed refuses counts that are no counts", () => {
  assert.deepEqual(faults(fixed, { workers: 2.5 }), ["Expected a whole number of workers"]);
  assert.deepEqual(faults(fixed, { workers: -1 }), ["Expected 0 workers or more"]);
  assert.deepEqual(faults(fixed, { workers: "7" }), ["Expected a worker count"]);
});
