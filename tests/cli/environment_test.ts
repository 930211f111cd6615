import assert from "node:assert/strict";
import { join } from "node:path";
import { start } from "../../mod.ts";
import { shellWord } from "../../src/base/shell_word.ts";
import { sluice, temporaryFolder } from "./_io.ts";
import { served } from "./_served.ts";

const TOKEN = "admin-token-0123456789";

function envOf(variables: Readonly<Record<string, string>>): (name: string) => string | undefined {
  return (name) => variables[name];
}

/** What a shell makes of a command line. */
async function words(commandLine: string): Promise<readonly string[]> {
  const script = `sluice() { printf '%s\\n' "$@"; }; ${commandLine}`;
  const { stdout } = await new Deno.Command("bash", { args: ["-c", script] }).output();
  return new TextDecoder().decode(stdout).trimEnd().split("\n");
}

Deno.test("Address and token come from the option, else from the environment", async () => {
  await using remote = await served(TOKEN);
  const { url } = remote.server;
  const wrong = "http://127.0.0.1:1";
  const cases: readonly {
    args: readonly string[];
    env: Readonly<Record<string, string>>;
    code: number;
    err: RegExp;
  }[] = [
    { args: [], env: { SLUICE_URL: url, SLUICE_TOKEN: TOKEN }, code: 0, err: /^$/ },
    {
      args: ["--url", url],
      env: { SLUICE_URL: wrong, SLUICE_TOKEN: TOKEN },
      code: 0,
      err: /^$/,
    },
    {
      args: ["--token-env", "MINE"],
      env: { SLUICE_URL: url, SLUICE_TOKEN: "x".repeat(20), MINE: TOKEN },
      code: 0,
      err: /^$/,
    },
    { args: [], env: { SLUICE_URL: wrong }, code: 1, err: /pass its address by SLUICE_URL\n$/ },
    {
      args: [],
      env: { SLUICE_URL: "ftp://x" },
      code: 2,
      err: /^Expected SLUICE_URL to begin with/,
    },
    { args: ["--url", url], env: {}, code: 1, err: /set SLUICE_TOKEN to it, or name the variable/ },
    { args: ["--url", url], env: { SLUICE_TOKEN: "" }, code: 1, err: /set SLUICE_TOKEN to it/ },
    {
      args: ["--url", url],
      env: { SLUICE_TOKEN: "x".repeat(20) },
      code: 1,
      err: /the token in "SLUICE_TOKEN" is not valid there\n$/,
    },
  ];
  for (const { args, env, code, err } of cases) {
    const ran = await sluice(["pools", "ls", ...args], { env: envOf(env) });

    assert.equal(ran.code, code, ran.err);
    assert.match(ran.err, err);
  }
});

Deno.test("A variable that the process may not read counts as not set", async () => {
  const env = (name: string): string => {
    throw new Deno.errors.NotCapable(`Requires env access to "${name}"`);
  };

  const { code, err } = await sluice(["pools", "ls", "--url", "http://127.0.0.1:1"], { env });

  assert.equal(code, 1);
  assert.match(err, /^Nothing answers at/);
});

Deno.test("Commands that messages tell run as they are, whatever names they have in them", async () => {
  const pool = "it's $HOME; mail";
  await using system = await start({
    admin: { port: 0 },
    pools: {
      [pool]: { handler: "sleep", size: { min: 1, max: 2 }, lanes: [{ name: "big & slow" }] },
    },
  });
  const url = system.adminUrl ?? "";

  const paused = await sluice(["pools", "pause", pool, "--lane", "big & slow", "--url", url]);
  const [, resume = ""] = /"(sluice .*)" resumes it/.exec(paused.out) ?? [];
  const [, ...args] = ["", ...await words(resume)];
  const resumed = await sluice(args);

  assert.deepEqual(args.slice(0, 3), ["pools", "resume", pool]);
  assert.equal(resumed.out, `Lane "big & slow" of pool "${pool}" is resumed\n`);
});

Deno.test("shellWord() leaves plain words, and quotes the rest so that a shell reads them back", async () => {
  for (const text of ["mail", "a b", "it's", "$HOME", "`id`", "", "a\\b", '"', "ä*?", "!x"]) {
    assert.deepEqual(await words(`sluice ${shellWord(text)} end`), [text, "end"]);
  }
  assert.equal(shellWord("https://host:8787/a"), "https://host:8787/a");
});

Deno.test("check --no-env reads no variable, and finds the other faults all the same", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "pools.json");
  const config = (min: number): string =>
    JSON.stringify({
      admin: {
        tokens: { admin: { env: "SLUICE_NONE_A" }, viewer: { env: "SLUICE_NONE_B" } },
        alerts: { url: { env: "SLUICE_NONE_C" } },
      },
      pools: {
        mail: {
          handler: {
            use: "http",
            with: { url: { env: "SLUICE_NONE_D" }, headers: { "x-key": { env: "SLUICE_NONE_E" } } },
          },
          size: { min, max: 2 },
          lanes: [{ name: "urgent" }],
        },
      },
    });
  await Deno.writeTextFile(file, config(1));

  const plain = await sluice(["check", file]);
  const without = await sluice(["check", file, "--no-env"]);
  await Deno.writeTextFile(file, config(5));
  const faulty = await sluice(["check", file, "--no-env"]);

  assert.equal(plain.code, 2);
  assert.equal(plain.err.match(/is not set/g)?.length, 5);
  assert.equal(without.code, 0, without.err);
  assert.match(without.out, /1 pool, 1 lane, no faults/);
  assert.equal(faulty.code, 2);
  assert.match(faulty.err, /size/);
  assert.doesNotMatch(faulty.err, /SLUICE_NONE/);
});
