import assert from "node:assert/strict";
import { admitAll } from "../../../plugins/admission/admit_all.ts";
import { makeView } from "../../../src/testing/views.ts";
import { faultsOf, make } from "../_make.ts";

Deno.test("admitAll takes every job in, however full the pool is, and drops none as late", () => {
  const admission = make(admitAll);
  const view = makeView({
    live: 1,
    busy: 1,
    limit: 1,
    lanes: [{ name: "urgent", ready: 1e6, oldestWaitMs: 1e6, deadlineMs: 1 }],
  });

  assert.deepEqual(admission.submit({ lane: "urgent", payload: null }, view), { admit: true });
  assert.equal(admission.take, undefined);
});

Deno.test("admitAll takes no options", () => {
  assert.deepEqual(faultsOf(admitAll, { afterMs: 1 }), [': "admit-all" takes no options']);
});
