import assert from "node:assert/strict";
import { start } from "../../../mod.ts";
import { admin } from "../../../src/admin/mod.ts";
import { VirtualClock } from "../../../src/time/virtual_clock.ts";
import type { ProblemBody } from "../_app.ts";

const POOL = {
  handlers: { mail: () => 1, sms: () => 1 },
  size: { min: 0, max: 1 },
  lanes: [{ name: "high" }, { name: "low", paused: true }],
  routes: [{ if: { type: "m*" }, lane: "low" }],
};

Deno.test("POST jobs takes jobs without a lane where a route fits, and says where none does", async () => {
  const clock = new VirtualClock();
  await using sluice = await start({ pools: { mail: POOL } }, { clock });
  const app = admin(sluice);
  const send = async (body: unknown) => {
    const headers = { "content-type": "application/json", host: "127.0.0.1" };
    const given = { method: "POST", headers, body: JSON.stringify(body) };
    return await app.request("http://127.0.0.1/api/pools/mail/jobs", given);
  };

  const taken = await send({ type: "mail", payload: 1 });
  const none = await send({ type: "sms", key: "a", payload: 1 });
  const odd = await send({ type: "fax", payload: 1 });
  const many = await send([{ type: "mail", payload: 2 }, { type: "sms", payload: 3 }]);

  assert.equal(taken.status, 202);
  const detail =
    'No route fits a job of type "sms" with the key "a": name its lane, one of "high", "low"';
  assert.equal(none.status, 400);
  const problem: ProblemBody = await none.json();
  assert.deepEqual(problem.errors, [{ pointer: "/lane", detail }]);
  const { errors }: ProblemBody = await odd.json();
  assert.deepEqual(errors?.map(({ pointer }) => pointer), ["/type"]);
  const { results }: { results: readonly { id?: string; error?: string }[] } = await many.json();
  assert.match(results[1]?.error ?? "", /^\/lane: No route fits a job of type "sms" without a key/);
  const { jobs } = await sluice.pool("mail").list({ limit: 9 });
  assert.deepEqual(jobs.map(({ lane, payload }) => [lane, payload]), [["low", 1], ["low", 2]]);
});

Deno.test("the page that enqueues offers to leave the lane to the routes", async () => {
  const { routes: _, ...plain } = POOL;
  await using sluice = await start({ pools: { mail: POOL, plain } }, { clock: new VirtualClock() });
  const app = admin(sluice);
  const page = async (pool: string) =>
    await (await app.request(`http://127.0.0.1/pools/${pool}/enqueue`)).text();

  assert.match(await page("mail"), /<option value="">as the routes say<\/option>/);
  assert.doesNotMatch(await page("plain"), /as the routes say/);
});
