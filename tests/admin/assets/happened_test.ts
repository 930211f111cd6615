import assert from "node:assert/strict";
import { joinedHappenings, linesOf } from "../../../src/admin/assets/happened.js";
import type { DecisionJson } from "../../../src/admin/http/wire.ts";
import type { Happening } from "../../../src/admin/http/happening.ts";

function happening(atMs: number, text: string): Happening {
  return { atMs, tone: "person", text };
}

function change(atMs: number, from: number, to: number, boundBy = "controller"): DecisionJson {
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
    proposals: [{ by: "age-scaler", kind: "controller", workers: to, reason: "" }],
    boundBy,
    retire: [],
    sentence: "",
  };
}

Deno.test("linesOf() folds changes of size of one cause between two other lines into one", () => {
  const lines = linesOf(
    [happening(5, "paused"), happening(50, "resumed")],
    [
      change(10, 4, 5),
      change(11, 5, 9),
      change(12, 9, 7, "cap:adaptive-cap"),
      change(13, 7, 8, "cap:adaptive-cap"),
      change(60, 8, 2),
    ],
    { fromMs: 6, untilMs: 99 },
  );

  assert.deepEqual(lines.map(({ atMs, text }) => [atMs, text]), [
    [60, "Size 8 → 2, by age-scaler"],
    [50, "resumed"],
    [13, "Size 9 → 8 in 2 steps between 7 and 9, by cap adaptive-cap"],
    [11, "Size 4 → 9 in 2 steps, by age-scaler"],
  ]);
});

Deno.test("linesOf() leaves out what is older or later, and ends after four lines", () => {
  const happenings = Array.from({ length: 20 }, (_, index) => happening(index, `event ${index}`));

  const lines = linesOf(happenings, [change(3, 1, 2)], { fromMs: 4, untilMs: 5 });

  assert.deepEqual(lines.map(({ atMs }) => atMs), [5, 4]);
  assert.equal(linesOf(happenings, [], { fromMs: 0, untilMs: Infinity }).length, 4);
});

Deno.test("joinedHappenings() adds what is new once, in order of time", () => {
  const known = [happening(2, "b")];

  const all = joinedHappenings(known, [happening(1, "a"), happening(2, "b"), happening(2, "c")]);

  assert.deepEqual(all.map(({ text }) => text), ["a", "b", "c"]);
});
