/**
 * `sluice schema`: the JSON Schemas that editors complete from.
 *
 * @module
 */

import type { Command } from "commander";
import { scenarioSchemaText } from "../simulate/json_schema.ts";
import { line, whole } from "./print.ts";
import type { Tools } from "./verb.ts";
import { writeText } from "./write.ts";

/** Adds the verb. */
export function addSchema(program: Command, { io, schemaText }: Tools): void {
  program.command("schema")
    .description("print the JSON Schema of configs, for editors")
    .option("--scenario", "that of scenarios instead")
    .option("--out <file>", "write it to a file instead")
    .option("--json", "print JSON: it always is")
    .action(async (options: { readonly out?: string; readonly scenario?: boolean }) => {
      const text = options.scenario ? scenarioSchemaText() : schemaText();
      if (options.out === undefined) return whole(io, text);
      await writeText(`"${options.out}"`, options.out, text);
      const what = options.scenario ? "scenario" : "config";
      line(io, `Wrote ${options.out}; name it in a ${what} by "$schema"`);
    });
}
