import assert from "node:assert/strict";
import { admin } from "../../../src/admin/mod.ts";
import { Gatherer } from "../../../src/admin/api/gather.ts";
import type { NewJob } from "../../../src/contract/job.ts";
import type { Sluice } from "../../../src/runtime/handles.ts";
import { VirtualClock } from "../../../src/time/virtual_clock.ts";
import { running, withPool } from "../_app.ts";

const JOB = { lane: "batch", payload: 1 };

/** Posts jobs, or lists of them, at the same time. `key`: the `Idempotency-Key` of all. */
async function postTogether(
  sluice: Sluice,
  jobs: readonly (readonly [pool: string, body: NewJob | readonly NewJob[]])[],
  key?: string,
): Promise<readonly { readonly status: number; readonly body: { readonly id?: string } }[]> {
  const headers = {
    "content-type": "application/json",
    ...(key === undefined ? {} : { "idempotency-key": key }),
  };
  const app = admin(sluice);
  return await Promise.all(jobs.map(async ([pool, given]) => {
    const response = await app.request(`/api/pools/${pool}/jobs`, {
      method: "POST",
      headers,
      body: JSON.stringify(given),
    });
    return { status: response.status, body: await response.json() };
  }));
}

Deno.test("POST jobs gives the pool the jobs of requests that come together in one call, and each its own answer", async () => {
  await using system = await running();
  const calls: number[] = [];
  const sluice = withPool(system.sluice, (pool) => ({
    enqueueAll: async (jobs) => {
      calls.push(jobs.length);
      return await pool.enqueueAll(jobs);
    },
  }));
  const payloads = [1, 2, 3, 4, 5];

  const answers = await postTogether(
    sluice,
    payloads.map((payload) => ["mail", { lane: "batch", payload }]),
  );

  const stored = await Promise.all(
    answers.map(({ body }) => system.sluice.pool("mail").find(body.id!)),
  );
  assert.deepEqual(calls, [5]);
  assert.deepEqual(stored.map((job) => job?.payload), payloads);
});

Deno.test("POST jobs turns one job away, and takes those that came with it", async () => {
  await using system = await running();

  const answers = await postTogether(system.sluice, [
    ["mail", { lane: "full", payload: 1 }],
    ["mail", { lane: "full", payload: 2 }],
    ["mail", { lane: "batch", payload: 3 }],
    ["typed", { lane: "only", type: "send", payload: 4 }],
  ]);

  assert.deepEqual(answers.map(({ status }) => status), [202, 429, 202, 202]);
});

for (const [what, body] of [["a job", JOB], ["many", [JOB, JOB]]] as const) {
  Deno.test(`POST jobs of the same Idempotency-Key that come together bring ${what} once`, async () => {
    await using system = await running();
    const stored: string[] = [];
    const sluice = withPool(system.sluice, (pool) => ({
      enqueueAll: async (jobs) => {
        const taken = await pool.enqueueAll(jobs);
        stored.push(...taken.flatMap((job) => "id" in job && !job.duplicate ? [job.id] : []));
        await system.clock.advance(10_000); // they have ended before anybody hears of it
        return taken;
      },
    }));

    const answers = await postTogether(sluice, [1, 2, 3].map(() => ["mail", body]), "order-17");
    const texts = answers.map((answer) => JSON.stringify(answer.body));

    assert.equal(stored.length, [body].flat().length);
    assert.equal(texts[1], texts[2]);
    assert.match(texts[1] ?? "", /"duplicateOf":"/);
    assert.equal(texts.filter((text) => text.includes("duplicateOf")).length, 2);
  });
}

Deno.test("POST jobs of the same Idempotency-Key are each tried, where the one before was turned away", async () => {
  await using system = await running();
  const job = { lane: "full", payload: 1 };
  await system.sluice.enqueue("mail", { lane: "full", payload: 0 });

  const answers = await postTogether(system.sluice, [["mail", job], ["mail", job]], "order-17");

  assert.deepEqual(answers.map(({ status }) => status), [429, 429]);
});

Deno.test("POST jobs answers requests with the same dedupeKey that come together with one job", async () => {
  await using system = await running();
  const job = { lane: "batch", payload: 1, delayMs: 5_000, dedupeKey: "order-1" };

  const [first, second] = await postTogether(system.sluice, [["mail", job], ["mail", job]]);

  assert.deepEqual([first?.status, second?.status], [202, 200]);
  assert.deepEqual(second?.body, { id: first?.body.id, duplicateOf: first?.body.id });
});

Deno.test("Gatherer add() stores a job though the clock has no event loop to wait for", async () => {
  await using system = await running();
  const pool = system.sluice.pool("mail");
  const gatherer = new Gatherer(new VirtualClock());

  const { taken, place } = gatherer.add(pool, { lane: "batch", payload: 1 });
  const job = (await taken)[place];

  assert.ok(job !== undefined && !(job instanceof Error));
  assert.equal((await pool.find(job.id))?.payload, 1);
});
