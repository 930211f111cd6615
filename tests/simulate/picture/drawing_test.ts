import assert from "node:assert/strict";
import { drawPool, scalesOf } from "../../../src/simulate/picture/drawing.ts";
import { pool, seen } from "./_report.ts";

/** Paths of a class. */
function paths(text: string, sort: string): readonly string[] {
  return [...text.matchAll(new RegExp(`<path class="${sort}" d="([^"]*)"`, "g"))]
    .map(([, path = ""]) => path);
}

function drawn(of = pool(), width = 960): string {
  return drawPool(of, width, scalesOf([of])).content.text;
}

Deno.test("drawPool() draws workers, limit and decisions, each lane's age and target, and rates", () => {
  const text = drawn();

  const counts = ["band", "age-area", "over"].map((sort) => paths(text, sort).length);
  assert.deepEqual(counts, [1, 2, 2]);
  // Each has a sample in the key.
  const withKey = ["workers", "limit", "age", "target", "arrived", "done", "shed"];
  assert.deepEqual(withKey.map((sort) => paths(text, sort).length), [2, 2, 4, 4, 2, 2, 2]);
  assert.equal(paths(text, "mark").length, 3, "grew, shrank, and the key");
  assert.match(text, />limit 8<\/text>/);
  assert.match(text, />age of batch<\/text>.*>target 50 ms<\/text>/);
});

Deno.test("drawPool() hatches only what is over the target", () => {
  const [urgent, batch] = paths(drawn(), "over");

  assert.equal(urgent, "");
  assert.match(batch ?? "", /^M[\d. ]+V[\d.]+H[\d.]+V[\d.]+Z$/);
});

Deno.test("drawPool() draws no target where none is, and no shed jobs where none were", () => {
  const lanes = { all: seen({ targetWaitMs: null }) };

  const text = drawn(pool({ series: { ...pool().series, lanes } }));

  assert.deepEqual(["target", "shed", "dead"].map((sort) => paths(text, sort).length), [0, 0, 0]);
});

Deno.test("drawPool() draws rates a second, whatever the stretches are long", () => {
  const height = (bucketMs: number): string | undefined => {
    const counts = [10 * bucketMs / 1000, 10 * bucketMs / 1000];
    const lanes = { all: seen({ arrived: counts, done: counts, ageMs: [0, 0], shed: [0, 0] }) };
    const series = { ...pool().series, bucketMs, untilMs: 2 * bucketMs, lanes };
    return /V([\d.]+)/.exec(paths(drawn(pool({ series })), "arrived").at(-1) ?? "")?.[1];
  };

  assert.equal(height(1000), height(200));
});

Deno.test("drawPool() stays within its width", () => {
  for (const width of [380, 960]) {
    const text = drawn(pool(), width);
    const lefts = [...text.matchAll(/ x="([\d.]+)"/g)].map(([, left]) => Number(left));
    assert(lefts.length > 10 && Math.max(...lefts) < width, `${width}`);
  }
});

Deno.test("scalesOf() fits all pools that are compared", () => {
  const big = pool({ series: { ...pool().series, limit: [32, 32, 32] } });

  const scales = scalesOf([pool(), big]);

  assert(scales.workers > 32 && scales.workers < 40);
  assert.deepEqual(Object.keys(scales.ageMs), ["urgent", "batch"]);
  assert.equal(scales.ageMs["batch"], 84);
});
