import assert from "node:assert/strict";
import { sluice } from "./_io.ts";
import { served } from "./_served.ts";

const TOKEN = "admin-token-0123456789";

Deno.test("pools ls shows each pool in a row, as pools alone does", async () => {
  await using remote = await served();

  const { code, out } = await remote.run(["pools", "ls"]);
  const alone = await remote.run(["pools"]);
  const json = await remote.run(["pools", "ls", "--json"]);

  const [head, mail] = out.split("\n");
  assert.equal(code, 0);
  assert.match(head ?? "", /^POOL +STATE +WORKERS +TARGET +READY +DEAD +OLDEST +IN\/S/);
  assert.match(mail ?? "", /^mail +ok +0\/1 of 4 +1 +0 +0 +0 ms +/);
  assert.equal(alone.out, out);
  assert.deepEqual(JSON.parse(json.out).map((pool: { pool: string }) => pool.pool), [
    "mail",
    "typed",
  ]);
});

Deno.test("pools describe shows the lanes and the last decision's sentence", async () => {
  await using remote = await served();
  const [decision] = remote.system.sluice.pool("mail").explain(1);

  const { out } = await remote.run(["pools", "describe", "mail"]);

  assert.match(out, /^mail {2}0\/1 of 4 workers busy, target 1, ok\n/);
  assert.ok(out.includes(`${decision?.sentence}\n`));
  assert.match(out, /^urgent +0 ms +50 ms +0 /m);
  assert.match(out, /^batch +0 ms +none /m);
  assert.match(out, /^full \(paused\) /m);
});

Deno.test("pools pause and resume act on a lane or the pool, and say how to go back", async () => {
  await using remote = await served();

  const lane = await remote.run(["pools", "pause", "mail", "--lane", "batch"]);
  const pool = await remote.run(["pools", "pause", "mail"]);
  const paused = remote.system.sluice.pool("mail").snapshot().paused;
  const resumed = await remote.run(["pools", "resume", "mail"]);

  const at = `--url ${remote.server.url}`;
  assert.equal(
    lane.out,
    `Lane "batch" of pool "mail" is paused; "sluice pools resume mail --lane batch ${at}" resumes it\n`,
  );
  assert.equal(pool.out, `Pool "mail" is paused; "sluice pools resume mail ${at}" resumes it\n`);
  assert.equal(paused, true);
  assert.equal(resumed.out, 'Pool "mail" is resumed\n');
});

Deno.test("pools scale holds other bounds until their time, --clear goes back", async () => {
  await using remote = await served();

  const scaled = await remote.run(["pools", "scale", "mail", "--min", "2", "--for", "90s"]);
  const { override, nowMs } = remote.system.sluice.pool("mail").snapshot();
  const cleared = await remote.run(["pools", "scale", "mail", "--clear"]);

  const [, command] = scaled.out.match(
    /^Pool "mail" has other bounds until 20\S+Z; "(.*)" ends it\n$/,
  ) ?? [];
  assert.equal(command, `sluice pools scale mail --clear --url ${remote.server.url}`);
  assert.equal(override?.min, 2);
  assert.equal((override?.untilMs ?? 0) - nowMs, 90_000);
  assert.equal(cleared.out, 'Pool "mail" has the bounds of its config\n');
});

Deno.test("pools scale exits 2, when it is not told what to do or told nonsense", async () => {
  const nothing = await sluice(["pools", "scale", "mail"]);
  const both = await sluice(["pools", "scale", "mail", "--min", "1", "--clear"]);
  const text = await sluice(["pools", "scale", "mail", "--min", "two"]);
  const duration = await sluice(["pools", "scale", "mail", "--min", "1", "--for", "soon"]);

  for (const { code, err } of [nothing, both]) {
    assert.equal(code, 2);
    assert.equal(err, "Pass --min, --max or --target, or --clear to end the override\n");
  }
  assert.equal(text.err, 'Expected --min to be a whole number >= 0 but received "two"\n');
  assert.equal(
    duration.err,
    'Expected --for to be a duration such as 500ms, 30s, 10m or 2h but received "soon"\n',
  );
  assert.deepEqual([text.code, duration.code], [2, 2]);
});

