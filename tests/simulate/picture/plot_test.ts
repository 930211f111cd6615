import assert from "node:assert/strict";
import {
  type Plot,
  stepArea,
  stepLine,
  ticks,
  timeAxis,
} from "../../../src/simulate/picture/plot.ts";

const PLOT: Plot = { left: 10, right: 110, top: 0, bottom: 50, untilMs: 1000, most: 10 };

Deno.test("stepLine() holds a figure until it changes, to the right edge", () => {
  assert.equal(stepLine(PLOT, [[0, 2], [500, 4], [700, 4]]), "M10 40H60V30H110");
});

Deno.test("stepLine() breaks where there is no figure", () => {
  assert.equal(stepLine(PLOT, [[0, null], [200, 2], [500, null], [800, 0]]), "M30 40H60M90 50H110");
  assert.equal(stepLine(PLOT, [[0, 2], [500, null]]), "M10 40H60");
  assert.equal(stepLine(PLOT, []), "");
});

Deno.test("stepArea() is a box for each figure above the lower one", () => {
  const low = [[0, 2], [500, 2], [800, 2]] as const;

  assert.equal(stepArea(PLOT, [[0, 2], [500, 4], [800, null]]), "M10 50V40H60V50ZM60 50V30H90V50Z");
  assert.equal(stepArea(PLOT, [[0, 2], [500, 4], [800, null]], low), "M60 40V30H90V40Z");
});

Deno.test("stepLine() and stepArea() keep figures beyond the highest at the edge", () => {
  assert.equal(stepLine(PLOT, [[0, 99]]), "M10 0H110");
});

Deno.test("ticks() are round and end below the highest", () => {
  assert.deepEqual(ticks(23, 4), [0, 10, 20]);
  assert.deepEqual(ticks(0.5, 5), [0, 0.1, 0.2, 0.3, 0.4, 0.5]);
});

Deno.test("timeAxis() takes the unit that suits how long it is", () => {
  const last = (untilMs: number): string | undefined =>
    /([\d,]+ \w+)<\/text>$/.exec(timeAxis({ ...PLOT, right: 500, untilMs }).text)?.[1];

  assert.deepEqual([60_000, 600_000, 86_400_000].map(last), ["60 s", "10 min", "20 h"]);
});
