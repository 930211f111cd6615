import assert from "node:assert/strict";
import { served } from "./_served.ts";

Deno.test("pools drain says each second how many run, until when, and what becomes of those that wait", async () => {
  await using remote = await served();
  const { sluice, clock, release } = remote.system;
  await sluice.enqueue("mail", { lane: "urgent", payload: { hang: true } });
  await sluice.pool("mail").pause("batch");
  for (let job = 0; job < 3; job++) await sluice.enqueue("mail", { lane: "batch", payload: job });
  await clock.advance(100);

  let lines = 0;
  const drained = remote.run(["pools", "drain", "mail", "--yes", "--deadline", "20s"], {
    err: (text) => {
      said.push(text);
      if (++lines === 2) release();
    },
  });
  const said: string[] = [];
  const { code, out } = await drained;

  assert.equal(code, 0);
  assert.deepEqual(said, [
    ...new Array(2).fill(
      "Draining for 0 ms: 1 job runs: it has 20 s to end, or goes back without a counted attempt; " +
        "3 wait and will be lost with this process: its store is in memory\n",
    ),
  ]);
  assert.equal(out, 'Pool "mail" is drained: 0 jobs handed back, 3 waiting\n');
});

Deno.test("describe, top and the page of a pool that drains say how far it is", async () => {
  await using remote = await served();
  const { sluice, clock, release, app } = remote.system;
  await sluice.enqueue("mail", { lane: "urgent", payload: { hang: true } });
  await clock.advance(100);
  const drained = sluice.pool("mail").drain(10_000);
  await clock.advance(3_000);
  const text = "Draining for 3 s: 1 job runs: it has 7 s to end, " +
    "or goes back without a counted attempt; none waits";

  const shown = [
    (await remote.run(["pools", "describe", "mail"])).out,
    (await remote.run(["top", "--once"])).out,
    await (await app.request("/pools/mail")).text(),
  ];
  release();
  await drained;

  for (const one of shown) assert.ok(one.includes(text), one);
});
