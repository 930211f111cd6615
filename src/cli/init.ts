/**
 * `sluice init`: a config and a handler to start from, which run as they are.
 *
 * @module
 */

import type { Command } from "commander";
import { join } from "node:path";
import { CliError } from "./failure.ts";
import { json, line } from "./print.ts";
import { type Tools, withJson } from "./verb.ts";

/** Adds the verb. */
export function addInit(program: Command, tools: Tools): void {
  withJson(program.command("init").description("write a config and a handler to start from"))
    .argument("[folder]", "where to", ".")
    .option("--force", "overwrite files that exist")
    .action((folder: string, options: InitOptions) => init(folder, options, tools));
}

interface InitOptions {
  readonly force?: boolean;
  readonly json?: boolean;
}

const CONFIG =
  `// Pools of workers. "sluice check pools.json" finds faults, "sluice run pools.json" runs it.
{
  "$schema": "./pools.schema.json",
  "pools": {
    "main": {
      "handler": { "use": "./handler.ts" },
      "size": { "min": 1, "max": 8 },
      // Highest priority first. Growth aims to keep waits below targetWaitMs.
      "lanes": [
        { "name": "urgent", "targetWaitMs": 50 },
        { "name": "batch", "targetWaitMs": 5000, "attempts": 3 }
      ]
    }
  }
}
`;

const HANDLER = `/** A job as it comes here. */
interface Job {
  readonly id: string;
  readonly lane: string;
  readonly payload: unknown;
  /** 1 for the first run. */
  readonly attempt: number;
}

/** What helps to run it. */
interface Context {
  /** Aborts at the time limit, a cancel or a shutdown: give it to fetch and the like. */
  readonly signal: AbortSignal;
  /** The same for every attempt: a job may run twice after a crash. */
  readonly idempotencyKey: string;
}

/** Runs one job. What it returns is the result; a throw is retried, with back-off. */
export default async function handle(job: Job, context: Context): Promise<unknown> {
  await new Promise((resolve) => setTimeout(resolve, 20)); // the work would be here
  context.signal.throwIfAborted();
  return { handled: job.payload };
}
`;

async function init(folder: string, options: InitOptions, tools: Tools): Promise<void> {
  const files = [
    ["pools.json", CONFIG],
    ["handler.ts", HANDLER],
    ["pools.schema.json", tools.schemaText()],
  ] as const;
  await Deno.mkdir(folder, { recursive: true });
  if (!options.force) await refuseExisting(folder, files.map(([name]) => name));
  for (const [name, text] of files) await Deno.writeTextFile(join(folder, name), text);
  const paths = files.map(([name]) => join(folder, name));
  if (options.json) return json(tools.io, { written: paths });
  for (const path of paths) line(tools.io, `Wrote ${path}`);
  line(tools.io, `Next: sluice run ${paths[0]}`);
}

async function refuseExisting(folder: string, names: readonly string[]): Promise<void> {
  const found: string[] = [];
  for (const name of names) {
    try {
      await Deno.lstat(join(folder, name));
      found.push(join(folder, name));
    } catch (thrown) {
      if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
    }
  }
  if (found.length === 0) return;
  const exist = found.length === 1 ? "exists" : "exist";
  throw new CliError(
    `Nothing was written: ${
      found.join(", ")
    } ${exist}; choose another folder, or pass --force to overwrite`,
  );
}
