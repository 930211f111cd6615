/**
 * `sluice tune`: which change of a config keeps a goal under the load of a scenario.
 *
 * @module
 */

import type { Command } from "commander";
import { counted } from "../base/format.ts";
import { withEdits } from "../config/edit_text.ts";
import { frontierSvg } from "../simulate/picture/frontier_plot.ts";
import { type Edit, editText } from "../simulate/tune/edit.ts";
import { GoalError, missText } from "../simulate/tune/goal.ts";
import type { Judged, TuneReport } from "../simulate/tune/report.ts";
import { CliError, INTERRUPTED } from "./failure.ts";
import { onInterrupt } from "./interrupt.ts";
import type { Io } from "./io.ts";
import { bold, type Cell, json, line, table } from "./print.ts";
import { progressBar } from "./progress.ts";
import { type Tools, wholeNumber, withJson } from "./verb.ts";
import { checkWritable, writeText } from "./write.ts";

interface TuneVerbOptions {
  readonly goal: string;
  readonly runs?: string;
  readonly out?: string;
  readonly svg?: string;
  readonly json?: boolean;
}

const LEAST_RUNS = 100;

/** Adds the verb. */
export function addTune(program: Command, tools: Tools): void {
  withJson(
    program.command("tune").description("search the simulator for a config that keeps a goal"),
  )
    .argument("<file>", "the config; its handlers are not loaded")
    .argument("<scenario>", "the load")
    .requiredOption("--goal <goal>", 'such as "urgent p99 < 50ms, batch >= 95 %"')
    .option("--runs <number>", `most simulations, at least ${LEAST_RUNS}`, "250")
    .option("--out <file>", "write the config with the smallest change that keeps the goal")
    .option("--svg <file>", "write the picture of what was found")
    .action((file: string, scenario: string, options: TuneVerbOptions) =>
      tuneAll([file, scenario], options, tools)
    );
}

async function tuneAll(
  [file, scenario]: readonly [string, string],
  options: TuneVerbOptions,
  { io, tune }: Tools,
): Promise<void> {
  const runs = wholeNumber("--runs", options.runs, LEAST_RUNS);
  const { out, svg, goal } = options;
  if (out !== undefined) await checkWritable("the config", out);
  if (svg !== undefined) await checkWritable("the picture", svg);
  const report = await watched(io, (watch) => tune(file, scenario, { ...watch, goal, runs }));
  if (options.json) json(io, report);
  else show(io, report, goal);
  if (svg !== undefined) await writeText("the picture", svg, frontierSvg(report, goal));
  const smallest = report.smallest;
  if (out !== undefined && smallest !== null) {
    const text = await Deno.readTextFile(file);
    await writeText("the config", out, withEdits(text, smallest.edits));
  }
  if (report.interrupted) {
    throw new CliError("Interrupted: the report covers what was tried until then", INTERRUPTED);
  }
  if (smallest === null) throw new CliError(`No change that was tried keeps the goal "${goal}"`);
}

async function watched(
  io: Io,
  run: (
    watch: { readonly signal: AbortSignal; readonly onProgress: (share: number) => void },
  ) => Promise<TuneReport>,
): Promise<TuneReport> {
  const interrupt = new AbortController();
  const bar = progressBar(io);
  const unlisten = onInterrupt(io, () => interrupt.abort());
  try {
    return await run({ signal: interrupt.signal, onProgress: bar.show });
  } catch (error) {
    if (error instanceof GoalError) throw new CliError(error.message, 2);
    throw error;
  } finally {
    bar.clear();
    unlisten();
  }
}

function show(io: Io, report: TuneReport, goal: string): void {
  const { base, frontier, smallest, nearest, bounds, runs, searched, judgedBy } = report;
  line(
    io,
    bold(goal),
    `: ${counted(runs, "simulation")}, searched on ${seeds(searched)}, `,
    [
      `judged on ${seeds(judgedBy)}`,
    ].join(),
  );
  line(io);
  const rows = frontier.map((one, index) => rowOf(String(index + 1), one));
  const near = nearest === null ? [] : [rowOf("nearest", nearest)];
  table(io, ["", "goal", "worker-seconds", "changes/min", "changed"], [
    rowOf("now", base),
    ...rows,
    ...near,
  ]);
  line(io);
  if (smallest === null) {
    showBounds(io, bounds);
    return;
  }
  if (smallest.edits.length === 0) return line(io, "The config keeps the goal as it is.");
  line(io, "The smallest change that keeps the goal:");
  for (const edit of smallest.edits) line(io, `  ${editText(edit)}`);
}

function showBounds(io: Io, bounds: TuneReport["bounds"]): void {
  if (bounds.length === 0) {
    return line(io, "It would be missed as well without any one limit of the config.");
  }
  for (const { limit, misses } of bounds) {
    const without = misses.length === 0 ? "the goal is kept" : saying(misses);
    line(io, `Bound by ${placeOf(limit)}: without it ${without}.`);
  }
}

function placeOf({ path, from }: Edit): string {
  return `${path.join(".")} ${JSON.stringify(from)}`;
}

function rowOf(name: string, { misses, workerSeconds, changesPerMin, edits }: Judged): Cell[] {
  const goal = misses.length === 0 ? "kept" : `missed: ${saying(misses)}`;
  const changed = edits.map(editText).join("; ") || "nothing";
  return [name, goal, rounded(workerSeconds), rounded(changesPerMin), changed];
}

function saying(misses: Judged["misses"]): string {
  return misses.map(missText).join(", ");
}

function rounded(value: number): number {
  return Number(value.toFixed(1));
}

function seeds(list: readonly number[]): string {
  return `seeds ${list[0]} to ${list.at(-1)}`;
}