Deno.test("pools drain asks first; without anybody to ask it wants --yes", async () => {
  await using remote = await served();
  const question = 'Drain pool "mail"? It accepts no more jobs until the process restarts';

  const alone = await remote.run(["pools", "drain", "mail"]);
  const no = await remote.run(["pools", "drain", "mail"], { confirm: () => false });
  const before = remote.system.sluice.pool("mail").snapshot().draining;
  const yes = await remote.run(["pools", "drain", "mail", "--yes"]);

  assert.deepEqual([alone.code, alone.err], [
    2,
    `No terminal to confirm "${question}": pass --yes\n`,
  ]);
  assert.deepEqual([no.code, no.err, no.asked], [1, "Nothing was changed\n", [question]]);
  assert.equal(before, false);
  assert.deepEqual([yes.code, yes.out, yes.asked], [
    0,
    'Pool "mail" is drained: 0 jobs handed back, 0 waiting\n',
    [],
  ]);
});

Deno.test("A drained pool has no target and no size to explain, and doctor says what mends it", async () => {
  await using remote = await served();
  await remote.run(["pools", "drain", "mail", "--yes"]);

  const list = await remote.run(["pools"]);
  const one = await remote.run(["pools", "describe", "mail"]);
  const top = await remote.run(["top"]);
  const found = await remote.run(["doctor", "mail"]);

  assert.match(list.out, /^mail +stopped +0\/0 of 4 +none /m);
  assert.match(one.out, /^mail {2}0\/0 of 4 workers busy, target none, stopped\nIt was drained: /);
  assert.match(
    top.out,
    /^mail: It was drained: it runs nothing until the process restarts$/m,
  );
  assert.equal(
    found.out,
    "mail: it was drained and accepts no jobs: restart the process to use it again\n",
  );
});

Deno.test("explain prints decisions with what each strategy asked for", async () => {
  await using remote = await served();
  const [decision] = remote.system.sluice.pool("mail").explain(1);
  assert.ok(decision !== undefined);

  const { out } = await remote.run(["explain", "mail", "--limit", "1"]);
  const json = await remote.run(["explain", "mail", "--json"]);

  const lines = out.trimEnd().split("\n");
  assert.match(lines[0] ?? "", /^20\S+Z {2}(stays at 1|\d -> 1), bound by /);
  assert.equal(lines[1], `  ${decision.sentence}`);
  assert.match(lines[2] ?? "", /^ {4}controller age-scaler: 1, /);
  assert.ok(JSON.parse(json.out).length >= 1);
});

Deno.test("enqueue stores a job and says how to look it up", async () => {
  await using remote = await served();

  const { code, out } = await remote.run([
    "enqueue",
    "mail",
    "--lane",
    "batch",
    "--payload",
    '{"to":"ann"}',
    "--delay",
    "1m",
    "--key",
    "k",
    "--dedupe-key",
    "d",
    "--ttl",
    "2h",
  ]);
  const { jobs: [job] } = await remote.system.sluice.pool("mail").list({ limit: 1 });
  const again = await remote.run(["enqueue", "mail", "--lane", "batch", "--dedupe-key", "d"]);

  assert.equal(code, 0);
  const next = `sluice jobs show ${job?.id} --url ${remote.server.url}`;
  assert.equal(out, `Job ${job?.id} is stored; "${next}" shows it\n`);
  assert.deepEqual([job?.payload, job?.key, job?.state], [{ to: "ann" }, "k", "delayed"]);
  assert.equal(
    again.out,
    `Job ${job?.id} has the dedupeKey already: no second one was stored\n`,
  );
});

Deno.test("enqueue reads the payload from standard input, asked by - in either place", async () => {
  await using remote = await served();
  const io = { readInput: () => Promise.resolve('{"from":"stdin"}') };

  await remote.run(["enqueue", "mail", "-", "--lane", "full"], io);
  const typed = await remote.run(
    ["enqueue", "typed", "--lane", "only", "--type", "send", "--payload", "-", "--json"],
    io,
  );

  const { jobs: [job] } = await remote.system.sluice.pool("mail").list({ limit: 1 });
  assert.deepEqual(job?.payload, { from: "stdin" });
  assert.equal(typeof JSON.parse(typed.out).id, "string");
});

