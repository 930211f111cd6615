/**
 * The figures of two published experiments beside ours: `deno task seeds [--seeds 50] [--real-time]`.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { simulate } from "../src/simulate/mod.ts";
import { claimLines } from "./_claims.ts";
import { type Figure, type SeedScenario, seedScenarios } from "./_seeds.ts";
import { trialLines } from "./_trials.ts";
import { trueRateLines } from "./_true_rates.ts";

const ROOT = new URL("../tests/scenarios/", import.meta.url);

/** A figure over seeds. */
interface Measured {
  readonly mean: number;
  readonly deviation: number;
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { seeds: { type: "string", default: "10" }, "real-time": { type: "boolean" } },
  });
  const realTime = values["real-time"] ?? false;
  const seeds = realTime ? 1 : Number(values.seeds);
  say(realTime ? "In real time, one run each" : `Simulated, ${seeds} seeds`);
  for (const scenario of seedScenarios) await showScenario(scenario, seeds, realTime);
  if (!realTime) { for await (const line of trueRateLines(seeds)) say(line); }
  if (!realTime) { for await (const line of claimLines()) say(line); }
  if (!realTime) { for await (const line of trialLines(seeds)) say(line); }
}

async function showScenario(
  scenario: SeedScenario,
  seeds: number,
  realTime: boolean,
): Promise<void> {
  const folder = new URL(`${scenario.folder}/`, ROOT);
  const text = await Deno.readTextFile(new URL("scenario.json", folder));
  const load = JSON.parse(scenario.poisson ? text.replaceAll('"even"', '"poisson"') : text);
  const runs: number[][] = scenario.figures.map(() => []);
  for (let seed = 1; seed <= seeds; seed++) {
    const report = await simulate(new URL("config.json", folder), load, { seed, realTime });
    const [pool] = Object.values(report.pools);
    scenario.figures.forEach(({ read }, index) => runs[index]!.push(read(pool!)));
  }
  const unexplained = `differs: ${realTime ? "one run; real timers fire late" : "unexplained"}`;
  say(`\n${scenario.name}`);
  scenario.figures.forEach((figure, index) =>
    showFigure(figure, measure(runs[index]!), unexplained)
  );
}

function showFigure(figure: Figure, measured: Measured, unexplained: string): void {
  const { name, published } = figure;
  if (Number.isNaN(measured.mean)) return; // no job was done, as the experiment says too
  const own = `${short(measured.mean)} ± ${short(measured.deviation)}`.padEnd(16);
  const seed = (published === undefined ? "-" : short(published)).padStart(7);
  say(
    `  ${name.padEnd(26)} seed ${seed}   ours ${own} ${verdict(figure, measured) ?? unexplained}`,
  );
}

/** Within three standard deviations or a tenth; where not, the reason. `undefined`: none is known. */
function verdict(
  { published, reason }: Figure,
  { mean, deviation }: Measured,
): string | undefined {
  if (published === undefined) return "";
  const off = Math.abs(mean - published);
  if (off <= Math.max(3 * deviation, 0.1 * published)) return "within";
  return reason && `differs: ${reason}`;
}

function measure(values: readonly number[]): Measured {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, deviation: Math.sqrt(squares / Math.max(1, values.length - 1)) };
}

function short(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(1);
}

function say(line: string): void {
  // deno-lint-ignore no-console
  console.log(line);
}
