/**
 * That `deno task test` runs every test file once, and `test:quick` those of its folders.
 *
 * @module
 */

import assert from "node:assert/strict";
import { filesOf, GROUPS, testFiles } from "./_groups.ts";
import { ROOT, sourceFiles } from "./_source.ts";

Deno.test("each test file is in exactly one group", async () => {
  const files = await testFiles();
  const loaded = Object.keys(GROUPS).flatMap((name) => filesOf(name, files));

  assert.deepEqual(loaded.sort(), files);
});

Deno.test("each group has a file in tests/groups/ that loads it", async () => {
  const texts = (await sourceFiles("tests/groups")).map(({ path, text }) => [path, text]);
  const expected = Object.keys(GROUPS).sort().map((name) => [
    `tests/groups/${name}.ts`,
    `import { load } from "../_groups.ts";\n\nawait load("${name}");\n`,
  ]);

  assert.deepEqual(texts, expected);
});

Deno.test("no test is outside of tests/ and examples/", async () => {
  const elsewhere = await sourceFiles("src", "plugins", "stores", "bench", "tools");

  assert.deepEqual(elsewhere.filter(({ path }) => /_test\.tsx?$/.test(path)), []);
});

Deno.test("test:quick names groups that there are", async () => {
  const { tasks } = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT)));
  const named = tasks["test:quick"].command.matchAll(/tests\/groups\/(\w+)\.ts/g).toArray();

  assert.ok(named.length > 0);
  for (const [, name] of named) assert.ok(Object.hasOwn(GROUPS, name), name);
});
