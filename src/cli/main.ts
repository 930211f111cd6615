/**
 * The command line: `sluice VERB`. Exits 0 done, 1 failed, 2 for what was given: usage, config, a
 * request that the system refuses.
 *
 * @module
 */

import { Command, CommanderError } from "commander";
import project from "../../deno.json" with { type: "json" };
import { start } from "../../mod.ts";
import { builtins, defaults } from "../../plugins/mod.ts";
import { ConfigError, messageOf } from "../contract/errors.ts";
import type { ConfigInput } from "../config/input.ts";
import { resolveConfig } from "../config/resolve.ts";
import { schemaText } from "../config/schema.ts";
import { simulate, tune, whatIf } from "../simulate/mod.ts";
import { nearest } from "../base/suggest.ts";
import { visible } from "../base/escape.ts";
import { addCheck, faultsOf } from "./check.ts";
import { addCompletions } from "./completions.ts";
import { addDlq } from "./dlq.ts";
import { addDoctor } from "./doctor.ts";
import { addEnqueue } from "./enqueue.ts";
import { addEvents } from "./event_list.ts";
import { addExamples } from "./examples.ts";
import { addExplain } from "./explain.ts";
import { CliError } from "./failure.ts";
import { addInit } from "./init.ts";
import { type Io, systemIo } from "./io.ts";
import { addJobs } from "./jobs.ts";
import { addOperations } from "./operations.ts";
import { addPlugins } from "./plugins.ts";
import { addPools } from "./pools.ts";
import { addRecord } from "./record.ts";
import { addReload } from "./reload.ts";
import { addRun } from "./run.ts";
import { addSchedules } from "./schedules.ts";
import { addSchema } from "./schema.ts";
import { addSimulate } from "./simulate.ts";
import { addTestCall } from "./test_call.ts";
import { addTop } from "./top.ts";
import { addTune } from "./tune.ts";
import { addWhatIf } from "./whatif.ts";
import { note, whole } from "./print.ts";
import type { Tools } from "./verb.ts";

export type { Io } from "./io.ts";
export type { Screen, ScreenEvent } from "./screen.ts";

/**
 * Runs one verb.
 *
 * @param args What is after `sluice`.
 * @param io Where output goes and answers come from. @default {the process's own}
 * @returns What the process is to exit with: 0 done, 1 failed, 2 usage, config or a request with faults, 130 interrupted.
 */
export async function main(args: readonly string[], io: Io = systemIo()): Promise<number> {
  const tools: Tools = {
    io,
    builtins,
    version: project.version,
    start: (file, options) => start(file, options),
    resolve: (file, env) => resolveConfig(file, { builtins, defaults, env }),
    simulate,
    tune,
    whatIf: (config, question) => whatIf(config as ConfigInput, question), // checked when it is resolved
    schemaText: () => schemaText(builtins),
  };
  try {
    const program = programOf(tools);
    checkVerb(program, args);
    await program.parseAsync([...args], { from: "user" });
    return 0;
  } catch (thrown) {
    return failed(io, thrown);
  }
}

function programOf(tools: Tools): Command {
  const { io } = tools;
  const program = new Command("sluice")
    .description("Autoscaling worker pools with priority lanes")
    .version(project.version, "-V, --version", "print the version")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => whole(io, text),
      writeErr: (text) => io.err(visible(text)),
    })
    .showHelpAfterError('(see "--help" for usage)');
  for (
    const add of [
      addInit,
      addCheck,
      addSchema,
      addRun,
      addReload,
      addSimulate,
      addTune,
      addWhatIf,
      addRecord,
      addPools,
      addExplain,
      addDoctor,
      addEnqueue,
      addTestCall,
      addJobs,
      addDlq,
      addOperations,
      addSchedules,
      addEvents,
      addPlugins,
      addTop,
      addCompletions,
    ]
  ) add(program, tools);
  addExamples(program);
  return program;
}

/**
 * Ends at a verb that there is not. Commander by itself answers `--help` behind one with the help of
 * what is before it, and gives one below `pools` to `ls`.
 */
function checkVerb(command: Command, [verb, ...rest]: readonly string[]): void {
  if (verb === undefined || verb.startsWith("-") || command.commands.length === 0) return;
  const known = command.createHelp().visibleCommands(command); // with "help", which has no verbs
  const below = known.find((each) => each.name() === verb);
  if (below !== undefined) return checkVerb(verb === "help" ? command : below, rest);
  const near = nearest(verb, known.map((each) => each.name()));
  const hint = near === undefined ? "" : `\n(Did you mean ${near}?)`;
  command.error(`error: unknown command '${verb}'${hint}`, { code: "commander.unknownCommand" });
}

function failed(io: Io, thrown: unknown): number {
  if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : 2; // it has said why
  if (thrown instanceof ConfigError) {
    io.err(visible(faultsOf(thrown)));
    return 2;
  }
  note(io, messageOf(thrown));
  return thrown instanceof CliError ? thrown.exitCode : 1;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
