/**
 * What each kind of scenario is judged by, and the table of that.
 *
 * @module
 */

import { type Draw, type Kind, KINDS, SPAN_MS } from "./draw.ts";
import { play, type Run, type Way } from "./play.ts";

/** What one scenario came to: means over its seeds. */
export interface Outcome {
  readonly draw: Draw;
  /** By name. */
  readonly figures: Readonly<Record<string, number>>;
}

/** What must hold. */
interface Criterion {
  readonly figure: string;
  /** What it says of all scenarios of a kind. */
  readonly of: "mean" | "least" | "most" | "share";
  /** Bound; for a share, of the figure of one scenario. */
  readonly bound: number;
  readonly aim: "at least" | "at most";
  /** Least share of scenarios within the bound. */
  readonly share?: number;
}

const at =
  (aim: Criterion["aim"]) =>
  (figure: string, of: Criterion["of"], bound: number, share?: number): Criterion => ({
    ...{ figure, of, bound, aim },
    ...(share === undefined ? {} : { share }),
  });
const atMost = at("at most");
const atLeast = at("at least");

/** Names of figures. */
const LOST = "% fewer done than off";
const CHANGES = "changes a minute more than off";
const CEILING = "% of the ceiling after a minute";
const WORKERS = "workers / slots after a minute";

const CRITERIA: Readonly<Record<Kind, readonly Criterion[]>> = {
  healthy: [atMost(LOST, "mean", 0.2), atMost(LOST, "most", 2), atMost(CHANGES, "mean", 2)],
  knee: [atMost(WORKERS, "share", 1.3, 0.9), atLeast(CEILING, "share", 90, 0.85)],
  below: [atLeast("% of the load done", "least", 85)],
  slow: [atMost("% more late than off", "most", 0.4)],
  slots: [atLeast("% done from 10 to 30 s after", "least", 90)],
  told: [atLeast("% of the ceiling", "least", 93)],
  store: [atMost(LOST, "most", 2)],
};

/** Plays a scenario under each seed, with and without the cap, and compares. */
export async function outcomeOf(draw: Draw, seeds: number, spanMs = SPAN_MS): Promise<Outcome> {
  const all: Record<string, number>[] = [];
  for (let seed = 1; seed <= seeds; seed++) {
    const run = (way: Way): Promise<Run> => play(draw, way, 1000 + seed, spanMs);
    all.push(await figuresOf(draw, run, spanMs));
  }
  const names = Object.keys(all[0] ?? {});
  const figures = Object.fromEntries(names.map((name) => [name, mean(all.map((of) => of[name]!))]));
  return { draw, figures };
}

async function figuresOf(
  draw: Draw,
  run: (way: Way) => Promise<Run>,
  spanMs: number,
): Promise<Record<string, number>> {
  const { kind, slots = NaN, peers, size, ceilingPerSec, fromMs } = draw;
  const on = await run(kind === "told" ? "listens" : "on");
  const laterMs = fromMs + Math.min(60_000, (spanMs - fromMs) / 2);
  const share = (fromMs: number): number => 100 * on.perSec(fromMs, spanMs) / ceilingPerSec;
  const perSec = phaseOf(draw);
  switch (kind) {
    case "healthy":
    case "store": {
      const off = await run("off");
      return {
        [LOST]: 100 * (1 - on.done / off.done),
        [CHANGES]: on.changes - off.changes,
        "% more late than off": 100 * (on.late - off.late),
      };
    }
    case "knee":
      return {
        [CEILING]: share(laterMs),
        [WORKERS]: on.workers(laterMs, spanMs) / Math.max(slots, peers * size.min),
        "% of the ceiling": share(fromMs),
        "changes a minute": on.changes,
      };
    case "told":
      return {
        "% of the ceiling": share(fromMs + 10_000),
        "workers / slots": on.workers(fromMs + 10_000, spanMs) / slots,
        "changes a minute": on.changes,
      };
    case "below":
      return { "% of the load done": 100 * on.perSec(0, spanMs) / perSec };
    case "slow":
      return { "% more late than off": 100 * (on.late - (await run("off")).late) };
    case "slots": {
      const best = Math.min(perSec, ceilingPerSec);
      return {
        "% done from 10 to 30 s after": 100 * on.perSec(190_000, 210_000) / best,
        "% done in the first 10 s": 100 * on.perSec(180_000, 190_000) / best,
      };
    }
  }
}

/** Jobs a second that arrive in the phase that is judged. */
function phaseOf({ lanes }: Draw): number {
  return Object.values(lanes).reduce((sum, { arrivals }) => {
    if (arrivals?.kind !== "poisson") return sum;
    return sum + ("phases" in arrivals ? arrivals.phases.at(-1)!.perSec : arrivals.perSec);
  }, 0);
}

/** One scenario in a line. */
export function lineOf({ draw, figures }: Outcome): string {
  const shown = Object.entries(figures).map(([name, value]) => `${value.toFixed(2)} ${name}`);
  return `${draw.kind}: ${draw.text}\n    ${shown.join("; ")}`;
}

/** What is held against a criterion, and whether it holds. */
export interface Verdict {
  readonly holds: boolean;
  readonly text: string;
}

/** What scenarios say of each criterion of their kind. */
export function verdictsOf(outcomes: readonly Outcome[]): readonly Verdict[] {
  return KINDS.flatMap((kind) => {
    const own = outcomes.filter(({ draw }) => draw.kind === kind);
    if (own.length === 0) return [];
    return CRITERIA[kind].map((criterion) => verdictOf(kind, criterion, own));
  });
}

function verdictOf(kind: Kind, criterion: Criterion, outcomes: readonly Outcome[]): Verdict {
  const { figure, of: what, bound, aim, share = 1 } = criterion;
  const values = outcomes.map(({ figures }) => figures[figure]!).sort((a, b) => a - b);
  const isWithin = (value: number): boolean => aim === "at most" ? value <= bound : value >= bound;
  const within = values.filter(isWithin).length;
  const quantile = (part: number): string =>
    values[Math.min(values.length - 1, Math.floor(part * values.length))]!.toFixed(2);
  const average = mean(values);
  const holds = what === "mean" ? isWithin(average) : within >= share * values.length;
  const wanted = what === "mean"
    ? `on average ${aim} ${bound}`
    : `${aim} ${bound} in ${100 * share} %`;
  return {
    holds,
    text: `| ${kind} | ${figure} | ${wanted} | ${within} of ${values.length} | ` +
      `${average.toFixed(2)} | ${quantile(0)} | ${quantile(0.1)} | ${quantile(0.5)} | ` +
      `${quantile(0.9)} | ${quantile(1)} | ${holds ? "yes" : "**no**"} |`,
  };
}

/** All of it as a table. */
export function tableOf(verdicts: readonly Verdict[]): string {
  return [
    "| kind | figure | wanted | within | mean | least | p10 | median | p90 | most | holds |",
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ...verdicts.map(({ text }) => text),
  ].join("\n");
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
