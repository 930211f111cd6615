/**
 * Goals of a search: what lanes have to reach, from a text such as
 * `urgent p99 < 50ms, batch >= 95 %`.
 *
 * @module
 */

import { duration } from "../../base/format.ts";
import { suggestion } from "../../base/suggest.ts";
import type { LaneReport, Report } from "../report.ts";

/** One thing that a lane has to reach. */
export type Clause = {
  /** Pool of the lane. */
  readonly pool: string;
  /** The lane. */
  readonly lane: string;
} & (WaitClause | ShareClause);

/** Most that jobs may wait. */
export interface WaitClause {
  /** From claimable to started, or from arrived to done. */
  readonly of: "wait" | "sojourn";
  /** Which of all jobs: the share that must not be above, or all. */
  readonly quantile: "p50" | "p95" | "p99" | "max";
  /** Most, ms. */
  readonly mostMs: number;
}

/** Least share of the arrived jobs that has to be done. */
export interface ShareClause {
  /** Jobs done. */
  readonly of: "done";
  /** 0 to 1. */
  readonly least: number;
}

/** A clause that a run did not reach. */
export interface Miss {
  /** What the lane had to reach. */
  readonly clause: Clause;
  /** What it came to: ms, or a share. `Infinity`: no job started. */
  readonly value: number;
  /** How far it is off, as a share of the bound: 1 is twice the wait. */
  readonly by: number;
}

/** The lanes of each pool that a goal may name. */
export type GoalLanes = ReadonlyMap<string, readonly string[]>;

/** A goal that cannot be read. The message says what to write. */
export class GoalError extends Error {
  /** `"GoalError"`. */
  override readonly name = "GoalError";
}

const WAIT =
  /^(.+?)\s+(?:(wait|sojourn)\s+)?(p50|p95|p99|max)\s*<=?\s*(\d+(?:\.\d+)?)\s*(ms|s|min|h)$/;
const SHARE = /^(.+?)\s*>=?\s*(\d+(?:\.\d+)?)\s*%$/;
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, min: 60_000, h: 3_600_000 };

/**
 * Reads a goal.
 *
 * @param text Clauses with commas between them. A lane that several pools have is `POOL/LANE`.
 * @throws {GoalError} If a clause is none, or names no lane.
 */
export function parseGoal(text: string, lanes: GoalLanes): readonly Clause[] {
  const clauses = text.split(",").map((part) => part.trim()).filter((part) => part !== "");
  if (clauses.length === 0) throw new GoalError(`Expected a goal, ${EXAMPLE}, but it is empty`);
  return clauses.map((clause) => parseClause(clause, lanes));
}

const EXAMPLE = 'such as "urgent p99 < 50ms, batch >= 95 %"';

function parseClause(text: string, lanes: GoalLanes): Clause {
  const wait = WAIT.exec(text);
  if (wait !== null) {
    const [, name = "", of = "wait", quantile, figure, unit = "ms"] = wait;
    return {
      ...findLane(name, lanes),
      of: of as WaitClause["of"],
      quantile: quantile as WaitClause["quantile"],
      mostMs: Number(figure) * UNIT_MS[unit]!, // the pattern allows no other unit
    };
  }
  const share = SHARE.exec(text);
  if (share === null) throw new GoalError(`Expected a goal, ${EXAMPLE}, but received "${text}"`);
  const [, name = "", percent] = share;
  const least = Number(percent) / 100;
  if (least > 1) throw new GoalError(`Expected at most 100 % but received "${text}"`);
  return { ...findLane(name, lanes), of: "done", least };
}

function findLane(name: string, lanes: GoalLanes): { pool: string; lane: string } {
  const all = [...lanes].flatMap(([pool, names]) => names.map((lane) => ({ pool, lane })));
  const found = all.filter(({ pool, lane }) => name === lane || name === `${pool}/${lane}`);
  const [one] = found;
  if (one !== undefined && found.length === 1) return one;
  const paths = (found.length > 0 ? found : all).map(({ pool, lane }) => `${pool}/${lane}`);
  if (found.length > 0) {
    throw new GoalError(`Several pools have a lane "${name}": write ${paths.join(" or ")}`);
  }
  const known = [...new Set(all.map(({ lane }) => lane)), ...paths];
  throw new GoalError(`No lane with a load is named "${name}"${suggestion(name, known)}`);
}

/** What a run did not reach. Empty: it reached the goal. */
export function missesOf(goal: readonly Clause[], report: Report): readonly Miss[] {
  return goal.flatMap((clause) => {
    const lane = report.pools[clause.pool]?.lanes[clause.lane];
    const value = lane === undefined ? undefined : valueOf(clause, lane);
    if (value === undefined) return [];
    const by = clause.of === "done"
      ? (clause.least - value) / clause.least
      : value / clause.mostMs - 1;
    return by > 0 ? [{ clause, value, by }] : [];
  });
}

/** A goal that is harder to keep: waits, and what is not done, within a share of what is asked. */
export function tightened(goal: readonly Clause[], share: number): readonly Clause[] {
  return goal.map((clause) =>
    clause.of === "done"
      ? { ...clause, least: 1 - (1 - clause.least) * share }
      : { ...clause, mostMs: clause.mostMs * share }
  );
}

/** What a lane came to. `undefined`: no job arrived, so nothing is missed. */
function valueOf(clause: Clause, lane: LaneReport): number | undefined {
  if (lane.arrived === 0) return undefined;
  if (clause.of === "done") return lane.done / lane.arrived;
  const quantiles = clause.of === "wait" ? lane.waitMs : lane.sojournMs;
  return quantiles === null ? Infinity : quantiles[clause.quantile];
}

/** A clause as one writes it. */
export function clauseText(clause: Clause): string {
  const { lane } = clause;
  if (clause.of === "done") return `${lane} >= ${percent(clause.least)}`;
  const of = clause.of === "wait" ? "" : `${clause.of} `;
  return `${lane} ${of}${clause.quantile} < ${duration(clause.mostMs)}`;
}

/** What was missed: the lane, the figure, and what it came to. */
export function missText({ clause, value }: Miss): string {
  const { lane } = clause;
  if (clause.of === "done") return `${lane} ${percent(value)} done`;
  const of = clause.of === "wait" ? "" : `${clause.of} `;
  return `${lane} ${of}${clause.quantile} ${value === Infinity ? "never" : duration(value)}`;
}

function percent(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`;
}
