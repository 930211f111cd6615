import assert from "node:assert/strict";
import { join } from "node:path";
import { sluice, temporaryFolder } from "./_io.ts";

const API = "https://api.example.com/mails";

/** Files that init writes into a folder, and what it says, for each choice. */
const CHOICES: readonly (readonly [readonly string[], readonly string[], readonly string[]])[] = [
  [[], ["handler.ts", "handler_test.ts"], []],
  [["--durable"], ["handler.ts", "handler_test.ts"], ["kv"]],
  [["--schedule"], ["handler.ts", "handler_test.ts"], []],
  [["--http", API], ["pools_test.ts"], []],
  [["--deploy"], ["handler.ts", "handler_test.ts", "main.ts"], ["kv", "cron"]],
  [["--deploy", "--http", API, "--schedule"], ["pools_test.ts", "main.ts"], ["kv", "cron"]],
];

for (const [options, own, unstable] of CHOICES) {
  Deno.test(`init writes what runs, with a test and a README: ${options.join(" ")}`, async () => {
    await using folder = await temporaryFolder();
    const target = join(folder.path, "new");

    const written = await sluice(["init", target, ...options]);
    const checked = await sluice(["check", join(target, "pools.json"), "--strict"]);

    const names = ["pools.json", ...own, "pools.schema.json", "deno.json", "README.md"];
    assert.deepEqual([written.code, written.err], [0, ""]);
    assert.deepEqual(written.out.trimEnd().split("\n"), [
      ...names.map((name) => `Wrote ${target}/${name}`),
      `Next: sluice run ${target}/pools.json`,
    ]);
    assert.equal(checked.out, `${target}/pools.json: 1 pool, 2 lanes, no faults\n`);
    assert.equal(
      await Deno.readTextFile(join(target, "pools.schema.json")),
      (await sluice(["schema"])).out,
    );
    const project = JSON.parse(await Deno.readTextFile(join(target, "deno.json")));
    assert.deepEqual(project.unstable ?? [], unstable);
    const readme = await Deno.readTextFile(join(target, "README.md"));
    assert.ok(readme.split("\n").length <= 14, readme);
  });
}

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
  assert.equal(JSON.parse(forced.out).written.length, 6);
  assert.match(await Deno.readTextFile(handler), /export default async function handle/);
});

Deno.test("init keeps the deno.json and the README of an app, and says what they lack", async () => {
  await using folder = await temporaryFolder();
  const project = join(folder.path, "deno.json");
  await Deno.writeTextFile(project, "{}");
  await Deno.writeTextFile(join(folder.path, "README.md"), "# Mine\n");

  const { code, out } = await sluice(["init", folder.path, "--durable", "--force"]);
  const { out: listed } = await sluice(["init", folder.path, "--force", "--json"]);

  assert.equal(code, 0);
  assert.ok(out.includes(`Kept ${project}: it needs\n{\n`), out);
  assert.match(out, /"unstable": \[\s+"kv"\s+\]/);
  assert.equal(await Deno.readTextFile(project), "{}");
  assert.equal(await Deno.readTextFile(join(folder.path, "README.md")), "# Mine\n");
  assert.deepEqual(JSON.parse(listed).kept, [project, join(folder.path, "README.md")]);
});

Deno.test("init --http wants an address", async () => {
  await using folder = await temporaryFolder();

  for (const url of ["api.example.com", "ftp://example.com", ""]) {
    const { code, err } = await sluice(["init", folder.path, "--http", url]);
    assert.equal(code, 2);
    assert.match(err, /^Expected --http to be a URL such as "https:/);
  }
});
