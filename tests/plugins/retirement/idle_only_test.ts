import assert from "node:assert/strict";
import { idleOnly } from "../../../plugins/retirement/idle_only.ts";
import { makeView, VIEW_NOW_MS } from "../../../src/testing/views.ts";
import { faultsOf, make } from "../_make.ts";

const view = makeView({
  workers: [
    { state: "busy", sinceMs: VIEW_NOW_MS - 900 },
    { state: "idle", sinceMs: VIEW_NOW_MS - 10 },
    { state: "idle", sinceMs: VIEW_NOW_MS - 500 },
    { state: "starting", sinceMs: VIEW_NOW_MS - 900 },
  ],
});

Deno.test("idleOnly lets idle workers go, those idle longest first, and no busy one", () => {
  assert.deepEqual(make(idleOnly)(view, 1), ["w3"]);
  assert.deepEqual(make(idleOnly)(view, 4), ["w3", "w2"]);
});

Deno.test("idleOnly lets nobody go when nobody is too many", () => {
  assert.deepEqual(make(idleOnly)(view, 0), []);
  assert.deepEqual(make(idleOnly)(view, -1), []);
});

Deno.test("idleOnly takes no options", () => {
  assert.deepEqual(faultsOf(idleOnly, { step: 1 }), [': "idle-only" takes no options']);
});
