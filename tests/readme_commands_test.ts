/**
 * Command lines and paths in the pages are of verbs, options, tasks and files that there are.
 *
 * @module
 */

import assert from "node:assert/strict";
import config from "../deno.json" with { type: "json" };
import { blocksIn, codesIn, PAGES } from "./_readme.ts";
import { ROOT } from "./_source.ts";
import { sluice } from "./cli/_io.ts";

/** Code of the pages: lines of shell blocks without their comments, and code in a line of text. */
const CODES: readonly string[] = PAGES.flatMap(({ text }) => {
  const shell = blocksIn(text).filter(({ info }) => info === "sh");
  const prose = text.replaceAll(/^\s*```[^]*?^\s*```$/gm, "");
  return [
    ...shell.flatMap((block) =>
      block.text.split("\n").map((line) => line.replace(/(^| +)#.*/, ""))
    ),
    ...codesIn(prose).map((code) => code.replaceAll(/\s+/g, " ")),
  ];
});

/** What a line gives to `sluice`, as words; `undefined` if it calls it not. */
function argumentsOf(line: string): readonly string[] | undefined {
  const [, rest] = /^(?:.*\$\(|.*<\(|deno task )?sluice ([a-z][^|>);]*)/.exec(line) ?? [];
  return rest?.replaceAll(/'[^']*'|"[^"]*"/g, "TEXT").trim().split(/\s+/);
}

/** Help of a verb, or of the one below it; `undefined` if there is none of that name. */
async function helpOf([verb = "", below = ""]: readonly string[]): Promise<string | undefined> {
  const { out } = await sluice([verb, "--help"]);
  if (!new RegExp(`^Usage: sluice ${verb}\\b`).test(out)) return undefined; // that of sluice itself
  const verbs = [...(out.split("\nCommands:")[1] ?? "").matchAll(/^ {2}([a-z-]+)/gm)];
  if (verbs.length === 0 || !/^[a-z]+$/.test(below)) return out;
  return verbs.some(([, name]) => name === below)
    ? (await sluice([verb, below, "--help"])).out
    : undefined;
}

/** Those of some calls whose verb or options there are not. */
async function unknownIn(calls: readonly (readonly string[])[]): Promise<readonly string[]> {
  const unknown: string[] = [];
  for (const words of calls) {
    const help = await helpOf(words);
    const options = words.filter((word) => word.startsWith("--"))
      .map((word) => word.replace(/=.*|[^a-z]+$/, ""));
    const isThere = (option: string): boolean =>
      new RegExp(`(^|[ ,])${option}(?![a-z-])`, "m").test(help ?? "");
    if (help === undefined || !options.every(isThere)) unknown.push(words.join(" "));
  }
  return unknown;
}

Deno.test("every command line of the pages has a verb and options that there are", async () => {
  const calls = CODES.map(argumentsOf).filter((words) => words !== undefined);
  assert.ok(calls.length > 40, `${calls.length}`);

  assert.deepEqual(await unknownIn(calls), []);
});

Deno.test("docs/commands.md names each verb that asks, and no other takes --yes", async () => {
  const { out } = await sluice(["completions", "bash"]);
  const asking = [...out.matchAll(/^ {4}"(.+)"\) found="(.*)" ;;$/gm)]
    .filter(([, , words = ""]) => words.split(" ").includes("--yes")).map(([, verb]) => verb);
  const text = PAGES.find(({ path }) => path === "docs/commands.md")?.text ?? "";
  const [, named = ""] = /cannot be undone asks first: ([^:.]*)\./.exec(text) ?? [];

  const verbs = codesIn(named).map((code) => code.replace(/ --.*/, ""));
  assert.ok(asking.length > 3);
  assert.deepEqual(verbs.sort(), asking.sort());
});

Deno.test("unknownIn() finds what is planted", async () => {
  const lines = [
    "sluice chekc my/pools.json",
    "sluice check my/pools.json --platfrom docker --strict",
    "sluice check my/pools.json --platform docker",
    "deno task sluice pools pauze main",
    "sluice pools pause main --lane urgent",
    'eval "$(sluice completion bash)"',
    "sluice enqueue main --lane urgent --payload '{\"a\":1} --b' --wait=5s",
  ];

  const unknown = await unknownIn(lines.map((line) => argumentsOf(line) ?? []));

  assert.deepEqual(unknown, [
    "chekc my/pools.json",
    "check my/pools.json --platfrom docker --strict",
    "pools pauze main",
    "completion bash",
  ]);
});

Deno.test("every task that the pages name is one of deno.json", () => {
  const tasks = CODES.flatMap((line) =>
    [...line.matchAll(/(?:deno|deno@2) task (?:--quiet )?([a-z-]+)/g)].map(([, task = ""]) => task)
  );
  assert.ok(tasks.length > 5);

  assert.deepEqual(tasks.filter((task) => !(task in config.tasks)), []);
});

Deno.test("every file of this repository that the pages name exists", async () => {
  const paths = CODES.flatMap((code) =>
    [...code.matchAll(/(?:^| )((?:src|plugins|tests|examples|bench)\/[\w/.]*)/g)]
      .map(([, path = ""]) => path)
  );
  assert.ok(paths.length > 8);

  for (const path of paths) await assert.doesNotReject(Deno.stat(new URL(path, ROOT)), path);
});
