import assert from "node:assert/strict";
import { join } from "node:path";
import { sluice, temporaryFolder } from "./_io.ts";
import { start } from "./_process.ts";

/** Posts what a printed `curl` line would. */
async function post(curl: string, change?: unknown): Promise<Record<string, unknown>> {
  const [, url = "", body = ""] = /(http:\S+) .*-d '(.*)'$/.exec(curl) ?? [];
  const job = { ...JSON.parse(body), ...(change === undefined ? {} : { payload: change }) };
  const response = await fetch(`${url}?waitMs=5000`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(job),
  });
  return await response.json();
}

async function folderWith(handler: string): Promise<Awaited<ReturnType<typeof temporaryFolder>>> {
  const folder = await temporaryFolder();
  await sluice(["init", folder.path]);
  await Deno.writeTextFile(join(folder.path, "handler.ts"), handler);
  return folder;
}

Deno.test("run runs what init wrote: a printed line posts a job, a signal drains", async () => {
  await using folder = await temporaryFolder();
  await sluice(["init", folder.path]);
  await using process = start([join(folder.path, "pools.json")]);

  await process.line(/^Running main$/);
  const [, url = ""] = await process.line(/^Admin {3}(http:\/\/127\.0\.0\.1:\d+)$/);
  await process.line(
    /^Store {3}memory: jobs are lost when this process ends; a durable store keeps them$/,
  );
  const [, curl = ""] = await process.line(/^Try {5}(curl -s .*)$/);
  const answer = await post(curl);
  process.signal("SIGINT");
  const { code, out, err } = await process.ended();

  assert.ok(
    curl.startsWith(`curl -s ${url}/api/pools/main/jobs -H 'content-type: application/json'`),
  );
  assert.deepEqual(answer["outcome"], { state: "done", result: { handled: { hello: "world" } } });
  assert.equal(code, 0);
  assert.match(out, /^Draining; a second signal, half a second later or more, exits at once$/m);
  assert.match(out, /^Stopped: 0 jobs handed back, 0 waiting$/m);
  const lines = err.trimEnd().split("\n").map((line) => JSON.parse(line));
  assert.ok(lines.some((line) => line.message === "The pool has stopped"));
});

Deno.test("run goes on, logs and counts, when a stray promise of a handler fails", async () => {
  await using folder = await folderWith(
    `export default () => { Promise.reject(new Error("stray")); return "fine"; };`,
  );
  await using process = start([join(folder.path, "pools.json")]);

  const [, curl = ""] = await process.line(/^Try {5}(curl -s .*)$/);
  const first = await post(curl);
  const second = await post(curl);
  process.signal("SIGTERM");
  const { code, err } = await process.ended();

  assert.deepEqual(first["outcome"], { state: "done", result: "fine" });
  assert.deepEqual(second["outcome"], { state: "done", result: "fine" });
  assert.equal(code, 0);
  const strays = err.trimEnd().split("\n").map((line) => JSON.parse(line))
    .filter((line) => line.message.startsWith("A promise was rejected and nothing caught it"));
  assert.deepEqual(strays.map(({ error, count }) => [error, count]), [["stray", 1], ["stray", 2]]);
});

Deno.test("run exits at once with 130 at the second signal, when a handler does not end", async () => {
  await using folder = await folderWith(`export default () => new Promise(() => {});`);
  await using process = start([join(folder.path, "pools.json")]);

  const [, curl = ""] = await process.line(/^Try {5}(curl -s .*)$/);
  const [, url = ""] = /(http:\S+)\/api/.exec(curl) ?? [];
  const hung = post(curl).catch(() => undefined);
  for (;;) {
    const response = await fetch(`${url}/api/pools/main`);
    if ((await response.json()).busy > 0) break;
  }
  process.signal("SIGINT");
  await process.line(/^Draining; a second signal, half a second later or more, exits at once$/);
  const again = setInterval(() => {
    try {
      process.signal("SIGINT");
    } catch {
      clearInterval(again); // it has ended, and what it wrote is still read
    }
  }, 100);
  const { code, err } = await process.ended();
  clearInterval(again);
  await hung;

  assert.equal(code, 130);
  assert.match(err, /^Ended by a second signal: running work was not finished$/m);
});

Deno.test("run drains when one ctrl-C arrives twice, as it does under deno task", async () => {
  await using folder = await folderWith(
    `export default () => new Promise((resolve) => setTimeout(() => resolve("ended"), 300));`,
  );
  await using process = start([join(folder.path, "pools.json")]);

  const [, curl = ""] = await process.line(/^Try {5}(curl -s .*)$/);
  const [, url = ""] = /(http:\S+)\/api/.exec(curl) ?? [];
  const answer = post(curl);
  for (;;) {
    const response = await fetch(`${url}/api/pools/main`);
    if ((await response.json()).busy > 0) break;
  }
  process.signal("SIGINT");
  process.signal("SIGINT");
  const { code, out } = await process.ended();

  assert.equal(code, 0);
  assert.deepEqual((await answer)["outcome"], { state: "done", result: "ended" });
  assert.match(out, /^Stopped: 0 jobs handed back, 0 waiting$/m);
});

