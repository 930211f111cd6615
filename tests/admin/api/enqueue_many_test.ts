import assert from "node:assert/strict";
import { problemOf, running } from "../_app.ts";

const JOBS = "/api/pools/mail/jobs";

Deno.test("POST jobs answers each job of an array in order", async () => {
  await using system = await running();
  const job = { lane: "batch", payload: 1, delayMs: 1_000, dedupeKey: "d" };

  const response = await system.send("POST", JOBS, [
    job,
    { lane: "bach", payload: 1 },
    job,
    { lane: "full", payload: 1 },
    { lane: "full", payload: 2 },
    7,
  ]);
  const { results } = await response.json();

  assert.equal(response.status, 200);
  assert.equal(typeof results[0].id, "string");
  assert.deepEqual(results[1], { error: '/lane: No lane is named "bach": did you mean "batch"?' });
  assert.deepEqual(results[2], { duplicateOf: results[0].id });
  assert.equal(typeof results[3].id, "string");
  assert.deepEqual(results[4], {
    error: 'lane "full" is at its maxDepth of 1',
    retryAfterMs: 1_000,
  });
  assert.deepEqual(results[5], { error: "Expected a job as an object but received 7" });
});

Deno.test("POST jobs refuses the large job of an array, and takes the others", async () => {
  await using system = await running();

  const response = await system.send("POST", JOBS, [
    { lane: "batch", payload: "x".repeat(70_000) },
    { lane: "batch", payload: 1 },
  ]);
  const { results } = await response.json();

  assert.match(results[0].error, /expected at most 65536 bytes/);
  assert.equal(typeof results[1].id, "string");
});

Deno.test("POST jobs takes 1,000 jobs at once and refuses more", async () => {
  await using system = await running();
  const jobs = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ lane: "batch", payload: index }));

  const most = await system.send("POST", JOBS, jobs(1_000));
  const more = await system.send("POST", JOBS, jobs(1_001));

  assert.equal((await most.json()).results.length, 1_000);
  assert.equal(more.status, 400);
  assert.equal(
    (await problemOf(more)).detail,
    "Expected at most 1000 jobs but received 1001: send them in parts",
  );
});

Deno.test("POST jobs answers an empty array with no results", async () => {
  await using system = await running();

  const response = await system.send("POST", JOBS, []);

  assert.deepEqual([response.status, await response.json()], [200, { results: [] }]);
});

Deno.test("POST jobs answers 429 to an array only if every job of it is turned away", async () => {
  await using system = await running();
  await system.send("POST", JOBS, { lane: "full", payload: 1 });

  const response = await system.send("POST", JOBS, [
    { lane: "full", payload: 2 },
    { lane: "full", payload: 3 },
  ]);
  const problem = await problemOf(response);

  assert.equal(response.status, 429);
  assert.equal(response.headers.get("retry-after"), "1");
  assert.equal(problem.detail, "All 2 jobs were rejected: retry later");
  assert.equal(problem.reason, "every job was rejected");
  assert.equal(problem.results?.length, 2);
});

Deno.test("POST jobs answers 400, when the answer to a list is to be held", async () => {
  await using system = await running();
  const jobs = [{ lane: "batch", payload: 1 }];

  const response = await system.send("POST", `${JOBS}?waitMs=1000`, jobs);

  assert.deepEqual((await problemOf(response)).errors, [{
    pointer: "?waitMs",
    detail: "waitMs works for one job, not for a list: leave it out and look up each job",
  }]);
  assert.equal(response.status, 400);
});
