import assert from "node:assert/strict";
import { start } from "../../mod.ts";
import { sluice } from "./_io.ts";

const MAIN = new URL("../../src/cli/main.ts", import.meta.url).pathname;

/** What bash offers after these words, the last of which is begun. Asks bash itself. */
async function offered(
  script: string,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const asked = `${script}
sluice() { "${Deno.execPath()}" run -A --no-check "${MAIN}" "$@"; }
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_sluice
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, code, stderr } = await new Deno.Command("bash", {
    args: ["--norc", "-c", asked, "bash", ...words],
    env: { SLUICE_URL: "http://127.0.0.1:9", ...env },
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

Deno.test("bash completes names of pools and lanes as the system has them, quoted, whatever they are", async () => {
  const evil = "m $(touch gone)";
  await using system = await start({
    admin: { port: 0 },
    pools: {
      mail: { handler: "sleep", size: { min: 1, max: 1 }, lanes: [{ name: "urgent" }] },
      [evil]: { handler: "sleep", size: { min: 1, max: 1 }, lanes: [{ name: "slow" }] },
    },
  });
  const url = system.adminUrl ?? "";
  const { out } = await sluice(["completions", "bash"]);
  const env = { SLUICE_URL: url };

  const pools = await offered(out, ["sluice", "pools", "pause", "m"], env);
  const cut = url.split(/(:)/); // as bash gives an address
  const there = await offered(out, ["sluice", "explain", "--url", ...cut, "ma"]);
  const lanes = await offered(out, ["sluice", "jobs", "ls", "mail", "--lane", ""], env);
  const all = await offered(out, ["sluice", "jobs", "ls", "--lane", ""], env);
  const one = await offered(out, ["sluice", "events", "ls", "--pool", "ma"], env);
  const none = await offered(out, ["sluice", "pools", "pause", "m"]);

  assert.deepEqual(pools, ["mail", "m\\ \\$\\(touch\\ gone\\)"]);
  assert.deepEqual([there, lanes, one, none], [["mail"], ["urgent"], ["mail"], []]);
  assert.deepEqual(all, ["urgent", "slow"]);
});

Deno.test("completions with words prints names, and nothing for what answers amiss or takes none", async () => {
  const answers: readonly unknown[] = [[{ pool: 1 }], [{}], "no", [{ pool: "a\u001b[2J" }]];
  for (const answer of answers) {
    await using door = Deno.serve({ port: 0, onListen: () => {} }, () => Response.json(answer));
    const at = ["--url", `http://127.0.0.1:${door.addr.port}`];

    for (const words of [["explain", ...at], ["jobs", "ls", ...at, "--lane"]]) {
      const { code, out, err } = await sluice(["completions", "bash", "--", ...words]);
      assert.deepEqual([code, out, err], [0, "", ""], JSON.stringify(answer));
    }
  }
  for (const words of [["run"], ["explain", "mail"], ["jobs", "ls", "--match"], ["nope"]]) {
    const { code, out, err } = await sluice(["completions", "zsh", "--", ...words]);
    assert.deepEqual([code, out, err], [0, "", ""], words.join(" "));
  }
});

for (const shell of ["bash", "zsh", "fish"]) {
  Deno.test(`completions ${shell} knows every verb`, async () => {
    const { out } = await sluice(["completions", shell]);
    const { out: help } = await sluice(["--help"]);

    const [, list = ""] = help.split("\nCommands:\n");
    const verbs = [...list.matchAll(/^ {2}([a-z-]+)/gm)].map(([, verb = ""]) => verb);
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
