import assert from "node:assert/strict";
import { Wall } from "../../src/time/wall.ts";

Deno.test("a Wall that was never set shows the clock's time", () => {
  const wall = new Wall();

  assert.deepEqual([wall.at(5), wall.clockMs(5), wall.aheadMs], [5, 5, 0]);
});

Deno.test("a Wall that was set forward knows what was stamped before and after", () => {
  const wall = new Wall();
  wall.step(1000, 500);

  assert.deepEqual([999, 1000, 2000].map((ms) => wall.at(ms)), [999, 1500, 2500]);
  assert.deepEqual([900, 1200, 1500, 2500].map((ms) => wall.clockMs(ms)), [900, 1000, 1000, 2000]);
});

Deno.test("a Wall that was set back takes what it showed twice for the second time", () => {
  const wall = new Wall();
  wall.step(1000, -300);

  assert.deepEqual([999, 1000].map((ms) => wall.at(ms)), [999, 700]);
  assert.deepEqual([600, 700, 900, 2000].map((ms) => wall.clockMs(ms)), [600, 1000, 1200, 2300]);
});

Deno.test("a Wall that was set back knows how old is what it shows only later", () => {
  const wall = new Wall();
  wall.step(1000, -900);

  assert.equal(wall.pastMs(950, 1100), 950);
  assert.equal(wall.pastMs(150, 1100), 1050);
  assert.equal(wall.pastMs(5000, 1100), 1100);
});

Deno.test("a Wall keeps several steps apart, and forgets the oldest of very many", () => {
  const wall = new Wall();
  wall.step(1000, 500);
  wall.step(2000, 500);

  assert.deepEqual([500, 1600, 3100].map((ms) => wall.clockMs(ms)), [500, 1100, 2100]);
  assert.deepEqual([500, 1500, 2500].map((ms) => wall.at(ms)), [500, 2000, 3500]);
  for (let step = 1; step <= 100; step++) wall.step(2000 + step, 1);
  assert.equal(wall.at(3000), 4100);
  assert.equal(wall.clockMs(4100), 3000);
});

Deno.test("a Wall tells its listeners of a step until they leave, and its owner of the first and last", () => {
  const owner: boolean[] = [];
  const wall = new Wall((isHeard) => owner.push(isHeard));
  const heard: number[] = [];
  const leave = wall.onStep((byMs) => heard.push(byMs));
  const leaveToo = wall.onStep(() => {});

  wall.step(0, -5);
  leave();
  leave();
  leaveToo();
  wall.step(1, 7);

  assert.deepEqual([heard, owner, wall.aheadMs], [[-5], [true, false], 2]);
});
