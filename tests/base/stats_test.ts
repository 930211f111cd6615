import assert from "node:assert/strict";
import {
  CounterWindow,
  quantile,
  RateMeter,
  SampleRing,
  SmoothMean,
  summarize,
} from "../../src/base/stats.ts";

Deno.test("quantile() is the nearest rank", () => {
  const sorted = Array.from({ length: 100 }, (_, index) => index + 1);

  assert.deepEqual([0, 0.5, 0.95, 0.99, 1].map((share) => quantile(sorted, share)), [
    1,
    50,
    95,
    99,
    100,
  ]);
  assert.equal(quantile([7], 0.99), 7);
});

Deno.test("summarize() of nothing is undefined", () => {
  assert.equal(summarize([]), undefined);
});

Deno.test("SampleRing sums up what ended in the window, at most as much as it keeps", () => {
  const ring = new SampleRing(4);
  assert.equal(ring.summary(0), undefined);
  for (const value of [9, 1, 2, 3, 4]) ring.add(value * 10, value);

  assert.deepEqual(ring.summary(0), { count: 4, mean: 2.5, p50: 2, p95: 4, p99: 4 });
  assert.deepEqual(ring.summary(30), { count: 2, mean: 3.5, p50: 3, p95: 4, p99: 4 });
  assert.equal(ring.summary(1000), undefined);
});

Deno.test("SmoothMean is a running mean at first, then forgets", () => {
  const mean = new SmoothMean(4);
  assert.equal(mean.value, 0);
  for (const value of [10, 20, 30]) mean.add(value);
  assert.equal(mean.value, 20);

  for (let index = 0; index < 40; index++) mean.add(100);
  assert.ok(mean.value > 99.9);
});

Deno.test("RateMeter reads a steady rate right from the first reading on", () => {
  const meter = new RateMeter(0);
  assert.equal(meter.perSec, 0);
  for (let atMs = 50; atMs <= 2000; atMs += 50) {
    meter.update(atMs, atMs * 0.03);
    assert.ok(Math.abs(meter.perSec - 30) < 1e-6, `${meter.perSec}`);
  }
});

Deno.test("RateMeter falls by its time constant once nothing arrives", () => {
  const meter = new RateMeter(0, 1000);
  for (let atMs = 100; atMs <= 20_000; atMs += 100) meter.update(atMs, atMs / 10);
  meter.update(21_000, 2000);

  assert.ok(Math.abs(meter.perSec - 100 * Math.exp(-1)) < 0.1, `${meter.perSec}`);
});

Deno.test("RateMeter.rested() keeps a rest from being reckoned as time in which events came", () => {
  const ticking = new RateMeter(0);
  const resting = new RateMeter(0);
  for (let atMs = 50; atMs <= 60_000; atMs += 50) ticking.update(atMs, 0);
  resting.rested(60_000);
  for (const meter of [ticking, resting]) meter.update(60_050, 100);

  assert.ok(Math.abs(resting.perSec - 97.5) < 0.1, `${resting.perSec}`); // 100 within a second or so
  assert.ok(Math.abs(resting.perSec - ticking.perSec) < 1e-6, `${ticking.perSec}`);
});

Deno.test("CounterWindow.rested() takes in what updates would have that found nothing new", () => {
  for (const restMs of [300, 900, 4_200, 10_000, 3_600_000]) {
    const ticking = new CounterWindow(1);
    const resting = new CounterWindow(1);
    for (let atMs = 0; atMs <= 20_000; atMs += 100) {
      for (const window of [ticking, resting]) window.update(atMs, [atMs / 20]);
    }
    const untilMs = 20_000 + restMs;
    for (let atMs = 20_100; atMs <= untilMs; atMs += 100) ticking.update(atMs, [1_000]);

    resting.rested(20_100 + restMs / 3, [1_000]); // to look in between changes nothing
    resting.rested(untilMs, [1_000]);

    assert.equal(resting.startMs(), ticking.startMs());
    assert.equal(resting.perSec(untilMs, 0, 1_000), ticking.perSec(untilMs, 0, 1_000));
  }
});

Deno.test("CounterWindow tells rates over its length, less while it is young", () => {
  const window = new CounterWindow(2, 10_000, 20);
  assert.equal(window.perSec(0, 0, 0), 0);
  assert.equal(window.startMs(), undefined);
  for (let atMs = 0; atMs <= 60_000; atMs += 50) {
    window.update(atMs, [atMs / 100, 0]);
    if (atMs > 0) assert.ok(Math.abs(window.perSec(atMs, 0, atMs / 100) - 10) < 1e-9);
  }

  assert.ok(Math.abs(60_000 - window.startMs()! - 10_000) <= 500);
  assert.equal(window.perSec(60_000, 1, 0), 0);
});
