import assert from "node:assert/strict";
import { served } from "./_served.ts";

Deno.test("schedules lists each with its next time and its latest job, runs, pauses and resumes it", async () => {
  await using remote = await served();
  const { clock } = remote.system;
  const before = await remote.run(["schedules"]);
  const [, id = ""] = /^typed +(\w+) +only +@yearly +(2027-01-01T\S+) +- +no job yet$/m
    .exec(before.out) ?? [];
  const ran = await remote.run(["schedules", "run", "typed", id]);
  await clock.advance(600_000);
  const after = await remote.run(["schedules", "ls", "typed"]);
  const paused = await remote.run(["schedules", "pause", "typed", id]);
  const listed = await remote.run(["schedules", "ls"]);
  const resumed = await remote.run(["schedules", "resume", "typed", id]);
  const none = await remote.run(["schedules", "ls", "mail"]);
  const json = await remote.run(["schedules", "ls", "--json"]);

  assert.match(before.out, /^POOL +ID +LANE +CRON +NEXT +LAST +OUTCOME\n/);
  const [, job = ""] = /^Job (\S+) is stored; "sluice jobs show \S+ --url \S+" shows it\n$/
    .exec(ran.out) ?? [];
  assert.ok(after.out.includes(`dead ${job}: no\n`), after.out);
  assert.match(
    paused.out,
    /^Schedule @yearly of pool "typed" is paused; "sluice schedules resume typed \w+ --url \S+" resumes it\n$/,
  );
  assert.match(listed.out, / @yearly +paused /);
  assert.match(resumed.out, /is resumed: it comes next at 2027-/);
  assert.equal(none.out, "No schedules\n");
  assert.equal(JSON.parse(json.out)[0].id, id);
});

Deno.test("schedules exits 1 for one that is not there, 2 for a pool that is not", async () => {
  await using remote = await served();

  const schedule = await remote.run(["schedules", "run", "typed", "x"]);
  const pool = await remote.run(["schedules", "ls", "typd"]);

  assert.deepEqual([schedule.code, pool.code], [1, 2]);
});
