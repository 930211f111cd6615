import assert from "node:assert/strict";
import { WindowedRate } from "../../src/base/windowed_rate.ts";

Deno.test("WindowedRate is 0 until a whole window was seen, then the rise over it", () => {
  const rate = new WindowedRate();

  assert.equal(rate.update(0, 0, 100), 0);
  assert.equal(rate.update(50, 40, 100), 0);
  assert.equal(rate.update(100, 80, 100), 800);
  assert.equal(rate.update(150, 80, 100), 400);
  assert.equal(rate.update(200, 80, 100), 0);
});

Deno.test("WindowedRate of a window that gets longer goes back as far as it knows", () => {
  const rate = new WindowedRate();
  for (let atMs = 0; atMs <= 1000; atMs += 10) rate.update(atMs, atMs / 10, 100);

  assert.equal(rate.update(1010, 101, 1000), 0, "only the last 100 ms are known");
  assert.equal(rate.update(1010, 101, 50), 100);
});

Deno.test("WindowedRate is never below 0", () => {
  const rate = new WindowedRate();
  rate.update(0, 10, 100);

  assert.equal(rate.update(100, 5, 100), 0);
});
