/**
 * What verbs have in common: options, numbers, the yes that destructive ones need.
 *
 * @module
 */

import type { Command } from "commander";
import type { Observer } from "../contract/event.ts";
import { delayTooLong, type Logger, LONGEST_DELAY_MS } from "../contract/job.ts";
import type { Plugin } from "../contract/plugin.ts";
import type { ReadEnv } from "../config/secrets.ts";
import type { AdminSettings, Settings } from "../config/settings.ts";
import type { PlayOptions } from "../simulate/play.ts";
import type { Report } from "../simulate/report.ts";
import type { TuneOptions } from "../simulate/tune/mod.ts";
import type { TuneReport } from "../simulate/tune/report.ts";
import type { Question, WhatIf } from "../simulate/what_if.ts";
import type { Sluice } from "../runtime/handles.ts";
import { DEFAULT_URL, TOKEN_VARIABLE, URL_VARIABLE } from "./client.ts";
import { CliError } from "./failure.ts";
import type { Io } from "./io.ts";
import { inLine } from "./print.ts";

/** What the root brings to the verbs: only it may name built-ins. */
export interface Tools {
  /** The world around. */
  readonly io: Io;
  /** Plugins that need no module. */
  readonly builtins: readonly Plugin[];
  /** Version of the package. */
  readonly version: string;
  /** Starts a config file. @throws {ConfigError} If it has faults. */
  start(
    file: string,
    options: {
      readonly log: Logger;
      readonly observer: Observer;
      readonly admin: AdminSettings;
      readonly adminPort: number | undefined;
      readonly pools: readonly string[] | undefined;
    },
  ): Promise<Sluice>;
  /**
   * Resolves a config file, without starting anything.
   *
   * @param env Reads the environment instead of the process's own.
   * @throws {ConfigError} If it has faults.
   */
  resolve(file: string, env?: ReadEnv): Promise<Settings>;
  /** Plays a scenario file on the pools of a config file. @throws {ConfigError} If one of them has faults. */
  simulate(
    file: string,
    scenario: string,
    options: PlayOptions & { readonly seed: number | undefined },
  ): Promise<Report>;
  /** Searches for a config that keeps a goal. @throws {ConfigError} If a file has faults. @throws {GoalError} If the goal cannot be read. */
  tune(file: string, scenario: string, options: TuneOptions): Promise<TuneReport>;
  /** Plays the recent load of a pool with changes. @throws {ChangeError} If there can be none such. */
  whatIf(config: string | object, question: Question): Promise<WhatIf>;
  /** The JSON Schema of config files, as text. */
  schemaText(): string;
}

/** Adds `--json`. */
export function withJson(command: Command): Command {
  return command.option("--json", "print JSON");
}

/** Adds what every verb needs that touches a running system. */
export function withRemote(command: Command): Command {
  return withJson(command)
    .option(
      "--url <url>",
      `address of the admin API (default: ${URL_VARIABLE} if set, else ${DEFAULT_URL})`,
    )
    .option(
      "--token-env <name>",
      `environment variable with the token (default: ${TOKEN_VARIABLE})`,
    );
}

/** Adds `--yes`. */
export function withYes(command: Command): Command {
  return command.option("--yes", "do not ask for a confirmation");
}

/**
 * Asks before something is done that cannot be undone.
 *
 * @throws {CliError} If the answer is no, or there is nobody to ask.
 */
export function confirmed(io: Io, options: { readonly yes?: boolean }, question: string): void {
  if (options.yes) return;
  const answer = io.confirm(inLine(question));
  if (answer === true) return;
  if (answer === false) throw new CliError("Nothing was changed");
  throw new CliError(`No terminal to confirm "${question}": pass --yes`, 2);
}

/** Reads a whole number. @throws {CliError} If it is none, or below `min`. */
export function wholeNumber(name: string, given: string | undefined, min = 0): number | undefined {
  if (given === undefined) return undefined;
  const value = Number(given);
  if (given.trim() !== "" && Number.isSafeInteger(value) && value >= min) return value;
  throw new CliError(`Expected ${name} to be a whole number >= ${min} but received "${given}"`, 2);
}

/** Reads a duration such as `500`, `500ms`, `30s`, `10m` or `2h`, to ms. @throws {CliError} If it is none. */
export function durationMs(name: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const parts = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h)?$/.exec(given.trim());
  const factor = FACTORS[parts?.[2] ?? "ms"];
  if (parts === null || factor === undefined) {
    throw new CliError(
      `Expected ${name} to be a duration such as 500ms, 30s, 10m or 2h but received "${given}"`,
      2,
    );
  }
  return Math.round(Number(parts[1]) * factor);
}

/** Reads a duration that a job waits for, to ms. @throws {CliError} If it is none, or too long. */
export function delayMs(name: string, given: string | undefined): number | undefined {
  const ms = durationMs(name, given);
  if (ms === undefined || ms <= LONGEST_DELAY_MS) return ms;
  throw new CliError(delayTooLong(name, `"${given}"`), 2);
}

const FACTORS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
