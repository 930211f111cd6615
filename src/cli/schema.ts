/**
 * `sluice schema`: the JSON Schema that editors complete from.
 *
 * @module
 */

import type { Command } from "commander";
import { line } from "./print.ts";
import type { Tools } from "./verb.ts";

/** Adds the verb. */
export function addSchema(program: Command, { io, schemaText }: Tools): void {
  program.command("schema")
    .description("print the JSON Schema of configs, for editors")
    .option("--out <file>", "write it to a file instead")
    .option("--json", "print JSON: it always is")
    .action(async (options: { readonly out?: string }) => {
      if (options.out === undefined) return io.out(schemaText());
      await Deno.writeTextFile(options.out, schemaText());
      line(io, `Wrote ${options.out}; name it in a config by "$schema"`);
    });
}
