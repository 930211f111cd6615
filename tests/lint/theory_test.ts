import assert from "node:assert/strict";
import { erlangC, waitsBeyond } from "../../src/base/erlang.ts";
import { played } from "../explain/diagnose/_load.ts";

Deno.test("a real pool under random arrivals and run times waits as Erlang C says", async () => {
  const waits: number[] = [];
  const queue = { workers: 4, load: 2.4, serviceMs: 20 };

  await played({
    pool: {
      size: { min: 4, max: 4 },
      lanes: [{ name: "jobs" }],
      admission: "admit-all",
    },
    streams: [{
      lane: "jobs",
      perSec: queue.load * 1000 / queue.serviceMs,
      poisson: true,
      serviceMs: (_, random) => -Math.log(1 - random()) * queue.serviceMs,
    }],
    forMs: 240_000,
  }, ({ events }) => {
    for (const event of events) if (event.kind === "job-started") waits.push(event.waitMs);
  });

  const share = (ms: number): number => waits.filter((wait) => wait > ms).length / waits.length;
  assert.ok(waits.length > 28_000);
  // Waits of one run hang together: of 240 s about 1,200 spells are independent, so that a tenth is
  // two standard deviations of the first figure.
  assert.ok(Math.abs(share(0) / erlangC(4, 2.4) - 1) < 0.1, `${share(0)} waited`);
  for (const ms of [5, 10]) {
    const expected = waitsBeyond(queue, ms);
    assert.ok(Math.abs(share(ms) / expected - 1) < 0.15, `${share(ms)} beyond ${ms} ms`);
  }
});