Deno.test("enqueue exits 2 for a payload that is no JSON, and with all faults that the server finds", async () => {
  await using remote = await served();

  const payload = await remote.run(["enqueue", "mail", "--lane", "batch", "--payload", "hello"]);
  const word = await remote.run(["enqueue", "mail", "hello", "--lane", "batch"]);
  const faults = await remote.run(["enqueue", "mail", "--lane", "bacth", "--type", "send"]);
  const lane = await remote.run(["enqueue", "mail"]);

  assert.equal(payload.code, 2);
  assert.match(
    payload.err,
    /^Expected JSON from --payload \(a text in double quotes is JSON\): Unexpected token/,
  );
  assert.deepEqual([word.code, word.err], [
    2,
    'Expected - after the pool but received "hello": pass the payload by --payload\n',
  ]);
  assert.equal(faults.code, 2);
  assert.equal(
    faults.err,
    "The request has faults:\n" +
      '  /lane: No lane is named "bacth": did you mean "batch"?\n' +
      "  /type: The pool has one handler: send its jobs without a type\n",
  );
  assert.equal(lane.code, 2);
  assert.match(lane.err, /^Expected the name of a lane: expected one of "urgent", "batch"/);
});

Deno.test("plugins --running lists those in use", async () => {
  await using remote = await served();

  const { out } = await remote.run(["plugins", "--running"]);

  assert.match(out, /^mail +controller +age-scaler/m);
  assert.match(out, /^typed +handler +\S+ \(send\)/m);
});

Deno.test("A verb exits 2 with the server's advice, when what was given does not fit", async () => {
  await using remote = await served();
  const pool = 'No pool is named "mial": did you mean "mail"?';
  const lane = 'No lane is named "bacth": did you mean "batch"?';

  for (
    const [advice, ...args] of [
      [pool, "explain", "mial"],
      [pool, "doctor", "mial"],
      [pool, "pools", "pause", "mial"],
      [pool, "record", "mial", "--for", "20ms"],
      [pool, "enqueue", "mial", "--lane", "batch"],
      [lane, "enqueue", "mail", "--lane", "bacth"],
      [lane, "jobs", "ls", "mail", "--lane", "bacth"],
      [lane, "pools", "pause", "mail", "--lane", "bacth"],
      [lane, "dlq", "retry", "mail", "--all", "--lane", "bacth"],
      ['No state is named "deda": did you mean "dead"?', "jobs", "ls", "mail", "--state", "deda"],
      [
        "The job is too large: expected at most 65536 bytes of JSON, store the data elsewhere and " +
        "send its address or key",
        ...["enqueue", "mail", "--lane", "batch", "--payload", `"${"x".repeat(70_000)}"`],
      ],
    ] as const
  ) {
    const { code, err } = await remote.run(args);

    assert.deepEqual([code, err], [2, `${advice}\n`]);
  }
});

Deno.test("A verb exits 1, when what was given fits but cannot be done", async () => {
  await using remote = await served();

  const job = await remote.run(["jobs", "show", "nope"]);
  const full = ["enqueue", "mail", "--lane", "full"];
  await remote.run(full);
  const shed = await remote.run(full);

  assert.deepEqual([job.code, shed.code], [1, 1]);
});

Deno.test("A verb sends the token that --token-env names, and says what is wrong with it", async () => {
  await using remote = await served(TOKEN);
  const { url } = remote.server;
  const env = (name: string): string | undefined => ({ GOOD: TOKEN, BAD: "x".repeat(20) })[name];

  const good = await remote.run(["pools", "ls", "--token-env", "GOOD"], { env });
  const bad = await remote.run(["pools", "ls", "--token-env", "BAD"], { env });
  const unset = await remote.run(["pools", "ls", "--token-env", "UNSET"], { env });
  const none = await remote.run(["pools", "ls"], { env });
  const paused = await remote.run(["pools", "pause", "mail", "--token-env", "GOOD"], { env });

  assert.equal(good.code, 0);
  assert.ok(paused.out.includes(`"sluice pools resume mail --url ${url} --token-env GOOD"`));
  assert.deepEqual([bad.code, bad.err], [
    1,
    `The system at ${url} needs a token: the token in "BAD" is not valid there\n`,
  ]);
  assert.deepEqual([unset.code, unset.err], [
    2,
    'The variable "UNSET" is not set: set it to the token; --token-env takes the name of a variable\n',
  ]);
  assert.deepEqual([none.code, none.err], [
    1,
    `The system at ${url} needs a token: set SLUICE_TOKEN to it, or name the variable that holds it by --token-env NAME\n`,
  ]);
});

