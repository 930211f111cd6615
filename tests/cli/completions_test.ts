import assert from "node:assert/strict";
import { sluice } from "./_io.ts";

/** What bash offers after these words, the last of which is begun. Asks bash itself. */
async function offered(script: string, words: readonly string[]): Promise<readonly string[]> {
  const asked = `${script}
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_sluice
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, code, stderr } = await new Deno.Command("bash", {
    args: ["--norc", "-c", asked, "bash", ...words],
  }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout).trim().split("\n").filter((word) => word !== "");
}

Deno.test("completions bash prints a script by which bash completes verbs, options and choices", async () => {
  const { code, out } = await sluice(["completions", "bash"]);

  assert.equal(code, 0);
  assert.deepEqual(await offered(out, ["sluice", "sche"]), ["schema", "schedules"]);
  assert.deepEqual(await offered(out, ["sluice", "pools", "p"]), ["pause"]);
  assert.deepEqual(await offered(out, ["sluice", "pools", "scale", "mail", "--m"]), [
    "--min",
    "--max",
  ]);
  assert.deepEqual(await offered(out, ["sluice", "dlq", "retry", "--al"]), ["--all"]);
  assert.deepEqual(await offered(out, ["sluice", "completions", "z"]), ["zsh"]);
  assert.deepEqual(await offered(out, ["sluice", "run", "pools.j"]), []);
});

for (const shell of ["bash", "zsh", "fish"]) {
  Deno.test(`completions ${shell} knows every verb`, async () => {
    const { out } = await sluice(["completions", shell]);
    const { out: help } = await sluice(["--help"]);

    const [, list = ""] = help.split("\nCommands:\n");
    const verbs = [...list.matchAll(/^ {2}([a-z]+)/gm)].map(([, verb = ""]) => verb);
    assert.ok(verbs.length > 12);
    for (const verb of verbs) assert.match(out, new RegExp(`['" ]${verb}['" :]`), verb);
    assert.match(out, /"dlq discard"/);
  });
}

Deno.test("completions exits 2 for a shell that it does not know, and says which it does", async () => {
  const { code, err } = await sluice(["completions", "nu"]);

  assert.equal(code, 2);
  assert.match(err, /'nu' is invalid for argument 'shell'\. Allowed choices are bash, zsh, fish\./);
});

Deno.test("completions --json prints the script as a JSON text", async () => {
  const { out } = await sluice(["completions", "fish"]);
  const json = await sluice(["completions", "fish", "--json"]);

  assert.deepEqual(JSON.parse(json.out), { shell: "fish", script: out });
});
