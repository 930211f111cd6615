import assert from "node:assert/strict";
import { problemOf, running } from "../_app.ts";

const JOBS = "/api/pools/mail/jobs";

for (const field of ["delayMs", "ttlMs"]) {
  Deno.test(`POST jobs answers 400 for a ${field} that no date could tell, and stores nothing`, async () => {
    await using system = await running();

    for (const given of [3_153_600_000_001, 2 ** 53]) {
      const job = { lane: "urgent", payload: 1, [field]: given };
      const detail =
        `Expected ${field} to be at most 3153600000000 ms (100 years) but received ${given}`;
      const one = await system.send("POST", JOBS, job);
      const many = await system.send("POST", JOBS, [job]);

      assert.equal(one.status, 400);
      assert.deepEqual((await problemOf(one)).errors, [{ pointer: `/${field}`, detail }]);
      assert.deepEqual(await many.json(), { results: [{ error: `/${field}: ${detail}` }] });
    }
    assert.deepEqual((await system.sluice.pool("mail").list({ limit: 9 })).jobs, []);
    const job = { lane: "full", payload: 1, [field]: 3_153_600_000_000 };
    assert.equal((await system.send("POST", JOBS, job)).status, 202);
  });
}
