import assert from "node:assert/strict";
import { start } from "../../mod.ts";
import { isoTime } from "../../src/time/iso_time.ts";
import { LONGEST_DELAY_MS } from "../../src/contract/job.ts";
import { sluice } from "./_io.ts";
import { type Served, served } from "./_served.ts";

async function deadJob({ system }: Served): Promise<string> {
  const job = await system.sluice.enqueue("mail", { lane: "urgent", payload: { fail: "no way" } });
  await system.clock.advance(1);
  return job.id;
}

Deno.test("jobs ls, show, cancel and retry", async () => {
  await using remote = await served();
  const dead = await deadJob(remote);
  const waiting = await remote.system.sluice.enqueue("mail", {
    lane: "batch",
    payload: { password: "p" },
    delayMs: 1_000,
  });

  const listed = await remote.run(["jobs", "ls", "mail"]);
  const page = await remote.run(["jobs", "ls", "mail", "--limit", "1"]);
  const none = await remote.run(["jobs", "ls", "mail", "--state", "running"]);
  const shown = await remote.run(["jobs", "show", waiting.id]);
  const shownDead = await remote.run(["jobs", "show", dead]);
  const cancelled = await remote.run(["jobs", "cancel", waiting.id, "--yes"]);
  const again = await remote.run(["jobs", "cancel", waiting.id, "--yes"]);
  const retried = await remote.run(["jobs", "retry", dead]);

  assert.match(listed.out, new RegExp(`^${dead} +urgent +dead \\(attempts\\) +1 .* no way$`, "m"));
  assert.match(page.out, /\nMore jobs: add --cursor \S+\n$/);
  assert.equal(none.out, "No such jobs\n");
  assert.match(shown.out, /\npayload \{"password":"\[redacted\]"\}\n/);
  assert.match(shownDead.out, /^\S+ {2}dead \(attempts\)\npool mail, lane urgent, attempt 1\n/);
  assert.match(
    shownDead.out,
    /\nerror no way\ntimeline\n {2}! attempt 1 failed 0 ms, from \S+\nattempt 1 failed after 0 ms, w1, started .*\n +Error\n +at [^\n]*\n$/,
  );
  assert.equal(cancelled.out, `Job ${waiting.id} is cancelled\n`);
  assert.deepEqual([again.code, again.err], [
    1,
    "The job is cancelled: only a job that has not ended can be cancelled\n",
  ]);
  assert.equal(retried.out, `Job ${dead} is ready\n`);
});

Deno.test("jobs show says when a job is due that is put off for as long as can be", async () => {
  await using remote = await served();
  const job = { lane: "batch", payload: 1, delayMs: LONGEST_DELAY_MS };
  const { id } = await remote.system.sluice.enqueue("mail", job);

  const { code, out } = await remote.run(["jobs", "show", id]);

  const due = new Date(remote.system.clock.nowMs() + LONGEST_DELAY_MS).toISOString();
  assert.equal(code, 0);
  assert.ok(out.includes(`, due ${due}\n`));
  assert.equal(isoTime(2 ** 53), "never"); // later than any date
});

Deno.test("enqueue refuses to have a job wait for more than 100 years, before it sends any", async () => {
  await using remote = await served();

  for (const option of ["--delay", "--ttl"]) {
    const one = await remote.run(["enqueue", "mail", "--lane", "batch", option, "876001h"]);

    assert.deepEqual([one.code, one.err], [
      2,
      `Expected ${option} to be at most 3153600000000 ms (100 years) but received "876001h"\n`,
    ]);
  }
  assert.deepEqual((await remote.system.sluice.pool("mail").list({ limit: 9 })).jobs, []);
});

Deno.test("jobs cancel goes on with the others, when one cannot be changed", async () => {
  await using remote = await served();
  const job = await remote.system.sluice.enqueue("mail", { lane: "full", payload: 1 });

  const { code, out, err } = await remote.run(["jobs", "cancel", "nope", job.id, "--yes"]);

  assert.equal(code, 1);
  assert.equal(out, `Job ${job.id} is cancelled\n`);
  assert.match(err, /^nope: No job has the id "nope": .*\n1 of 2 jobs was not changed\n$/);
});

