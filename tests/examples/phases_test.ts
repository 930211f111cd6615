import assert from "node:assert/strict";
import { dueAfter, parseLanes, parsePhases, SPIKE, turns } from "../../examples/phases.ts";

Deno.test("dueAfter() follows the phases on an absolute schedule", () => {
  const atMs = [0, 1000, 10_000, 11_000, 20_000, 30_000, 99_000];

  assert.deepEqual(atMs.map((ms) => dueAfter(SPIKE, ms)), [0, 50, 500, 1300, 8500, 9000, 9000]);
});

Deno.test("dueAfter() counts whole jobs only", () => {
  assert.equal(dueAfter([{ perSec: 0.5, seconds: 10 }], 1999), 0);
  assert.equal(dueAfter([{ perSec: 0.5, seconds: 10 }], 2000), 1);
});

Deno.test("parsePhases() reads jobs a second x seconds", () => {
  assert.deepEqual(parsePhases("50x10, 0.5x2"), [
    { perSec: 50, seconds: 10 },
    { perSec: 0.5, seconds: 2 },
  ]);
});

Deno.test("parsePhases() and parseLanes() say what they want", () => {
  assert.throws(() => parsePhases("50x"), {
    name: "SyntaxError",
    message: 'Expected phases such as "50x10,800x10" but received "50x"',
  });
  assert.throws(() => parseLanes("urgent=0"), {
    name: "SyntaxError",
    message: 'Expected lanes such as "urgent=1,batch=4" but received "urgent=0"',
  });
});

Deno.test("turns() gives lanes their turns by weight", () => {
  const next = turns(parseLanes("urgent=1,batch=4"));

  const lanes = Array.from({ length: 10 }, next);

  assert.equal(lanes.filter((lane) => lane === "urgent").length, 2);
  assert.deepEqual(lanes.slice(0, 5).toSorted(), ["batch", "batch", "batch", "batch", "urgent"]);
});
