/**
 * `sluice schema`: the JSON Schemas that editors complete from.
 *
 * @module
 */

import type { Command } from "commander";
import { messageOf } from "../errors.ts";
import { scenarioSchemaText } from "../simulate/json_schema.ts";
import { CliError } from "./failure.ts";
import { line } from "./print.ts";
import type { Tools } from "./verb.ts";

/** Adds the verb. */
export function addSchema(program: Command, { io, schemaText }: Tools): void {
  program.command("schema")
    .description("print the JSON Schema of configs, for editors")
    .option("--scenario", "that of scenarios instead")
    .option("--out <file>", "write it to a file instead")
    .option("--json", "print JSON: it always is")
    .action(async (options: { readonly out?: string; readonly scenario?: boolean }) => {
      const text = options.scenario ? scenarioSchemaText() : schemaText();
      if (options.out === undefined) return io.out(text);
      await write(options.out, text);
      const what = options.scenario ? "scenario" : "config";
      line(io, `Wrote ${options.out}; name it in a ${what} by "$schema"`);
    });
}

async function write(file: string, text: string): Promise<void> {
  try {
    await Deno.writeTextFile(file, text);
  } catch (cause) {
    throw new CliError(`Cannot write "${file}": ${whyNot(cause)}`, 1, { cause });
  }
}

function whyNot(thrown: unknown): string {
  if (thrown instanceof Deno.errors.IsADirectory) return "it is a folder, name a file in it";
  if (thrown instanceof Deno.errors.NotFound) return "its folder does not exist, make it first";
  return messageOf(thrown);
}