Deno.test("dlq ls and jobs ls --state dead say when jobs died", async () => {
  await using remote = await served();
  const job = { lane: "urgent", payload: { fail: "no way" }, delayMs: 5_000 };
  const { id } = await remote.system.sluice.enqueue("mail", job);
  await remote.system.clock.advance(7_000);
  const { createdAtMs = 0 } = await remote.system.sluice.pool("mail").find(id) ?? {};
  const said = (ms: number): string => new Date(ms).toISOString();

  const dlq = await remote.run(["dlq", "ls", "mail"]);
  const dead = await remote.run(["jobs", "ls", "mail", "--state", "dead"]);
  const all = await remote.run(["jobs", "ls", "mail"]);

  for (const { out } of [dlq, dead]) {
    assert.match(out, /^ID .* DIED +LAST ERROR\n/);
    assert.ok(out.includes(said(createdAtMs + 5_000)), out);
  }
  assert.match(all.out, /^ID .* CREATED +LAST ERROR\n/);
  assert.ok(all.out.includes(said(createdAtMs)));
});

Deno.test("jobs ls and dlq ls list what has a text in it", async () => {
  await using remote = await served();
  const { sluice } = remote.system;
  const ann = await sluice.enqueue("mail", { lane: "full", payload: { to: "ann" } });
  await sluice.enqueue("mail", { lane: "batch", payload: { to: "bob" }, delayMs: 5_000 });
  const dead = await deadJob(remote);

  const jobs = await remote.run(["jobs", "ls", "mail", "--match", "Ann", "--json"]);
  const letters = await remote.run(["dlq", "ls", "mail", "--match", "no way", "--json"]);
  const none = await remote.run(["dlq", "ls", "mail", "--match", "ann"]);

  const ids = ({ out }: { out: string }): string[] =>
    JSON.parse(out).jobs.map(({ id }: { id: string }) => id);
  assert.deepEqual([ids(jobs), ids(letters)], [[ann.id], [dead]]);
  assert.equal(none.out, "No such jobs, 1 job looked at\n");
});

Deno.test("jobs ls looks on by itself for a text, and says how far it has looked", async () => {
  await using remote = await served();
  const mail = remote.system.sluice.pool("mail");
  const jobs = Array.from({ length: 1_000 }, (_, n) => ({ lane: "batch", payload: n, delayMs: 1 }));
  for (let left = 6; left > 0; left--) await mail.enqueueAll(jobs);
  const last = await mail.enqueue({ lane: "batch", payload: "last", delayMs: 2 });

  const none = await remote.run(["jobs", "ls", "mail", "--match", "nowhere"]);
  const found = await remote.run(["jobs", "ls", "mail", "--match", "last"]);

  assert.equal(none.out, "No such jobs, 6,001 jobs looked at\n");
  assert.match(found.out, new RegExp(last.id));
});

Deno.test("jobs ls shows no error of a job that is done after a failure, jobs show does", async () => {
  await using system = await start({
    admin: { port: 0 },
    pools: {
      mail: {
        handler: ({ attempt }) => {
          if (attempt === 1) throw new Error("try again");
        },
        size: { min: 1, max: 1 },
        lanes: [{ name: "urgent", backoff: { baseMs: 1, jitter: 0 } }],
      },
    },
  });
  const { id, done } = await system.enqueue("mail", { lane: "urgent", payload: 1 });
  await done;
  const url = ["--url", system.adminUrl ?? ""];

  const listed = await sluice(["jobs", "ls", "mail", ...url]);
  const shown = await sluice(["jobs", "show", id, ...url]);

  assert.match(listed.out, new RegExp(`^${id} +urgent +done +2 `, "m"));
  assert.doesNotMatch(listed.out, /try again/);
  assert.match(
    shown.out,
    /\nattempt 1 failed .*\n +try again\n +Error\n +at .*\nattempt 2 done .*\n$/,
  );
});

Deno.test("dlq ls, retry and discard --all act on dead jobs only, discard asks", async () => {
  await using remote = await served();
  const [first] = [await deadJob(remote), await deadJob(remote)];
  await remote.system.sluice.enqueue("mail", { lane: "full", payload: 1 });

  const listed = await remote.run(["dlq", "ls", "mail"]);
  const alone = await remote.run(["dlq", "discard", "mail", "--all"]);
  const retried = await remote.run(["dlq", "retry", "mail", first]);
  await remote.system.clock.advance(1);
  const discarded = await remote.run(["dlq", "discard", "mail", "--all"], { confirm: () => true });
  const none = await remote.run(["dlq", "retry", "mail", "--all"]);

  assert.equal(listed.out.trimEnd().split("\n").length, 3);
  assert.equal(
    alone.err,
    'No terminal to confirm "Discard 2 dead jobs of pool "mail"?": pass --yes\n',
  );
  assert.equal(retried.out, `Job ${first} is ready\n`);
  assert.deepEqual(discarded.asked, ['Discard 2 dead jobs of pool "mail"?']);
  assert.equal(discarded.out, 'Pool "mail": 2 jobs forgotten\n');
  assert.equal(none.out, 'Pool "mail" has no such jobs\n');
  assert.equal(remote.system.sluice.pool("mail").snapshot().lanes.at(-1)?.ready, 1);
});

