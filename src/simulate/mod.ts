/**
 * The simulator: the real pools of a config under the load of a scenario, in virtual time.
 *
 * @example
 * ```ts
 * import { simulate } from "@sluice/sluice/simulate";
 * import assert from "node:assert/strict";
 *
 * const config = {
 *   pools: { mail: { handler: "http", size: { min: 2, max: 32 }, lanes: [{ name: "urgent" }] } },
 * };
 * const report = await simulate(config, {
 *   durationMs: 10_000,
 *   pools: {
 *     mail: {
 *       lanes: {
 *         urgent: {
 *           arrivals: { kind: "poisson", perSec: 400 },
 *           serviceMs: { kind: "fixed", ms: 20 },
 *         },
 *       },
 *     },
 *   },
 * });
 *
 * const { urgent } = report.pools.mail!.lanes;
 * assert.equal(urgent!.arrived, urgent!.done + urgent!.left);
 * assert.ok(urgent!.waitMs!.max < 50);
 * ```
 *
 * @module
 */

import { builtins, defaults } from "../../plugins/mod.ts";
import type { ConfigInput } from "../config/input.ts";
import type { HandlerFunction } from "../config/slot_input.ts";
import type { Plugin } from "../contract/plugin.ts";
import { type ReadEnv, resolveConfig } from "../config/resolve.ts";
import { play, type PlayOptions } from "./play.ts";
import { readScenario } from "./read_scenario.ts";
import type { Report } from "./report.ts";
import type { ScenarioInput } from "./scenario.ts";
import { readSource } from "../config/source.ts";
import { scenarioOf } from "./recent_load.ts";
import { poolAlone, type Question, type WhatIf, whatIf as playWhatIf } from "./what_if.ts";
import { type TuneOptions, tuneSource } from "./tune/mod.ts";
import type { TuneReport } from "./tune/report.ts";

export type { PlayOptions } from "./play.ts";
export type { Quantiles } from "./quantiles.ts";
export type * from "./report.ts";
export type * from "./scenario.ts";
export type { Watch } from "./time.ts";
export type { Path } from "../config/faults.ts";
export type { Edit } from "./tune/edit.ts";
export {
  type Clause,
  GoalError,
  type Miss,
  type ShareClause,
  type WaitClause,
} from "./tune/goal.ts";
export type { TuneOptions } from "./tune/mod.ts";
export type * from "./tune/report.ts";
export type { LaneLoadRecord, LoadRecord } from "../planning/load_record.ts";
export { ChangeError, type Question, type WhatIf } from "./what_if.ts";

/** How a simulation is run. */
export interface SimulateOptions extends PlayOptions {
  /** Seed of all chance, a whole number >= 0. @default {the scenario's} */
  readonly seed?: number | undefined;
  /** Plugins by the name that the config knows them by. */
  readonly plugins?: Readonly<Record<string, Plugin | HandlerFunction>> | undefined;
  /** Reads the environment, for names that the config refers to. @default {Deno.env.get} */
  readonly env?: ReadEnv | undefined;
}

/**
 * Plays a scenario on the pools of a config: real pools, in memory, in virtual time. The same
 * config, scenario and seed give the same report in any process.
 *
 * Handlers of the config are neither imported nor run, its store is not opened, its signals are not
 * read: run times and faults come from the scenario.
 *
 * @param config Path or `file:` URL of a JSON file with comments, or the config itself.
 * @param scenario The same of a scenario.
 * @throws {ConfigError} If config or scenario have faults: all of them. Nothing was played.
 */
export async function simulate(
  config: string | URL | ConfigInput,
  scenario: string | URL | ScenarioInput,
  options: SimulateOptions = {},
): Promise<Report> {
  const { plugins, env, seed, ...rest } = options;
  const settings = await resolveConfig(config, {
    builtins,
    defaults,
    plugins,
    env,
    simulated: true,
  });
  const read = await readScenario(scenario, settings);
  return await play(settings, seed === undefined ? read : { ...read, seed }, rest);
}

/**
 * Searches for a config that keeps a goal under the load of a scenario: sizes, reserves, targets,
 * strategies and their options, by simulations. Rates and connections of what is behind the pools are
 * facts and stay. The same config, scenario, goal and runs give the same report.
 *
 * @param config As that of `simulate`.
 * @param scenario As that of `simulate`: its seed is the first that the search sees.
 * @throws {ConfigError} If config or scenario have faults.
 * @throws {GoalError} If the goal cannot be read.
 */
export async function tune(
  config: string | URL | ConfigInput,
  scenario: string | URL | ScenarioInput,
  options: TuneOptions & Pick<SimulateOptions, "plugins" | "env">,
): Promise<TuneReport> {
  const { plugins, env, ...rest } = options;
  const resolve = { builtins, defaults, plugins, env, simulated: true };
  await resolveConfig(config, resolve); // faults have their places in the file
  const source = await readSource(config);
  const load = await readSource(scenario, "scenario");
  const folder = source.folder();
  return await tuneSource({
    config: source.value,
    plugins: builtins,
    resolve: (edited) => resolveConfig(edited as ConfigInput, { ...resolve, folder }),
    read: (settings) => readScenario(load.value as ScenarioInput, settings),
  }, rest);
}

/**
 * What would have been: plays the recent load of a pool on its config, and on one with changes.
 *
 * @param config As that of `simulate`; the other pools of it are left out.
 * @throws {ConfigError} If the config has faults, or one with the changes.
 * @throws {ChangeError} If a change is none of a pool, or the load is too large.
 */
export async function whatIf(
  config: string | URL | ConfigInput,
  question: Question,
  options: SimulateOptions = {},
): Promise<WhatIf> {
  const source = await readSource(config);
  const alone = poolAlone(source.value, question.pool);
  const scenario = scenarioOf(question.pool, question.load, options.seed);
  const { plugins, env, seed: _, ...rest } = options;
  const resolve = { builtins, defaults, plugins, env, simulated: true, folder: source.folder() };
  return await playWhatIf(question, alone, async (changed) => {
    const settings = await resolveConfig(changed as ConfigInput, resolve);
    return await play(settings, await readScenario(scenario, settings), rest);
  });
}