Deno.test("run --json prints JSON, and names the token's variable nowhere but in the plain line", async () => {
  await using folder = await temporaryFolder();
  const config = join(folder.path, "pools.json");
  await Deno.writeTextFile(
    config,
    JSON.stringify({
      admin: { port: 0, tokens: { admin: { env: "QUEUE_TOKEN" } } },
      pools: {
        p: { handlers: { mail: "sleep" }, size: { min: 0, max: 1 }, lanes: [{ name: "it's" }] },
      },
    }),
  );
  const env = { QUEUE_TOKEN: "token-0123456789abcdef" };
  await using plain = start([config], env);
  const [, curl = ""] = await plain.line(/^Try {5}(curl -s .*)$/);
  plain.signal("SIGINT");
  const plainEnd = await plain.ended();
  await using json = start([config, "--json", "--quiet"], env);
  await json.line(/^\}$/);
  json.signal("SIGINT");
  const { code, out, err } = await json.ended();

  assert.match(curl, / -H "authorization: Bearer \$QUEUE_TOKEN" /);
  assert.ok(curl.endsWith(
    `-d '{"lane":"it'\\''s","type":"mail","payload":{"hello":"world"}}'`,
  ));
  assert.doesNotMatch(plainEnd.out + plainEnd.err + out + err, /token-0123456789abcdef/);
  assert.equal(code, 0);
  const [first, last] = out.split("\n}\n").map((text) => JSON.parse(`${text || "{"}}`));
  assert.deepEqual(first.pools, ["p"]);
  assert.deepEqual([last.stopped, last.waiting], [true, 0]);
});

Deno.test("run exits 2 with every fault, 1 when the admin API may not be served", async () => {
  await using folder = await temporaryFolder();
  await sluice(["init", folder.path]);
  const faulty = join(folder.path, "faulty.json");
  await Deno.writeTextFile(faulty, `{ "pools": {}, "pols": 1 }`);

  const faults = await sluice(["run", faulty]);
  await using open = start([join(folder.path, "pools.json")], {
    DENO_SERVE_ADDRESS: "tcp:0.0.0.0:0",
  });
  const { code, err } = await open.ended();

  assert.equal(faults.code, 2);
  assert.match(faults.err, /"pols"/);
  assert.equal(code, 1);
  assert.match(
    err,
    /The admin API would answer on 0\.0\.0\.0:\d+, without a token: /,
  );
});

Deno.test("run says that the port is in use and nothing else: no pool has started", async () => {
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  await using folder = await folderWith(
    `import { defineHandler } from "${new URL("../../src/contract/plugin.ts", import.meta.url)}";
     export default defineHandler({
       start: () => Deno.writeTextFileSync(new URL("started", import.meta.url), ""),
       run: () => "done",
     });`,
  );
  const own = join(folder.path, "own.json");
  const pools = {
    main: { handler: "./handler.ts", size: { min: 1, max: 1 }, lanes: [{ name: "a" }] },
  };
  await Deno.writeTextFile(own, JSON.stringify({ admin: { port: taken.addr.port }, pools }));

  const inConfig = await sluice(["run", own]);
  await using process = start([join(folder.path, "pools.json")], {
    DENO_SERVE_ADDRESS: `tcp:127.0.0.1:${taken.addr.port}`,
  });
  const byDefault = await process.ended();

  const message = (port: number): string =>
    `The admin API cannot listen on 127.0.0.1:${port}, the port is in use: ` +
    "stop the other program, or set another admin.port\n";
  assert.deepEqual([inConfig.code, inConfig.out], [1, ""]);
  assert.equal(inConfig.err, message(taken.addr.port));
  assert.deepEqual(byDefault, { code: 1, out: "", err: message(taken.addr.port) });
  await assert.rejects(Deno.stat(join(folder.path, "started")), Deno.errors.NotFound);
});

Deno.test("run hands jobs back at the drain deadline and lists them", async () => {
  await using folder = await folderWith(
    `export default (_job, { signal }) => new Promise((_, reject) => {
       signal.addEventListener("abort", () => reject(signal.reason));
     });`,
  );
  const config = join(folder.path, "short.json");
  await Deno.writeTextFile(
    config,
    `{ "pools": { "main": { "handler": "./handler.ts", "size": { "min": 1, "max": 1 }, "drainMs": 1,
       "lanes": [{ "name": "urgent" }] } } }`,
  );
  await using process = start([config]);

  const [, curl = ""] = await process.line(/^Try {5}(curl -s .*)$/);
  const [, url = ""] = /(http:\S+)\/api/.exec(curl) ?? [];
  const posted = await fetch(`${url}/api/pools/main/jobs`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ lane: "urgent", payload: 1 }),
  });
  const { id } = await posted.json();
  process.signal("SIGTERM");
  const { code, out } = await process.ended();

  assert.equal(code, 0);
  assert.match(out, /^Stopped: 1 job handed back, 1 waiting$/m);
  assert.match(out, new RegExp(`^ {2}handed back ${id}$`, "m"));
});

Deno.test("run --port serves the admin API there, whatever the config says, and no other", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "pools.json");
  const main = { handler: "sleep", size: { min: 1, max: 1 }, lanes: [{ name: "x" }] };
  const store = { use: "deno-kv", with: { path: "queue.db" } };
  await Deno.writeTextFile(file, JSON.stringify({ store, admin: { port: 1 }, pools: { main } }));
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  await using process = start([file, "--port", String(port)], { DENO_SERVE_ADDRESS: "" });

  const [, url = ""] = await process.line(/^Admin {3}(\S+)$/);
  const health = await fetch(`${url}/healthz`);
  await health.body?.cancel();
  process.signal("SIGINT");
  const { out } = await process.ended();

  assert.deepEqual([url, health.status], [`http://127.0.0.1:${port}`, 200]);
  assert.doesNotMatch(out, /^Store/m); // a durable store forgets nothing
});

Deno.test("run --port wants the number of a port", async () => {
  for (const port of ["eighty", "65536", "-1"]) {
    const { code, err } = await sluice(["run", "pools.json", `--port=${port}`]);
    assert.equal(code, 2);
    assert.match(err, /^Expected --port to be /);
  }
});
