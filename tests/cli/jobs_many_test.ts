import assert from "node:assert/strict";
import { served } from "./_served.ts";

Deno.test("jobs ls lists those of all pools in the order of time, jobs count counts", async () => {
  await using remote = await served();
  const { send, clock } = remote.system;
  await send("POST", "/api/pools/mail/jobs", { lane: "urgent", payload: { fail: "no" } });
  await clock.advance(1_000);
  await send("POST", "/api/pools/typed/jobs", { lane: "only", type: "send", payload: 1 });
  await clock.advance(1_000);

  const all = await remote.run(["jobs", "ls"]);
  const one = await remote.run(["jobs", "ls", "--limit", "1"]);
  const none = await remote.run(["jobs", "ls", "--state", "ready"]);
  const lane = await remote.run(["jobs", "ls", "--lane", "only"]);
  const unknown = await remote.run(["jobs", "ls", "--lane", "onyl"]);
  const [, cursor = ""] = /--cursor (\S+)/.exec(one.out) ?? [];
  const second = await remote.run(["jobs", "ls", "--limit", "1", "--cursor", cursor]);
  const other = await remote.run(["jobs", "ls", "--state", "done", "--cursor", cursor]);
  const dead = await remote.run(["jobs", "count", "mail", "--state", "dead"]);
  const json = await remote.run(["jobs", "count", "mail", "--lane", "urgent", "--json"]);

  assert.match(all.out, /^POOL +ID +LANE .*\ntyped .* done .*\nmail .* dead \(attempts\) .* no\n$/);
  assert.match(one.out, /^POOL .*\ntyped .*\nMore jobs, back to 2026-\S+Z: add --cursor \S+\n$/);
  assert.match(second.out, /^POOL .*\nmail .* dead .*\n$/);
  assert.match(lane.out, /^POOL .*\ntyped .*\n$/);
  assert.equal(none.out, "No such jobs\n");
  assert.match(unknown.err, /No lane is named "onyl": did you mean "only"\?/);
  assert.match(other.err, /The cursor belongs to another list/);
  assert.deepEqual([unknown.code, other.code, dead.out], [2, 2, "1\n"]);
  assert.equal(JSON.parse(json.out).count, 1);
});

Deno.test("jobs purge asks, then cancels what waits; operations lists that", async () => {
  await using remote = await served();
  const { send } = remote.system;
  for (let index = 0; index < 3; index++) {
    const job = { lane: "batch", payload: index, delayMs: 60_000 };
    await send("POST", "/api/pools/mail/jobs", job);
  }
  const before = await remote.run(["operations"]);
  const refused = await remote.run(["jobs", "purge", "mail"], { confirm: () => false });
  const purged = await remote.run(["jobs", "purge", "mail", "--lane", "batch", "--yes"]);
  const listed = await remote.run(["operations", "ls"]);
  const [, id = ""] = /^(\S+) +mail +purge +done /m.exec(listed.out) ?? [];
  const shown = await remote.run(["operations", "show", id, "--json"]);
  const cancelled = await remote.run(["operations", "cancel", id]);

  assert.equal(before.out, "No operations\n");
  assert.deepEqual([refused.code, refused.asked], [
    1,
    ['Cancel all jobs that wait of pool "mail"?'],
  ]);
  assert.equal(purged.out, 'Pool "mail": 3 jobs cancelled\n');
  assert.equal(JSON.parse(shown.out).changed, 3);
  assert.match(cancelled.out, /mail +purge +done /);
});
