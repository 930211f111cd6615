/**
 * Pools that do nothing of use: hung, or failing.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { Finding, FindingCode } from "../../../src/explain/diagnose.ts";
import { RetryLater } from "../../../src/contract/errors.ts";
import { codesOf, diagnosisOf, type Scenario } from "./_load.ts";

async function one(code: FindingCode, scenario: Scenario): Promise<Finding> {
  const found = (await diagnosisOf(scenario)).filter((finding) => finding.code === code);
  assert.equal(found.length, 1, `${code} is told once`);
  return found[0]!;
}

Deno.test("diagnose() says stalled soon, when every worker is stuck and jobs are ready, however long attempts may run", async () => {
  const found = await diagnosisOf({
    pool: {
      size: { min: 1, max: 3 },
      lanes: [{ name: "jobs", targetWaitMs: 50, attempts: 1 }],
      timeoutMs: 60_000,
      handler: () => new Promise(() => {}),
      admission: "admit-all",
    },
    streams: [{ lane: "jobs", perSec: 1 }],
    forMs: 85_000,
  });

  const finding = found.find(({ code }) => code === "stalled");
  assert.match(
    finding?.saw ?? "",
    /^For 1\d s no worker could take a job: \d+ jobs are ready, the oldest for 1 min \d+ s; of 0 workers 0 are busy, 3 stuck$/,
  );
  assert.equal(
    finding?.change,
    "Make the handler stop when context.signal aborts: stuck workers count against every cap",
  );
});

Deno.test("diagnose() says stalled of attempts that took minutes, although older samples are a minute apart", async () => {
  const found = await diagnosisOf({
    pool: {
      size: { min: 1, max: 1 },
      lanes: [{ name: "jobs", targetWaitMs: null }],
      timeoutMs: 36_000_000,
      admission: "admit-all",
    },
    streams: [{ lane: "jobs", perSec: 1, serviceMs: (atMs) => atMs < 1500 ? 60_000 : 1e9 }],
    forMs: 600_000,
  });

  assert.ok(codesOf(found).includes("stalled"), codesOf(found).join());
});

Deno.test("diagnose() says failing, when attempts fail or are all put off, not when a few do", async () => {
  const scenario = (handler: (count: number) => void): Scenario => {
    let count = 0;
    return {
      pool: {
        size: { min: 1, max: 2 },
        lanes: [{ name: "jobs", targetWaitMs: 50, attempts: 2 }],
        handler: async () => {
          await Promise.resolve(); // a job that takes no time at all leaves no tick to sample at
          handler(count++);
        },
      },
      streams: [{ lane: "jobs", perSec: 2 }],
      forMs: 30_000,
    };
  };

  const failing = await one(
    "failing",
    scenario(() => {
      throw new Error("connection refused");
    }),
  );
  const deferring = await one(
    "failing",
    scenario(() => {
      throw new RetryLater(1_000);
    }),
  );
  const some = await diagnosisOf(scenario((count) => {
    if (count % 4 === 0) throw new Error("bad job");
  }));

  assert.match(
    failing.saw,
    /^In \d+(?:\.\d)? s (\d+) of \1 attempts failed and 0 were deferred: 0 jobs were done$/,
  );
  assert.match(
    failing.change,
    /^Read the errors of the jobs \(sluice jobs ls and dlq ls show the last of each\)/,
  );
  assert.equal(failing.numbers.share, 1);
  assert.match(
    deferring.saw,
    /^In [\d.]+ s 0 of (\d+) attempts failed and \1 were deferred: 0 jobs were done$/,
  );
  assert.match(deferring.change, /^Check why the receiver defers every job/);
  assert.deepEqual(codesOf(some), []);
});
