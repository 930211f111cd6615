import assert from "node:assert/strict";
import { warmWorker } from "../../_what_if.ts";
import { problemOf, type Running, running } from "../_app.ts";

async function busy(system: Running): Promise<void> {
  for (let second = 0; second < 5; second++) {
    for (let job = 0; job < 5; job++) {
      await system.send("POST", "/api/pools/mail/jobs", { lane: "urgent", payload: job });
    }
    await system.clock.advance(1000);
  }
}

const PATH = "/api/pools/mail/whatif";

Deno.test("POST …/whatif answers what happened and what would have been", async () => {
  await warmWorker();
  await using system = await running();
  await busy(system);

  const response = await system.send("POST", PATH, { changes: { "size.max": 1 } });
  const answer = await response.json();

  assert.equal(response.status, 200, JSON.stringify(answer));
  assert.deepEqual(answer.changes, ["pools.mail.size.max: 4 -> 1"]);
  assert.ok(answer.spanMs >= 4000 && answer.spanMs <= 5000);
  const [happened, asItIs] = [answer.happened.lanes[0], answer.asItIs.lanes[0]];
  assert.equal(happened.lane, "urgent");
  assert.ok(Math.abs(happened.done - asItIs.done) <= 5);
  assert.equal(answer.changed.peak, 1);
  assert.equal(answer.lanes[0].changedMs.length, answer.lanes[0].asItIsMs.length);
  assert.ok(answer.lanes[0].happenedMs.some((wait: number | null) => wait !== null));
});

Deno.test("POST …/whatif says what is wrong, and answers one question at a time", async () => {
  await warmWorker();
  await using system = await running();
  const early = await problemOf(await system.send("POST", PATH, { changes: { "size.max": 1 } }));
  await busy(system);
  const ask = (changes: unknown) => system.send("POST", PATH, { changes });

  const [none, key, lane, range] = [
    await problemOf(await ask({})),
    await problemOf(await ask({ "size.mx": 1 })),
    await problemOf(await ask({ "lanes.urgnt.maxRunning": 1 })),
    await problemOf(await ask({ "size.max": 0 })),
  ];
  const both = await Promise.all([ask({ "size.max": 1 }), ask({ "size.max": 2 })]);
  await Promise.all(both.map((response) => response.body?.cancel()));

  assert.equal(early.status, 409);
  assert.deepEqual([none, key, lane, range].map(({ status }) => status), [400, 400, 400, 400]);
  assert.match(key.errors?.[0]?.detail ?? "", /No key is named "mx"/);
  assert.match(lane.errors?.[0]?.detail ?? "", /did you mean "urgent"\?/);
  assert.match(range.errors?.[0]?.detail ?? "", /size\/max/);
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 503]);
});

Deno.test("POST …/whatif is for admins", async () => {
  const tokens = {
    adminToken: "an-admin-token-of-length",
    viewerToken: "a-viewer-token-of-length",
  };
  await using system = await running(tokens);

  const response = await system.app.request(PATH, {
    method: "POST",
    headers: {
      "authorization": `Bearer ${tokens.viewerToken}`,
      "content-type": "application/json",
    },
    body: '{"changes":{"size.max":1}}',
  });

  assert.equal((await problemOf(response)).status, 403);
});
