import assert from "node:assert/strict";
import { fixed } from "../../plugins/controller/fixed.ts";
import { reservedLane } from "../../plugins/lane_policy/reserved_lane.ts";
import { makeStrategy } from "../../src/testing/make.ts";
import { makeView } from "../../src/testing/views.ts";
import { use } from "../../src/contract/plugin.ts";

Deno.test("makeStrategy() fills in defaults", () => {
  const controller = makeStrategy(fixed);

  assert.deepEqual(controller(makeView()), { workers: 100, reason: "fixed at size.max 100" });
});

Deno.test("makeStrategy() makes it for the lanes that are named", () => {
  const lanes = [{ name: "vip", ready: 1 }, { name: "rest", ready: 1 }];
  const view = makeView({ lanes, live: 2, busy: 1 });
  const policy = makeStrategy(use(reservedLane, { reserve: { vip: 1 } }), {
    lanes: ["vip", "rest"],
  });

  assert.equal(policy(view, view.lanes.slice(1)), undefined);
  assert.equal(policy(view, view.lanes), view.lanes[0]);
});

Deno.test("makeStrategy() says what is wrong with options that do not fit", () => {
  assert.throws(() => makeStrategy(use(fixed, { workers: 1.5 })), {
    name: "AssertionError",
    message:
      'controller "fixed": Expected its options to fit its schema but: Expected a whole number of workers',
  });
});
