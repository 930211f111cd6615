/**
 * Compares two reports on one scenario.
 *
 * @module
 */

import { counted, grouped } from "../base/format.ts";
import type { LaneReport, PoolReport, Report } from "./report.ts";

/** What is better and what is worse, a phrase each with both figures. */
export interface Comparison {
  /** What is better in the second report. */
  readonly better: readonly string[];
  /** What is worse in it. */
  readonly worse: readonly string[];
}

/** A figure of which less is better, or more. */
interface Figure<Of> {
  readonly read: (of: Of) => number | undefined;
  readonly say: (figure: string) => string;
  readonly aim: "less" | "more";
  /** Differences that are not greater are none. */
  readonly least: number;
}

/** Differences below this share of the greater figure are none. */
const LEAST_SHARE = 0.02;

const laneFigures: readonly Figure<LaneReport>[] = [
  { read: (lane) => lane.done, say: (figure) => `${figure} done`, aim: "more", least: 1 },
  { read: (lane) => lane.dead, say: (figure) => `${figure} dead`, aim: "less", least: 1 },
  { read: (lane) => lane.shed, say: (figure) => `${figure} shed`, aim: "less", least: 1 },
  {
    read: (lane) => lane.waitMs?.p99,
    say: (figure) => `p99 wait ${figure} ms`,
    aim: "less",
    least: 1,
  },
  {
    read: (lane) => lane.waitMs?.max,
    say: (figure) => `longest wait ${figure} ms`,
    aim: "less",
    least: 1,
  },
];

const poolFigures: readonly Figure<PoolReport>[] = [
  {
    read: ({ workers }) => workers.workerSeconds,
    say: (figure) => `${figure} worker-seconds`,
    aim: "less",
    least: 0,
  },
  { read: ({ workers }) => workers.peak, say: (figure) => `peak ${figure}`, aim: "less", least: 0 },
  {
    read: (pool) => pool.reversals,
    say: (figure) => counted(figure, "reversal"),
    aim: "less",
    least: 0,
  },
];

/** What is better and worse in `second` than in `first`. Pools and lanes that only one has are left out. */
export function compare(first: Report, second: Report): Comparison {
  const better: string[] = [];
  const worse: string[] = [];
  const judge = <Of>(name: string, a: Of, b: Of, figures: readonly Figure<Of>[]): void => {
    for (const { read, say, aim, least } of figures) {
      const [was, is] = [read(a), read(b)];
      if (was === undefined || is === undefined) continue;
      const difference = Math.abs(is - was);
      if (difference <= Math.max(least, LEAST_SHARE * Math.max(was, is))) continue;
      const improved = aim === "less" ? is < was : is > was;
      (improved ? better : worse).push(
        `${name} ${say(short(is))} instead of ${short(was)}`,
      );
    }
  };
  for (const [name, pool] of Object.entries(first.pools)) {
    const other = second.pools[name];
    if (other === undefined) continue;
    for (const [lane, report] of Object.entries(pool.lanes)) {
      const otherLane = other.lanes[lane];
      if (otherLane !== undefined) judge(`${name}/${lane}`, report, otherLane, laneFigures);
    }
    judge(name, pool, other, poolFigures);
  }
  return { better, worse };
}

/** A comparison as one sentence on what is better and one on what is worse. */
export function sentencesOf({ better, worse }: Comparison): readonly string[] {
  if (better.length + worse.length === 0) return ["No difference that counts."];
  return [
    better.length === 0 ? "Nothing is better." : `Better: ${better.join("; ")}.`,
    worse.length === 0 ? "Nothing is worse." : `Worse: ${worse.join("; ")}.`,
  ];
}

function short(figure: number): string {
  return grouped(Number(figure.toFixed(1)));
}
