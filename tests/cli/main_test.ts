import assert from "node:assert/strict";
import { sluice } from "./_io.ts";

Deno.test("main() exits 2 and says what was meant, when the verb or option is not known", async () => {
  const verb = await sluice(["chekc", "pools.json"]);
  const option = await sluice(["pools", "ls", "--jsno"]);
  const argument = await sluice(["check"]);

  assert.equal(verb.code, 2);
  assert.match(verb.err, /^error: unknown command 'chekc'\n\(Did you mean check\?\)/);
  assert.equal(option.code, 2);
  assert.match(option.err, /^error: unknown option '--jsno'\n\(Did you mean --json\?\)/);
  assert.match(option.err, /\(see "--help" for usage\)/);
  assert.equal(argument.code, 2);
  assert.match(argument.err, /missing required argument 'file'/);
});

Deno.test("main() exits 2 and says what was meant, when help is asked of a verb not known", async () => {
  const asked = await sluice(["chekc", "--help"]);
  const before = await sluice(["help", "chekc"]);
  const below = await sluice(["dlq", "retyr", "mail", "--help"]);
  const belowDefault = await sluice(["pools", "lss"]);
  const strange = await sluice(["xyzzy", "-h"]);

  for (const { code, out, err } of [asked, before]) {
    assert.equal(code, 2);
    assert.equal(out, "");
    assert.match(err, /^error: unknown command 'chekc'\n\(Did you mean check\?\)\n/);
  }
  assert.equal(below.code, 2);
  assert.match(below.err, /^error: unknown command 'retyr'\n\(Did you mean retry\?\)\n/);
  assert.equal(belowDefault.code, 2);
  assert.match(belowDefault.err, /^error: unknown command 'lss'\n\(Did you mean ls\?\)\n/);
  assert.equal(strange.code, 2);
  assert.match(strange.err, /^error: unknown command 'xyzzy'\n\(see "--help"/);
});

Deno.test("main() exits 0 after help, whichever way it is asked for", async () => {
  for (
    const args of [["help"], ["help", "dlq"], ["dlq", "help"], ["help", "check"], ["pools", "-h"]]
  ) {
    const { code, out } = await sluice(args);

    assert.equal(code, 0, args.join(" "));
    assert.match(out, /^Usage: sluice/);
  }
});

Deno.test("main() exits 0 after --help, and names every verb", async () => {
  const { code, out } = await sluice(["--help"]);

  assert.equal(code, 0);
  for (
    const verb of [
      "init",
      "check",
      "schema",
      "run",
      "pools",
      "explain",
      "enqueue",
      "jobs",
      "dlq",
      "plugins",
    ]
  ) assert.match(out, new RegExp(`^  ${verb}\\b`, "m"));
});

Deno.test("main() prints the version of the package and exits 0, when it is asked for", async () => {
  const { version } = JSON.parse(
    await Deno.readTextFile(new URL("../../deno.json", import.meta.url)),
  );

  for (const option of ["--version", "-V"]) {
    assert.deepEqual(await sluice([option]), { code: 0, out: `${version}\n`, err: "", asked: [] });
  }
});

Deno.test("main() exits 2 and shows the help, when no verb is given", async () => {
  const { code, err } = await sluice([]);

  assert.equal(code, 2);
  assert.match(err, /^Usage: sluice/);
});

Deno.test("schema prints a JSON Schema that knows the built-ins, or writes it to a file", async () => {
  const printed = await sluice(["schema"]);
  const path = await Deno.makeTempFile();
  const written = await sluice(["schema", "--out", path]);
  const file = await Deno.readTextFile(path);
  await Deno.remove(path);

  assert.equal(printed.code, 0);
  assert.equal(JSON.parse(printed.out).$schema, "http://json-schema.org/draft-07/schema#");
  assert.match(printed.out, /"age-scaler"/);
  assert.equal(file, printed.out);
  assert.equal(written.out, `Wrote ${path}; name it in a config by "$schema"\n`);
});

Deno.test("plugins lists the built-ins by kind, without a running system", async () => {
  const { code, out } = await sluice(["plugins"]);
  const json = await sluice(["plugins", "--json"]);

  assert.equal(code, 0);
  assert.match(out, /^controller +age-scaler$/m);
  assert.match(out, /^lane-policy +reserved-lane$/m);
  assert.match(
    out,
    /Your own: "use": "\.\/file\.ts#name"; "sluice schema" has the options of each\n$/,
  );
  assert.ok(
    JSON.parse(json.out).some((plugin: { name: string }) => plugin.name === "api-rate-cap"),
  );
});
