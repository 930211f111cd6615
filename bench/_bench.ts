/**
 * What a benchmark is, and how its figures become lines to read.
 *
 * @module
 */

/** What one process measured, by name. */
export type Figures = Readonly<Record<string, number>>;

/** Figures by case: one entry a round. */
export type Results = ReadonlyMap<string, readonly Figures[]>;

/** A figure of a case. */
export interface Place {
  /** Name of the case. */
  readonly of: string;
  /** Name of the figure. */
  readonly figure: string;
}

/** A ratio that is aimed for. */
export interface Target {
  /** What is compared, with its number in the list of targets. */
  readonly about: string;
  /** What is divided. */
  readonly over: Place;
  /** By what: a figure of the same round, or a number. */
  readonly by: Place | number;
  /** Which side is good. */
  readonly aim: "at least" | "at most";
  /** The bound, in the unit of the ratio. Omitted: none is set. */
  readonly bound?: number;
}

/** One benchmark: its cases run in turn, each in a process of its own. */
export interface Bench {
  /** What to call it by on the command line. */
  readonly name: string;
  /** What it measures, one line. */
  readonly about: string;
  /** How often all cases are run. */
  readonly rounds: number;
  /** The cases, in the order in which they are run. */
  readonly cases: readonly string[];
  /** Flags of V8 for its processes. */
  readonly v8Flags?: string;
  /** Measures one case. Runs in the case's process. */
  measure(of: string): Promise<Figures>;
  /** Ratios to print. */
  readonly targets: readonly Target[];
}

/** Why a case cannot be measured on this machine. */
export class LeftOut extends Error {
  override readonly name = "LeftOut";
}

/** Middle of the values; not empty. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Lines that show every figure of every case, then the ratios. */
export function report(bench: Bench, results: Results): string[] {
  const width = Math.max(...bench.cases.map((name) => name.length));
  const lines = [`## ${bench.name}: ${bench.about}`, ""];
  for (const [name, rounds] of results) {
    const figures = Object.keys(rounds[0] ?? {}).map((figure) => {
      return `${figure} ${spread(rounds.map((round) => round[figure]!))}`;
    });
    lines.push(`${name.padEnd(width)}  ${figures.join("  ")}`);
  }
  lines.push("");
  for (const target of bench.targets) {
    const { about, aim, bound, over, by } = target;
    if (!results.has(over.of) || typeof by !== "number" && !results.has(by.of)) continue;
    const wanted = bound === undefined ? "" : `, aimed for: ${aim} ${bound}`;
    lines.push(`${about}: ${spread(ratios(target, results))}${wanted}`);
  }
  return [...lines, ""];
}

/** The ratio within each round. */
export function ratios({ over, by }: Target, results: Results): number[] {
  const rounds = results.get(over.of) ?? [];
  return rounds.map((round, index) => {
    const divisor = typeof by === "number" ? by : results.get(by.of)?.[index]?.[by.figure];
    return round[over.figure]! / divisor!; // a target names figures that its bench measures
  });
}

function spread(values: readonly number[]): string {
  const low = Math.min(...values);
  const high = Math.max(...values);
  return low === high ? short(low) : `${short(median(values))} (${short(low)} to ${short(high)})`;
}

function short(value: number): string {
  if (Math.abs(value) >= 1e6) return `${short(value / 1e6)} M`;
  if (Math.abs(value) >= 10_000) return `${short(value / 1000)} k`;
  return `${Number(value.toPrecision(3))}`;
}
