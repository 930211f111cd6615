/**
 * `sluice init`: a folder to start from, which runs as it is: a config, a handler and a test of it.
 *
 * @module
 */

import type { Command } from "commander";
import { basename, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { CliError } from "./failure.ts";
import {
  callTest,
  type Choice,
  configText,
  entryText,
  HANDLER,
  HANDLER_TEST,
  projectText,
  readmeText,
} from "./init_files.ts";
import { json, line } from "./print.ts";
import { type Tools, withJson } from "./verb.ts";

/** Adds the verb. */
export function addInit(program: Command, tools: Tools): void {
  withJson(
    program.command("init").description("write a config, a handler and a test to start from"),
  )
    .argument("[folder]", "where to", ".")
    .option("--durable", "jobs outlive the process, in a file")
    .option("--http <url>", "each job calls an API: no code")
    .option("--schedule", "a job comes at the times of a cron expression")
    .option("--deploy", "an entry for Deno Deploy, too")
    .option("--force", "overwrite files that exist; deno.json and README.md are kept")
    .action((folder: string, options: InitOptions) => init(folder, options, tools));
}

interface InitOptions {
  readonly durable?: boolean;
  readonly http?: string;
  readonly schedule?: boolean;
  readonly deploy?: boolean;
  readonly force?: boolean;
  readonly json?: boolean;
}

/** Files that a folder may have already: what they lack is said, not written. */
const KEPT: readonly string[] = ["deno.json", "README.md"];

async function init(folder: string, options: InitOptions, tools: Tools): Promise<void> {
  const choice = choiceOf(options);
  const files = await filesOf(folder, choice, tools);
  await Deno.mkdir(folder, { recursive: true });
  const existing = await existingOf(folder, [...files.keys()]);
  const inTheWay = existing.filter((name) => !KEPT.includes(name));
  if (!options.force) refuse(inTheWay.map((name) => join(folder, name)));
  const kept = existing.filter((name) => KEPT.includes(name));
  const written = [...files.keys()].filter((name) => !kept.includes(name));
  for (const name of written) await Deno.writeTextFile(join(folder, name), files.get(name) ?? "");
  const paths = written.map((name) => join(folder, name));
  if (options.json) {
    return json(tools.io, { written: paths, kept: kept.map((name) => join(folder, name)) });
  }
  for (const path of paths) line(tools.io, `Wrote ${path}`);
  if (kept.includes("deno.json")) {
    line(tools.io, `Kept ${join(folder, "deno.json")}: it needs`);
    line(tools.io, (files.get("deno.json") ?? "").trimEnd());
  }
  line(tools.io, `Next: sluice run ${join(folder, "pools.json")}`);
}

function choiceOf({ durable, http, schedule, deploy }: InitOptions): Choice {
  if (http !== undefined && !(URL.canParse(http) && /^https?:/.test(http))) {
    throw new CliError(
      `Expected --http to be a URL such as "https://api.example.com/mails" but received "${http}"`,
      2,
    );
  }
  return {
    durable: durable === true || deploy === true,
    url: http,
    schedule: schedule === true,
    deploy: deploy === true,
  };
}

/** Texts by name, in the order of the report. */
async function filesOf(
  folder: string,
  choice: Choice,
  { schemaText, version }: Tools,
): Promise<ReadonlyMap<string, string>> {
  const isCode = choice.url === undefined;
  const files = new Map([["pools.json", configText(choice)]]);
  if (isCode) files.set("handler.ts", HANDLER).set("handler_test.ts", HANDLER_TEST);
  else files.set("pools_test.ts", callTest(choice.url));
  if (choice.deploy) {
    const example = await fetch(new URL("../../examples/deploy.ts", import.meta.url));
    files.set("main.ts", entryText(await example.text(), choice));
  }
  return files.set("pools.schema.json", schemaText())
    .set("deno.json", projectText(choice, { version, clone: cloneFrom(folder) }))
    .set("README.md", readmeText(basename(resolve(folder)), choice));
}

/** Path from a folder to the clone that this runs from. `undefined`: it runs from a registry. */
function cloneFrom(folder: string): string | undefined {
  const home = new URL("../../", import.meta.url);
  if (home.protocol !== "file:") return undefined;
  return relative(resolve(folder), fileURLToPath(home)).replaceAll("\\", "/") || ".";
}

/** Those of some files that a folder has. */
async function existingOf(folder: string, names: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const name of names) {
    try {
      await Deno.lstat(join(folder, name));
      found.push(name);
    } catch (thrown) {
      if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
    }
  }
  return found;
}

function refuse(found: readonly string[]): void {
  if (found.length === 0) return;
  const exist = found.length === 1 ? "exists" : "exist";
  throw new CliError(
    `Nothing was written: ${
      found.join(", ")
    } ${exist}; choose another folder, or pass --force to overwrite`,
  );
}
