/**
 * `sluice simulate`: what a config would do under the load of a scenario.
 *
 * @module
 */

import type { Command } from "commander";
import { counted, duration } from "../base/format.ts";
import { compare, sentencesOf } from "../simulate/compare.ts";
import { failuresOf } from "../simulate/picture/failures.ts";
import { toHtml } from "../simulate/picture/page.ts";
import type { Shown } from "../simulate/picture/shown.ts";
import { toSvg } from "../simulate/picture/svg.ts";
import type { PlayOptions } from "../simulate/play.ts";
import type { LaneReport, PoolReport, Report } from "../simulate/report.ts";
import { showFinding } from "./doctor.ts";
import { CliError, INTERRUPTED } from "./failure.ts";
import { onInterrupt } from "./interrupt.ts";
import type { Io } from "./io.ts";
import { bold, type Cell, json, line, table } from "./print.ts";
import { progressBar } from "./progress.ts";
import { showShadow } from "./shadow.ts";
import { type Tools, wholeNumber, withJson } from "./verb.ts";
import { checkWritable, writeText } from "./write.ts";

const PICTURE = "the picture";

interface SimulateOptions {
  readonly json?: boolean;
  readonly seed?: string;
  readonly realTime?: boolean;
  readonly compare?: string;
  readonly html?: string;
  readonly svg?: string;
}

/** Adds the verb. */
export function addSimulate(program: Command, tools: Tools): void {
  withJson(
    program.command("simulate").description("simulate a config under a given load"),
  )
    .argument("<file>", "the config; its handlers are not loaded")
    .argument("<scenario>", "the load")
    .option("--seed <number>", "random seed instead of the scenario's")
    .option("--compare <file>", "another config to compare under the same load")
    .option("--html <file>", "write an HTML report with charts")
    .option("--svg <file>", "write the chart alone, as SVG")
    .option("--real-time", "run with real timers instead of virtual time")
    .action((file: string, scenario: string, options: SimulateOptions) =>
      simulateAll([file, scenario], options, tools)
    );
}

async function simulateAll(
  [file, scenario]: readonly [string, string],
  options: SimulateOptions,
  tools: Tools,
): Promise<void> {
  const { io } = tools;
  const seed = wholeNumber("--seed", options.seed);
  const run = (config: string): Promise<Report> =>
    watched(
      io,
      (watch) => tools.simulate(config, scenario, { ...watch, seed, realTime: options.realTime }),
    );
  const { html, svg } = options;
  const pictures = [html, svg].filter((path) => path !== undefined);
  for (const path of pictures) await checkWritable(PICTURE, path);
  const shown: Shown[] = [];
  for (const config of [file, options.compare]) {
    const wasInterrupted = shown.some(({ report }) => report.interrupted);
    if (config !== undefined && !wasInterrupted) {
      shown.push({ name: config, report: await run(config) });
    }
  }
  if (options.json) json(io, jsonOf(shown));
  else show(io, shown);
  if (html !== undefined) await writeText(PICTURE, html, toHtml(shown, scenario));
  if (svg !== undefined) await writeText(PICTURE, svg, toSvg(shown));
  if (pictures.length > 0 && !options.json) line(io, `\nWrote ${pictures.join(" and ")}`);
  if (shown.some(({ report }) => report.interrupted)) {
    throw new CliError("Interrupted: the report covers the time until then", INTERRUPTED);
  }
}

/** One report as it is; of two, what is better and worse too. */
function jsonOf([first, second]: readonly Shown[]): unknown {
  if (second === undefined) return first?.report;
  const comparison = compare(first!.report, second.report); // where a second is, a first is
  return { report: first!.report, compared: second.report, ...comparison };
}

function show(io: Io, [first, second]: readonly Shown[]): void {
  if (first === undefined) return;
  showReport(io, first);
  if (second === undefined) return;
  line(io);
  showReport(io, second);
  line(io);
  line(io, bold(`${second.name} against ${first.name}`));
  for (const sentence of sentencesOf(compare(first.report, second.report))) line(io, sentence);
}

/** Runs with a progress bar; a signal ends it early, and it still reports. */
async function watched(
  io: Io,
  run: (watch: PlayOptions) => Promise<Report>,
): Promise<Report> {
  const interrupt = new AbortController();
  const bar = progressBar(io);
  const unlisten = onInterrupt(io, () => interrupt.abort());
  try {
    return await run({ signal: interrupt.signal, onProgress: bar.show });
  } finally {
    bar.clear();
    unlisten();
  }
}

function showReport(io: Io, { name: file, report }: Shown): void {
  const { durationMs, seed, interrupted } = report;
  const early = interrupted ? ", interrupted" : "";
  line(io, bold(`${file}: ${duration(durationMs)}, seed ${seed}${early}`));
  for (const [name, pool] of Object.entries(report.pools)) showPool(io, name, pool);
}

function showPool(io: Io, name: string, pool: PoolReport): void {
  const { min, peak, final, mean, workerSeconds } = pool.workers;
  const { scaleEvents, reversals } = pool;
  line(io);
  line(
    io,
    bold(name),
    `: ${min} to ${counted(peak, "worker")}, ${figure(mean)} on average, ${final} at the end ` +
      `(${figure(workerSeconds)} worker-seconds); ` +
      `${counted(scaleEvents, "scale event")}, ${counted(reversals, "reversal")}`,
  );
  table(io, HEAD, Object.entries(pool.lanes).map(([lane, counts]) => rowOf(lane, counts)));
  for (const { saw, change } of failuresOf(pool)) line(io, `${saw}\n  Change: ${change}`);
  for (const finding of pool.diagnosis) showFinding(io, finding);
  for (const shadow of pool.shadow ?? []) showShadow(io, shadow);
}

const HEAD = [
  "lane",
  "arrived",
  "done",
  "dead",
  "shed",
  "left",
  "per sec",
  "wait p50",
  "p95",
  "p99",
  "max ms",
  "sojourn p50",
  "p95",
  "p99",
  "max ms",
] as const;

function rowOf(name: string, lane: LaneReport): readonly Cell[] {
  const { arrived, done, dead, shed, left, perSec } = lane;
  const times = [lane.waitMs, lane.sojournMs].flatMap((quantiles): readonly Cell[] =>
    quantiles === null
      ? ["-", "-", "-", "-"]
      : [quantiles.p50, quantiles.p95, quantiles.p99, quantiles.max].map(figure)
  );
  return [name, arrived, done, dead, shed, left, figure(perSec), ...times];
}

function figure(value: number): number {
  return Number(value.toFixed(1));
}
