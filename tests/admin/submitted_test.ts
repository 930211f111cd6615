import assert from "node:assert/strict";
import { problemOf, running } from "./_app.ts";

const JOBS = "/api/pools/mail/jobs";

Deno.test("POST jobs answers 400 for a delay that no date could tell, and stores nothing", async () => {
  await using system = await running();

  for (const [delayMs, given] of [[2 ** 53, "9007199254740992"], [3_153_600_000_001]] as const) {
    const job = { lane: "urgent", payload: 1, delayMs };
    const detail = `Expected delayMs to be at most 3153600000000 ms (100 years) but received ${
      given ?? delayMs
    }`;
    const one = await system.send("POST", JOBS, job);
    const many = await system.send("POST", JOBS, [job]);

    assert.equal(one.status, 400);
    assert.deepEqual((await problemOf(one)).errors, [{ pointer: "/delayMs", detail }]);
    assert.deepEqual(await many.json(), { results: [{ error: `/delayMs: ${detail}` }] });
  }
  assert.deepEqual((await system.sluice.pool("mail").list({ limit: 9 })).jobs, []);
});