Deno.test("dlq retry --all makes those ready again that --lane and --match choose", async () => {
  await using remote = await served();
  for (const fail of ["no way", "no address"]) {
    await remote.system.sluice.enqueue("mail", { lane: "urgent", payload: { fail } });
  }
  await remote.system.clock.advance(1);
  await remote.system.sluice.pool("mail").pause();

  const other = await remote.run(["dlq", "retry", "mail", "--all", "--lane", "batch"]);
  const { code, out } = await remote.run(["dlq", "retry", "mail", "--all", "--match", "address"]);
  const json = await remote.run(["dlq", "retry", "mail", "--all", "--json"]);

  assert.equal(other.out, 'Pool "mail" has no such jobs\n');
  assert.deepEqual([code, out], [0, 'Pool "mail": 1 job made ready again\n']);
  const { status, action, changed } = JSON.parse(json.out);
  assert.deepEqual([status, action, changed], ["done", "retry", 1]);
});

Deno.test("dlq discard --all asks about just those that it would forget", async () => {
  await using remote = await served();
  const asked = await remote.run(
    ["dlq", "discard", "mail", "--all", "--lane", "batch", "--match", "timeout"],
    { confirm: () => false },
  );

  assert.deepEqual(asked.asked, [
    'Discard 0 dead jobs in lane "batch" with "timeout" in them of pool "mail"?',
  ]);
  assert.deepEqual([asked.code, asked.err], [1, "Nothing was changed\n"]);
});

Deno.test("dlq retry exits 2, when --lane or --match stands without --all", async () => {
  const { code, err } = await sluice(["dlq", "retry", "mail", "id", "--lane", "batch"]);

  assert.deepEqual([code, err], [
    2,
    "--lane, --match and --group need --all, and no ids\n",
  ]);
});

Deno.test("dlq retry exits 2, when neither ids nor --all are given", async () => {
  const { code, err } = await sluice(["dlq", "retry", "mail"]);

  assert.deepEqual([code, err], [
    2,
    'Pass the ids of jobs, or --all; "sluice dlq ls" lists them\n',
  ]);
});

Deno.test("what the state of things forbids (409) exits with 1: it may be done another time", async () => {
  await using remote = await served();
  const job = await remote.system.sluice.enqueue("mail", { lane: "full", payload: 1 });
  await remote.system.sluice.pool("typed").drain();

  const codes = [
    await remote.run(["jobs", "retry", job.id]),
    await remote.run(["pools", "pause", "typed"]),
    await remote.run(["pools", "resume", "typed"]),
    await remote.run(["pools", "scale", "typed", "--max", "1", "--for", "1m"]),
  ].map(({ code }) => code);

  assert.deepEqual(codes, [1, 1, 1, 1]);
});

Deno.test("dlq ls --group says why jobs are dead; retry and discard take a group by its error", async () => {
  await using remote = await served();
  const { sluice, clock } = remote.system;
  for (const fail of ["no user 17", "it's down", "no user 18"]) {
    await sluice.enqueue("mail", { lane: "urgent", payload: { fail } });
    await clock.advance(1_000);
  }

  const groups = await remote.run(["dlq", "ls", "mail", "--group"]);
  const listed = await remote.run(["dlq", "ls", "mail", "--group", "no user <n>", "--json"]);
  const asked = await remote.run(["dlq", "discard", "mail", "--all", "--group", "no user <n>"]);
  const gone = await remote.run([
    "dlq",
    "discard",
    "mail",
    "--all",
    "--group",
    "it's down",
    "--yes",
  ]);
  const left = await remote.run(["dlq", "ls", "mail", "--group", "--json"]);
  const both = await remote.run(["dlq", "ls", "mail", "--group", "--lane", "urgent"]);
  const none = await remote.run(["dlq", "ls", "typed", "--group"]);

  assert.match(
    groups.out,
    /^JOBS +FIRST +LAST +LATEST JOB +ERROR *\n +2 .* no user <n>\n +1 .* it's down\n/,
  );
  assert.match(
    groups.out,
    /3 dead jobs looked at\nRetry a group: sluice dlq retry mail --all --group 'no user <n>'\n$/,
  );
  assert.equal(JSON.parse(listed.out).jobs.length, 2);
  assert.match(asked.err, /Discard 2 dead jobs with the error "no user <n>" of pool "mail"\?/);
  assert.equal(gone.out, 'Pool "mail": 1 job forgotten\n');
  assert.deepEqual(JSON.parse(left.out).groups.map(({ count }: { count: number }) => count), [2]);
  assert.equal(both.code, 2);
  assert.equal(none.out, 'No job of pool "typed" is dead\n');
});
