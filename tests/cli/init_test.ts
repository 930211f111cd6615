import assert from "node:assert/strict";
import { join } from "node:path";
import { sluice, temporaryFolder } from "./_io.ts";

Deno.test("init writes a config and a handler that have no faults", async () => {
  await using folder = await temporaryFolder();
  const target = join(folder.path, "new");

  const written = await sluice(["init", target]);
  const checked = await sluice(["check", join(target, "pools.json")]);

  assert.equal(written.code, 0);
  assert.deepEqual(written.out.trimEnd().split("\n"), [
    `Wrote ${target}/pools.json`,
    `Wrote ${target}/handler.ts`,
    `Wrote ${target}/pools.schema.json`,
    `Next: sluice run ${target}/pools.json`,
  ]);
  assert.equal(checked.out, `${target}/pools.json: 1 pool, 2 lanes, no faults\n`);
  assert.deepEqual(
    await Deno.readTextFile(join(target, "pools.schema.json")),
    (await sluice(["schema"])).out,
  );
});

Deno.test("init overwrites nothing without --force", async () => {
  await using folder = await temporaryFolder();
  const handler = join(folder.path, "handler.ts");
  await Deno.writeTextFile(handler, "// mine");

  const refused = await sluice(["init", folder.path]);
  const kept = await Deno.readTextFile(handler);
  const config = await Deno.stat(join(folder.path, "pools.json")).catch(() => undefined);
  const forced = await sluice(["init", folder.path, "--force", "--json"]);

  assert.equal(refused.code, 1);
  assert.equal(
    refused.err,
    `Nothing was written: ${handler} exists; choose another folder, or pass --force to overwrite\n`,
  );
  assert.deepEqual([kept, config], ["// mine", undefined]);
  assert.equal(forced.code, 0);
  assert.equal(JSON.parse(forced.out).written.length, 3);
  assert.match(await Deno.readTextFile(handler), /export default async function handle/);
});
