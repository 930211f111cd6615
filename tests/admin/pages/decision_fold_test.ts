import assert from "node:assert/strict";
import { folded } from "../../../src/admin/pages/decision_fold.ts";
import type { Decision } from "../../../src/contract/decision.ts";

Deno.test("folded() lets each change stand alone, and puts together what kept the size in between", () => {
  const log = [held(9), held(8), change(7, 1, 3), held(6), change(5, 2, 1), change(4, 3, 2)];

  const entries = folded(log);

  assert.deepEqual(
    entries.map(({ shown, others }) => [shown.atMs, ...others.map(({ atMs }) => atMs)]),
    [[9, 8], [7], [6], [5], [4]],
  );
});

Deno.test("folded() shows of those the latest that something bound: it says why the pool did not grow", () => {
  const [entry] = folded([held(9), held(8, "size.max"), held(7), held(6, "cap:api-rate-cap")]);

  assert.equal(entry?.shown.atMs, 8);
  assert.deepEqual(entry?.others.map(({ atMs }) => atMs), [9, 7, 6]);
});

Deno.test("folded() makes nothing of nothing", () => {
  assert.deepEqual(folded([]), []);
});

function held(atMs: number, boundBy = "controller"): Decision {
  return { ...change(atMs, 2, 2), boundBy };
}

function change(atMs: number, from: number, to: number): Decision {
  const inputs = {
    ready: 0,
    blocked: 0,
    oldestWaitMs: 0,
    busy: 0,
    live: 0,
    starting: 0,
    retiring: 0,
    stuck: 0,
  };
  return {
    atMs,
    untilMs: atMs,
    from,
    to,
    inputs,
    proposals: [],
    boundBy: "controller",
    retire: [],
    sentence: "",
  };
}
