import assert from "node:assert/strict";
import { compare, sentencesOf } from "../../src/simulate/compare.ts";
import type { Report } from "../../src/simulate/report.ts";

function report(p99: number, workerSeconds: number, done = 100): Report {
  const times = { p50: 1, p95: 2, p99, max: p99 };
  const lane = {
    arrived: 100,
    started: 100,
    done,
    dead: 0,
    shed: 0,
    left: 100 - done,
    perSec: 10,
  };
  const workers = { min: 1, peak: 4, final: 1, mean: 2, workerSeconds, timeline: [] };
  return {
    seed: 1,
    durationMs: 10_000,
    pools: {
      mail: {
        lanes: { urgent: { ...lane, waitMs: times, sojournMs: times } },
        workers,
        scaleEvents: 0,
        reversals: 0,
        decisions: [],
        diagnosis: [],
        series: { bucketMs: 10, untilMs: 0, min: [], limit: [], lanes: {} },
      },
    },
  };
}

Deno.test("compare() says what is better and what is worse, with both figures", () => {
  const comparison = compare(report(80, 100), report(20, 150));

  assert.deepEqual(sentencesOf(comparison), [
    "Better: mail/urgent p99 wait 20 ms instead of 80; mail/urgent longest wait 20 ms instead of 80.",
    "Worse: mail 150 worker-seconds instead of 100.",
  ]);
});

Deno.test("compare() takes small differences for none", () => {
  assert.deepEqual(sentencesOf(compare(report(20, 100), report(20.9, 101))), [
    "No difference that counts.",
  ]);
});

Deno.test("compare() knows that more jobs done are better", () => {
  assert.deepEqual(compare(report(20, 100, 50), report(20, 100, 90)), {
    better: ["mail/urgent 90 done instead of 50"],
    worse: [],
  });
});
