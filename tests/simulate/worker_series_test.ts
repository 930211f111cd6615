import assert from "node:assert/strict";
import { WorkerSeries } from "../../src/simulate/worker_series.ts";

Deno.test("WorkerSeries keeps extremes, integral and every change", () => {
  const series = new WorkerSeries();
  for (const [atMs, count] of [[0, 2], [100, 5], [150, 5], [200, 1]] as const) {
    series.look(atMs, count);
  }

  assert.deepEqual([series.min, series.peak, series.count], [1, 5, 1]);
  assert.equal(series.workerMs(300), 2 * 100 + 5 * 100 + 1 * 100);
  assert.deepEqual(series.timeline, [[0, 2], [100, 5], [200, 1]]);
});

Deno.test("WorkerSeries keeps the last of several counts of one instant", () => {
  const series = new WorkerSeries();
  for (const [atMs, count] of [[0, 2], [7, 3], [7, 4]] as const) series.look(atMs, count);

  assert.deepEqual(series.timeline, [[0, 2], [7, 4]]);
  assert.equal(series.peak, 4);
});

Deno.test("WorkerSeries takes no count for the lowest that did not last", () => {
  const series = new WorkerSeries();
  assert.equal(series.min, 0);
  for (const [atMs, count] of [[0, 1], [0, 4], [50, 2], [50, 6]] as const) series.look(atMs, count);

  assert.equal(series.min, 4);
  series.look(60, 3);
  assert.equal(series.min, 3);
});

Deno.test("WorkerSeries thins out its course, when it is long, and nothing else", () => {
  const series = new WorkerSeries();
  const changes = 100_000;
  for (let index = 0; index < changes; index++) series.look(index * 10, index % 7);

  assert(series.timeline.length <= 4096, `${series.timeline.length}`);
  assert(series.timeline.length > 1000);
  assert(series.timeline.every(([atMs], index, all) => index === 0 || atMs > all[index - 1]![0]));
  assert.deepEqual(series.timeline.at(-1), [(changes - 1) * 10, (changes - 1) % 7]);
  assert.deepEqual([series.min, series.peak], [0, 6]);
  const mean = series.workerMs(changes * 10) / (changes * 10);
  assert(Math.abs(mean - 3) < 0.001, `${mean}`);
});
