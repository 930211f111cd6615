/**
 * Plays the recent load of a pool on its config as it is, and on one with changes.
 *
 * @module
 */

import type { LoadRecord } from "../planning/load_record.ts";
import { counted } from "../base/format.ts";
import { nearest } from "../base/suggest.ts";
import { isRecord, type Path } from "../config/faults.ts";
import type { Report } from "./report.ts";
import { type Edit, edited, valueAt } from "./tune/edit.ts";

/** A config with a change that cannot be made. The message says what to write. */
export class ChangeError extends Error {
  /** `"ChangeError"`. */
  override readonly name = "ChangeError";
}

/** What would have been. */
export interface WhatIf {
  /** The changes, with what was there. */
  readonly edits: readonly Edit[];
  /** What the simulation makes of the config as it is: how far it can be trusted. */
  readonly asItIs: Report;
  /** What it makes of the changed one. */
  readonly changed: Report;
}

/** What was asked. */
export interface Question {
  /** The pool. */
  readonly pool: string;
  /** Changes of it, by their keys: `{ "size.max": 30, "lanes.urgent.targetWaitMs": 100 }`. */
  readonly changes: Readonly<Record<string, unknown>>;
  /** What came to it. */
  readonly load: LoadRecord;
}

/** What the thread is asked. */
export interface AskedQuestion {
  /** The config as the system shows it. */
  readonly config: unknown;
  /** The question. */
  readonly question: Question;
}

/** What it answers: `fault` says what is wrong with the question. */
export type WorkerAnswer = { readonly answer: WhatIf } | {
  readonly fault: string;
  /** True if the question is wrong, and not the simulator. */
  readonly isAsked: boolean;
};

/** Most jobs that are played again: more take a simulation of minutes. */
export const MOST_JOBS = 500_000;

/** The config of one pool alone, with the downstreams that it names. @throws {ChangeError} If there is no such pool. */
export function poolAlone(config: unknown, pool: string): Readonly<Record<string, unknown>> {
  const pools = isRecord(config) ? config.pools : undefined;
  if (!isRecord(config) || !isRecord(pools) || !isRecord(pools[pool])) {
    throw new ChangeError(`The config has no pool "${pool}"`);
  }
  const { downstreams, allowModules } = config;
  const { sizes: _, ...own } = pools[pool]; // it is played at another time of day: `size` is asked about
  return {
    ...(downstreams !== undefined && { downstreams }),
    ...(allowModules !== undefined && { allowModules }),
    pools: { [pool]: own },
  };
}

/**
 * Changes by their keys, in a config. A lane is named: `lanes.urgent.maxRunning`.
 *
 * @throws {ChangeError} If a key is none of a pool.
 */
export function editsOf({ pool, changes }: Question, config: unknown): readonly Edit[] {
  return Object.entries(changes).map(([key, to]) => {
    const path = pathOf(key, { pool, config });
    return {
      path,
      from: valueAt(config, path),
      to: to === null && isOptional(key) ? undefined : to,
    };
  });
}

/** `null` is a value of `targetWaitMs` alone; elsewhere it takes the key away. */
function isOptional(key: string): boolean {
  return !key.endsWith("targetWaitMs");
}

function pathOf(
  key: string,
  { pool, config }: { readonly pool: string; readonly config: unknown },
): Path {
  const steps = key.split(".");
  if (steps.some((step) => step === "")) {
    throw new ChangeError(`Expected a key such as size.max but received "${key}"`);
  }
  const root: Path = ["pools", pool];
  if (steps[0] !== "lanes") {
    return [...root, ...steps.map((step) => /^\d+$/.test(step) ? Number(step) : step)];
  }
  const lanes = valueAt(config, [...root, "lanes"]);
  const names = (Array.isArray(lanes) ? lanes : []).map((lane) => String(lane?.name));
  const rest = key.slice("lanes.".length);
  // A lane's name may have dots: the longest that fits.
  const index = names.map((name, at) => ({ name, at }))
    .filter(({ name }) => rest.startsWith(`${name}.`))
    .sort((a, b) => b.name.length - a.name.length)[0]?.at;
  if (index === undefined) {
    const close = nearest(steps[1] ?? "", names);
    const hint = close === undefined
      ? `its lanes: ${names.join(", ")}`
      : `did you mean "${close}"?`;
    throw new ChangeError(`Expected lanes.LANE.KEY but received "${key}": ${hint}`);
  }
  return [...root, "lanes", index, ...rest.slice(names[index]!.length + 1).split(".")];
}

/** Jobs of a load. */
export function jobsOf({ lanes }: LoadRecord): number {
  const sum = (list: readonly number[]): number => list.reduce((a, b) => a + b, 0);
  return lanes.reduce((total, { waiting, offered }) => total + waiting + sum(offered), 0);
}

/**
 * Plays the load twice.
 *
 * @param config The config of the pool alone.
 * @param play Plays a config. @throws {ConfigError} If it has faults.
 * @throws {ChangeError} If a key is none of a pool, or the load is too large.
 */
export async function whatIf(
  question: Question,
  config: unknown,
  play: (config: unknown) => Promise<Report>,
): Promise<WhatIf> {
  const jobs = jobsOf(question.load);
  if (jobs > MOST_JOBS) {
    throw new ChangeError(
      `${counted(jobs, "job")} came: ${MOST_JOBS} are played at most, ask for less time`,
    );
  }
  const edits = editsOf(question, config);
  const changed = edited(config, edits);
  const first = await play(changed); // first: it may have faults
  return { edits, changed: first, asItIs: await play(config) };
}
