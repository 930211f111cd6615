import assert from "node:assert/strict";
import { join } from "node:path";
import { connect, HOLDERS, type RawClient } from "../admin/_clients.ts";
import { temporaryFolder } from "./_io.ts";
import { type Process, start } from "./_process.ts";

/** Pools whose jobs run until they are aborted. */
async function running(): Promise<
  { readonly process: Process; readonly port: number; readonly config: string } & AsyncDisposable
> {
  const folder = await temporaryFolder();
  await Deno.writeTextFile(
    join(folder.path, "handler.ts"),
    `export default ({ payload }, { signal }) => payload?.hang
       ? new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))
       : "done";`,
  );
  const config = join(folder.path, "pools.json");
  const lanes = [{ name: "urgent" }, { name: "batch" }];
  const mail = { handler: "./handler.ts", size: { min: 1, max: 2 }, drainMs: 200, lanes };
  await Deno.writeTextFile(config, JSON.stringify({ admin: { port: 0 }, pools: { mail } }));
  const process = start([config]);
  const [, port] = await process.line(/^Admin {3}http:\/\/127\.0\.0\.1:(\d+)$/);
  return {
    process,
    port: Number(port),
    config,
    async [Symbol.asyncDispose]() {
      await process[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

async function connectAll(port: number): Promise<readonly RawClient[]> {
  const clients: RawClient[] = [];
  for (const [name, text] of Object.entries(HOLDERS)) {
    for (let count = name === "watches events" ? 50 : 2; count > 0; count--) {
      clients.push(await connect(port, text("")));
    }
  }
  await clients.at(-1)?.answer(/^HTTP\/1\.1 202/);
  return clients;
}

// Case A2. What a user sees is a bound in real time: drainMs and 5 s, three times that here.
Deno.test("run ends at a signal with every kind of client connected, after a reload amid them", async () => {
  await using system = await running();
  const { process, port } = system;
  const clients = await connectAll(port);

  process.signal("SIGHUP");
  await process.line(/^Reloaded .*$/);
  const beganMs = performance.now();
  process.signal("SIGTERM");
  const { code, out, err } = await process.ended();
  const tookMs = performance.now() - beganMs;

  for (const client of clients) client[Symbol.dispose]();
  assert.equal(code, 0);
  assert.ok(tookMs < 3 * 5_200, `${tookMs} ms`);
  assert.match(out, /^Stopped: /m);
  assert.doesNotMatch(out + err, /BadResource|Uncaught|rejected and nobody/);
});

// Case A8: one connection that could not be accepted closed the port for good.
Deno.test("run goes on without file descriptors, and listens again once there are some", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  await using system = await running();
  const { process, port } = system;
  await limit(process.pid, 150);
  const clients: RawClient[] = [];
  for (let count = 0; count < 200; count++) {
    clients.push(await connect(port, "GET /healthz HTTP/1.1\r\n"));
  }
  await process.errorLine(/The admin API cannot accept connections: it keeps trying/);

  for (const client of clients) client[Symbol.dispose]();
  const beganMs = performance.now();
  const answer = await fetch(`http://127.0.0.1:${port}/api/pools/mail/jobs?waitMs=5000`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ lane: "urgent", payload: 1 }),
  });
  const { outcome } = await answer.json();
  const tookMs = performance.now() - beganMs;
  process.signal("SIGTERM");
  const { code, err } = await process.ended();

  assert.deepEqual(outcome, { state: "done", result: "done" });
  assert.ok(tookMs < 3 * 5_000, `${tookMs} ms`);
  assert.equal(code, 0);
  assert.match(err, /The admin API accepts connections again/);
  assert.doesNotMatch(err, /handler|rejected and nobody/);
});

/** Lets a process that runs open no more than this many files. */
async function limit(pid: number, files: number): Promise<void> {
  const { success, stderr } = await new Deno.Command("prlimit", {
    args: [`--pid=${pid}`, `--nofile=${files}:${files}`],
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
}
