/**
 * `sluice simulate`: what a config would do under the load of a scenario.
 *
 * @module
 */

import type { Command } from "commander";
import { compare, sentencesOf } from "../simulate/compare.ts";
import type { PlayOptions } from "../simulate/play.ts";
import type { LaneReport, PoolReport, Report } from "../simulate/report.ts";
import { showFinding } from "./doctor.ts";
import type { Io } from "./io.ts";
import { bold, type Cell, counted, duration, json, line, table } from "./print.ts";
import { progressBar } from "./progress.ts";
import { type Tools, wholeNumber, withJson } from "./verb.ts";

interface SimulateOptions {
  readonly json?: boolean;
  readonly seed?: string;
  readonly realTime?: boolean;
  readonly compare?: string;
}

/** Exit code of a process that a second signal ends. */
const INTERRUPTED = 130;

/** Adds the verb. */
export function addSimulate(program: Command, tools: Tools): void {
  withJson(
    program.command("simulate").description("show what a config would do under a given load"),
  )
    .argument("<file>", "the config; its handlers are neither loaded nor run")
    .argument("<scenario>", "the load")
    .option("--seed <number>", "seed of all chance instead of the scenario's")
    .option("--compare <file>", "another config to put under the same load")
    .option("--real-time", "play it with real timers, as long as it takes")
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
  const report = await run(file);
  if (options.compare === undefined) {
    if (options.json) return json(io, report);
    return show(io, file, report);
  }
  const other = await run(options.compare);
  const comparison = compare(report, other);
  if (options.json) return json(io, { report, compared: other, ...comparison });
  show(io, file, report);
  line(io);
  show(io, options.compare, other);
  line(io);
  line(io, bold(io, `${options.compare} against ${file}`));
  for (const sentence of sentencesOf(comparison)) line(io, sentence);
}

/** Runs with a progress bar; a signal ends it early, and it still reports. */
async function watched(
  io: Io,
  run: (watch: PlayOptions) => Promise<Report>,
): Promise<Report> {
  const interrupt = new AbortController();
  const bar = progressBar(io);
  const unlisten = io.onSignal(() => {
    if (interrupt.signal.aborted) io.exit(INTERRUPTED);
    interrupt.abort();
  });
  try {
    return await run({ signal: interrupt.signal, onProgress: bar.show });
  } finally {
    bar.clear();
    unlisten();
  }
}

function show(io: Io, file: string, report: Report): void {
  const { durationMs, seed, interrupted } = report;
  const early = interrupted ? ", interrupted" : "";
  line(io, bold(io, `${file}: ${duration(durationMs)}, seed ${seed}${early}`));
  for (const [name, pool] of Object.entries(report.pools)) showPool(io, name, pool);
}

function showPool(io: Io, name: string, pool: PoolReport): void {
  const { min, peak, final, mean, workerSeconds } = pool.workers;
  const { scaleEvents, reversals } = pool;
  line(io);
  line(
    io,
    `${bold(io, name)}: ${min} to ${peak} workers, ${
      figure(mean)
    } on average, ${final} at the end ` +
      `(${figure(workerSeconds)} worker-seconds); ` +
      `${counted(scaleEvents, "scale event")}, ${counted(reversals, "reversal")}`,
  );
  table(io, HEAD, Object.entries(pool.lanes).map(([lane, counts]) => rowOf(lane, counts)));
  for (const finding of pool.diagnosis) showFinding(io, finding);
}

const HEAD = [
  "lane",
  "arrived",
  "done",
  "failed",
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
  const { arrived, done, failed, shed, left, perSec } = lane;
  const times = [lane.waitMs, lane.sojournMs].flatMap((quantiles): readonly Cell[] =>
    quantiles === null
      ? ["-", "-", "-", "-"]
      : [quantiles.p50, quantiles.p95, quantiles.p99, quantiles.max].map(figure)
  );
  return [name, arrived, done, failed, shed, left, figure(perSec), ...times];
}

function figure(value: number): number {
  return Number(value.toFixed(1));
}
