/**
 * Searches the simulator for a config that keeps a goal.
 *
 * @module
 */

import { ConfigError } from "../../contract/errors.ts";
import type { Plugin } from "../../contract/plugin.ts";
import type { Settings } from "../../config/settings.ts";
import { play, type PlayOptions } from "../play.ts";
import type { Scenario } from "../read_scenario.ts";
import type { Report } from "../report.ts";
import { type Edit, edited } from "./edit.ts";
import { type Clause, parseGoal } from "./goal.ts";
import { limitsOf, movesOf, type SearchedPool } from "./moves.ts";
import type { TuneReport } from "./report.ts";
import { search } from "./search.ts";

/** How a search is made. */
export interface TuneOptions extends Pick<PlayOptions, "signal" | "onProgress"> {
  /** What lanes have to reach, such as `urgent p99 < 50ms, batch >= 95 %`. */
  readonly goal: string;
  /** Most simulations, >= 100. @default {250} */
  readonly runs?: number | undefined;
}

/** What a search needs of the config and the scenario. */
export interface TuneSource {
  /** The config as read. */
  readonly config: unknown;
  /** Built-ins that may take the place of what the config names. */
  readonly plugins: readonly Plugin[];
  /** Resolves the config with changes. @throws {ConfigError} If they do not fit. */
  resolve(config: unknown): Promise<Settings>;
  /** Reads the scenario for settings. */
  read(settings: Settings): Promise<Scenario>;
}

const RUNS = 250;

/** Searches. @throws {GoalError} If the goal cannot be read. */
export async function tuneSource(source: TuneSource, options: TuneOptions): Promise<TuneReport> {
  const { signal, onProgress, runs = RUNS } = options;
  const first = await source.resolve(source.config);
  const scenario = await source.read(first);
  const goal = parseGoal(options.goal, lanesOf(scenario));
  const maxBefore = new Map(first.pools.map(({ name, size }) => [name, size.max]));

  const settingsOf = async (edits: readonly Edit[]): Promise<Settings | undefined> => {
    try {
      return await source.resolve(edited(source.config, edits));
    } catch (error) {
      if (error instanceof ConfigError) return undefined; // the change does not fit the pool
      throw error;
    }
  };
  const poolsOf = async (edits: readonly Edit[]): Promise<readonly SearchedPool[]> => {
    const settings = await settingsOf(edits);
    const config = edited(source.config, edits);
    const searched = settings?.pools.filter(({ name }) => isNamed(goal, name)) ?? [];
    return searched.map((pool) => ({
      settings: pool,
      config,
      maxBefore: maxBefore.get(pool.name) ?? pool.size.max,
    }));
  };
  return await search({
    config: source.config,
    goal,
    seed: scenario.seed,
    runs,
    async play(edits, seed): Promise<Report | undefined> {
      const settings = await settingsOf(edits);
      if (settings === undefined) return undefined;
      return await play(settings, { ...await source.read(settings), seed });
    },
    moves: async (edits) =>
      (await poolsOf(edits)).flatMap((pool) => movesOf(pool, goal, source.plugins)),
    limits: async (edits) => (await poolsOf(edits)).flatMap(limitsOf),
    stopped: () => signal?.aborted ?? false,
    progress: (share) => onProgress?.(share),
  });
}

function isNamed(goal: readonly Clause[], pool: string): boolean {
  return goal.some((clause) => clause.pool === pool);
}

function lanesOf({ pools }: Scenario): ReadonlyMap<string, readonly string[]> {
  return new Map(
    pools.map(({ settings, lanes }) => [settings.name, lanes.map((lane) => lane.settings.name)]),
  );
}