Deno.test("A verb says what to do, when nothing or something else answers", async () => {
  const other = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () => new Response("<html>", { headers: { "content-type": "text/html" } }),
  );
  const url = `http://127.0.0.1:${other.addr.port}`;

  const wrong = await sluice(["pools", "ls", "--url", url]);
  await other.shutdown();
  const nobody = await sluice(["pools", "ls", "--url", url]);

  assert.deepEqual([wrong.code, wrong.err], [
    1,
    `What answers at ${url} is not a Sluice admin API (200, text/html): check --url\n`,
  ]);
  assert.deepEqual([nobody.code, nobody.err], [
    1,
    `Nothing answers at ${url}: start a system with "sluice run FILE", or pass its address by --url\n`,
  ]);
});

Deno.test("A verb says to check --url, when another's route or no route of ours answers", async () => {
  await using remote = await served();
  const problem = { "content-type": "application/problem+json" };
  const answers: Readonly<Record<string, Response>> = {
    json: Response.json({ error: "not found" }, { status: 404 }),
    problem: new Response('{"type":"https://example.com/gone","detail":"x"}', {
      status: 404,
      headers: problem,
    }),
    empty: new Response("null", { status: 500, headers: problem }),
  };
  await using other = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    ({ url }) => answers[url.split("/")[3] ?? ""] ?? new Response(null),
  );
  const at = (name: string): string => `http://127.0.0.1:${other.addr.port}/${name}`;
  const wrong = `${remote.server.url}/nosuch`;
  const route = (route: string): string => `404, No route is ${route}: see /docs for the routes`;

  for (
    const [url, answered, ...args] of [
      [wrong, route("GET /nosuch/api/pools"), "pools", "ls"],
      [wrong, route("POST /nosuch/api/pools/mail/jobs"), "enqueue", "mail", "--lane", "batch"],
      [wrong, route("GET /nosuch/api/pools"), "record", "--for", "1s"],
      [at("json"), "404, application/json", "pools", "ls"],
      [at("problem"), "404, application/problem+json", "jobs", "show", "x"],
      [at("empty"), "500, application/problem+json", "top"],
    ] as const
  ) {
    const { code, err } = await sluice([...args, "--url", url]);

    assert.deepEqual([code, err], [
      1,
      `What answers at ${url} is not a Sluice admin API (${answered}): check --url\n`,
    ]);
  }
});

Deno.test("verbs say what --url begins with, when it is of another scheme or has none", async () => {
  for (const url of ["nowhere", "ftp://x", "localhost:8787", "127.0.0.1:8787", "http://"]) {
    const { code, err } = await sluice(["pools", "ls", "--url", url]);

    assert.deepEqual([code, err], [
      2,
      `Expected --url to begin with http:// or https://, such as http://127.0.0.1:8787, but received "${url}"\n`,
    ]);
  }
  for (const url of ["http://127.0.0.1:1?x=1", "http://127.0.0.1:1/#pools"]) {
    const { code, err } = await sluice(["pools", "ls", "--url", url]);
    const said = `Expected --url without "?" and "#" but received "${url}"\n`;
    assert.deepEqual([code, err], [2, said]);
  }
  const { code, err } = await sluice(["check", "pools.example.json", "--against", "localhost:1"]);
  assert.deepEqual([code, err], [
    2,
    'Expected --against to begin with http:// or https://, such as http://127.0.0.1:8787, but received "localhost:1"\n',
  ]);
});
