import assert from "node:assert/strict";
import { join } from "node:path";
import { temporaryFolder } from "./_io.ts";
import { start } from "./_process.ts";

const pool = { handler: "sleep", size: { min: 1, max: 2 }, lanes: [{ name: "jobs" }] };

Deno.test("run --pools says what it works and what not, and pages and commands do", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "pools.json");
  await Deno.writeTextFile(file, JSON.stringify({ pools: { mail: pool, hooks: pool } }));
  await using process = start([file, "--pools", "hooks"]);

  await process.line(/^Running hooks$/);
  await process.line(/^Not worked here: mail$/);
  const [, url = ""] = await process.line(/^Admin {3}(http:\/\/127\.0\.0\.1:\d+)$/);
  const page = await (await fetch(`${url}/pools/mail`)).text();
  const { worked } = await (await fetch(`${url}/api/pools/mail`)).json();
  const ready = await fetch(`${url}/readyz`);
  process.signal("SIGINT");
  const { code, err } = await process.ended();
  await Promise.all([ready.body?.cancel()]);

  assert.equal(code, 0);
  assert.match(page, /not worked here/);
  assert.equal(worked, false);
  assert.equal(ready.status, 200);
  assert.match(err, /The store is in memory: jobs of pools that are not worked here run nowhere/);
});

Deno.test("run --pools exits 2 for a pool that is not there", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "pools.json");
  await Deno.writeTextFile(file, JSON.stringify({ pools: { mail: pool } }));
  await using process = start([file, "--pools", "mial"]);
  const { code, err } = await process.ended();

  assert.equal(code, 2);
  assert.match(err, /--pools: No pool is named "mial": did you mean "mail"\?/);
});
