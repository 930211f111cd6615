import assert from "node:assert/strict";
import type { JobAttempt, JobRecord } from "../../src/contract/job.ts";
import { timelineOf } from "../../src/explain/timeline.ts";

const JOB: JobRecord = {
  id: "a",
  pool: "p",
  lane: "high",
  type: "",
  payload: 0,
  attempt: 0,
  state: "ready",
  createdAtMs: 1000,
  dueAtMs: 1000,
};

function attempt(startedAtMs: number, ms: number, parts: Partial<JobAttempt> = {}): JobAttempt {
  return { attempt: 1, startedAtMs, ms, worker: "w", end: "failed", ...parts };
}

/** The spans of a job at 9000, as `kind from-to`, `+` for one that goes on. */
function spans(parts: Partial<JobRecord>): readonly string[] {
  return timelineOf({ ...JOB, ...parts }, 9000).map(({ kind, fromMs, toMs, isOpen }) =>
    `${kind} ${fromMs}-${toMs}${isOpen ? "+" : ""}`
  );
}

Deno.test("timelineOf() shows how long a job that waits was delayed, blocked and ready", () => {
  assert.deepEqual(spans({ readyAtMs: 1000 }), ["ready 1000-9000+"]);
  assert.deepEqual(spans({ dueAtMs: 3000, readyAtMs: 5000 }), [
    "delayed 1000-3000",
    "blocked 3000-5000",
    "ready 5000-9000+",
  ]);
  assert.deepEqual(spans({ state: "blocked", dueAtMs: 3000 }), [
    "delayed 1000-3000",
    "blocked 3000-9000+",
  ]);
  assert.deepEqual(spans({ state: "delayed", dueAtMs: 20_000 }), ["delayed 1000-20000+"]);
});

Deno.test("timelineOf() shows the attempts of a job, and what was between them", () => {
  const history = [attempt(2000, 500), attempt(4000, 1000, { attempt: 2, end: "deferred" })];
  const tried = { attempt: 2, history, startedAtMs: 4000 };
  const before = ["waited 1000-2000", "failed 2000-2500", "waited 2500-4000", "deferred 4000-5000"];
  assert.deepEqual(spans({ ...tried, state: "delayed", dueAtMs: 12_000 }), [
    ...before,
    "delayed 5000-12000+",
  ]);
  const again = { ...tried, attempt: 3, startedAtMs: 7000, dueAtMs: 6000, readyAtMs: 6500 };
  assert.deepEqual(spans({ ...again, state: "running" }), [
    ...before,
    "delayed 5000-6000",
    "blocked 6000-6500",
    "ready 6500-7000",
    "running 7000-9000+",
  ]);
  assert.equal(spans({ ...again, state: "done", endedAtMs: 7800 }).at(-1), "done 7000-7800");
});

Deno.test("timelineOf() shows a job that ended without a start, and one that was retried by hand", () => {
  assert.deepEqual(spans({ state: "cancelled", endedAtMs: 4000, dueAtMs: 2000 }), [
    "delayed 1000-2000",
    "waited 2000-4000",
  ]);
  assert.deepEqual(
    spans({
      state: "dead",
      reason: "late",
      endedAtMs: 4000,
      readyAtMs: 3500,
    }),
    ["blocked 1000-3500", "ready 3500-4000"],
  );
  const revived = { atMs: 5000, attempts: 1 };
  const history = [attempt(2000, 500)];
  assert.deepEqual(
    spans({ revived, history, startedAtMs: 2000, dueAtMs: 5000, readyAtMs: 5000 }),
    ["waited 1000-2000", "failed 2000-2500", "dead 2500-5000", "ready 5000-9000+"],
  );
});

Deno.test("timelineOf() leaves no gap and goes back nowhere, whatever clocks say", () => {
  const history = [attempt(500, 10), attempt(3000, -5), attempt(2500, 100)];
  for (const state of ["ready", "running", "blocked", "delayed", "done", "dead"] as const) {
    for (const readyAtMs of [undefined, 100, 2000, 9e9]) {
      for (const endedAtMs of state === "done" || state === "dead" ? [50, 4000] : [undefined]) {
        let atMs = JOB.createdAtMs;
        const times = { state, readyAtMs, endedAtMs, history, startedAtMs: 2500 };
        for (const { fromMs, toMs } of timelineOf({ ...JOB, ...times }, 9000)) {
          assert.ok(fromMs >= atMs && toMs >= fromMs, `${state} ${readyAtMs} ${endedAtMs}`);
          atMs = toMs;
        }
      }
    }
  }
});
