/**
 * What init wrote, used as a new user would: with Deno and the folder alone.
 *
 * @module
 */

import assert from "node:assert/strict";
import { join } from "node:path";
import { sluice, temporaryFolder } from "./_io.ts";

/** What `deno` says in a folder. */
async function deno(cwd: string, ...args: readonly string[]) {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd,
    env: { NO_COLOR: "1" },
    stdin: "null",
  }).output();
  const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
  return { code, out: text(stdout), err: text(stderr) };
}

for (
  const options of [
    ["--durable", "--schedule"],
    ["--deploy"],
    ["--deploy", "--http", "https://api.example.com/mails"],
  ]
) {
  Deno.test(`The folder of init has no faults by its own deno.json: ${options.join(" ")}`, async () => {
    await using folder = await temporaryFolder();
    await sluice(["init", folder.path, ...options]);

    const checked = await deno(folder.path, "task", "--quiet", "sluice", "check", "pools.json");
    const tested = await deno(folder.path, "task", "--quiet", "test", "--no-check");
    const formatted = await deno(folder.path, "fmt", "--check", "--ignore=pools.schema.json");

    assert.equal(checked.out, "pools.json: 1 pool, 2 lanes, no faults\n", checked.err);
    assert.match(tested.out, /1 passed \| 0 failed/, tested.err);
    assert.equal(formatted.code, 0, formatted.err);
  });
}

Deno.test("The entry, handler and test of init have types that fit", async () => {
  await using folder = await temporaryFolder();
  await sluice(["init", folder.path, "--deploy", "--schedule"]);

  const { code, err } = await deno(folder.path, "check", "main.ts", "handler_test.ts");

  assert.equal(code, 0, err);
});

Deno.test("check finds that a durable config has no Deno KV, and says what to add", async () => {
  await using folder = await temporaryFolder();
  await sluice(["init", folder.path, "--durable"]);
  const project = join(folder.path, "deno.json");
  const { unstable: _, ...rest } = JSON.parse(await Deno.readTextFile(project));
  await Deno.writeTextFile(project, JSON.stringify(rest));
  const check = (...options: readonly string[]) =>
    deno(folder.path, "task", "--quiet", "sluice", "check", "pools.json", ...options);

  const found = await check();
  const listed = await check("--json");
  const deployed = await check("--platform", "deploy");

  assert.equal(found.code, 2);
  assert.equal(
    found.err,
    'pools.json:5:12 /store: Deno KV is not switched on: add "unstable": ["kv"] to deno.json, ' +
      "or run with --unstable-kv\n",
  );
  const { ok, faults } = JSON.parse(listed.out);
  assert.deepEqual([ok, faults[0].pointer, faults[0].line], [false, "/store", 5]);
  assert.doesNotMatch(deployed.out + deployed.err, /Deno KV is not switched on/);
});
