import assert from "node:assert/strict";
import { type Ran, sluice } from "./_io.ts";
import { served } from "./_served.ts";

Deno.test("enqueue --wait shows the result, and exits 1 when the job is dead", async () => {
  await using remote = await served();
  const wait = (payload: string): Promise<Ran> =>
    remote.run(["enqueue", "mail", "--lane", "urgent", "--wait", "10s", "--payload", payload]);

  const done = await wait("[1]");
  const dead = await wait('{"fail":"no such address"}');

  assert.match(done.out, /^Job \S+ is done: \{"echo":\[1\]\}\n$/);
  assert.deepEqual([dead.code, dead.err], [1, "The job is dead: no such address\n"]);
});

Deno.test("enqueue --wait exits 1, when the job has not ended in that time, and says that it is stored", async () => {
  await using remote = await served();
  const enqueue = ["enqueue", "mail", "--lane", "batch", "--delay", "1h", "--dedupe-key", "d"];
  const err =
    "The job has not ended within --wait: it is stored and may still run, so do not send it again\n";

  const late = await remote.run([...enqueue, "--wait", "1ms"]);
  const again = await remote.run([...enqueue, "--wait", "1ms"]);
  const json = await remote.run([...enqueue, "--wait", "1ms", "--json"]);
  const unasked = await remote.run([...enqueue, "--wait", "0"]);

  const { jobs: [job] } = await remote.system.sluice.pool("mail").list({ limit: 1 });
  const look = `"sluice jobs show ${job?.id} --url ${remote.server.url}" shows it`;
  assert.deepEqual([late.code, late.err], [1, err]);
  assert.equal(late.out, `Job ${job?.id} is stored, it has not ended yet; ${look}\n`);
  assert.deepEqual([again.code, again.err], [1, err]);
  assert.match(
    again.out,
    /^Job \S+ has the dedupeKey already: no second one was stored\n$/,
  );
  assert.deepEqual([json.code, JSON.parse(json.out).id], [1, job?.id]);
  assert.equal(unasked.code, 0);
});

Deno.test("enqueue --wait exits 1, when the pool stops before the job has ended", async () => {
  await using remote = await served();
  const { sluice } = remote.system;
  const unobserve = sluice.observe((event) => {
    if (event.kind === "job-added") void sluice.pool("mail").drain(0);
  });

  const { code, err } = await remote.run(
    ["enqueue", "mail", "--lane", "full", "--wait", "60s"],
  );
  unobserve();

  assert.deepEqual([code, err], [
    1,
    "The job has not ended and its pool has stopped: a durable store keeps it for the next start\n",
  ]);
});

Deno.test("enqueue exits 2, when it is to wait for longer than an answer is held", async () => {
  const { code, err } = await sluice(["enqueue", "mail", "--lane", "full", "--wait", "5m"]);

  assert.deepEqual([code, err], [
    2,
    'Expected --wait to be at most 60s but received "5m": look later with "sluice jobs show"\n',
  ]);
});
