/**
 * Searches for a config that keeps a goal: single changes first, then the useful ones together. What
 * is found is judged on seeds that the search did not see.
 *
 * @module
 */

import type { Report } from "../report.ts";
import { type Edit, editsKey, withEdit } from "./edit.ts";
import { type Clause, type Miss, missesOf, tightened } from "./goal.ts";
import type { Bounding, Judged, TuneReport } from "./report.ts";

/** Seeds of one candidate in the search: the first screens, all of them count. */
const SEARCH_SEEDS = 3;
/** Seeds that judge. A goal kept on each of five is missed in at most half of the runs by a chance of 3 %. */
const JUDGE_SEEDS = 5;
/** How far the seeds that judge are from those of the search. */
const FAR = 1000;
/** The share of what is asked that the search aims at: other seeds come out worse. */
const MARGIN = 0.8;
/** Candidates that go on to the next round. */
const BEAM = 4;
/** Candidates of a round that are played on all seeds. */
const PROMISING = 8;
/** Candidates that are judged. */
const JUDGED = 8;
/** Changes that are made together at most: more are hard to understand. */
const MOST_EDITS = 4;
/** Differences of a figure below this share are chance. */
const LEAST_GAIN = 0.01;

/** What a search works with. */
export interface SearchOptions {
  /** The config as given. */
  readonly config: unknown;
  /** What is to be reached. */
  readonly goal: readonly Clause[];
  /** First seed. */
  readonly seed: number;
  /** Most simulations. */
  readonly runs: number;
  /** Plays a config with changes. `undefined`: they do not fit it. */
  play(edits: readonly Edit[], seed: number): Promise<Report | undefined>;
  /** What could be changed next of a config with changes. */
  moves(edits: readonly Edit[]): Promise<readonly Edit[]>;
  /** Limits of a config with changes, each as a change that takes it away. */
  limits(edits: readonly Edit[]): Promise<readonly Edit[]>;
  /** True: it ends as soon as it can. */
  stopped(): boolean;
  /** Told how far it is, 0 to 1. */
  progress(share: number): void;
}

/** A candidate with what it came to on the seeds played so far. */
interface Tried extends Judged {
  readonly seeds: number;
  /** The sum of what is missed, each at most as much as a hundred times the bound counts. */
  readonly missed: number;
}

/** Searches. */
export async function search(options: SearchOptions): Promise<TuneReport> {
  return await new Search(options).run();
}

class Search {
  readonly #options: SearchOptions;
  readonly #tried = new Map<string, Tried>();
  readonly #searched: readonly number[];
  readonly #judges: readonly number[];
  readonly #aim: readonly Clause[];
  #runs = 0;

  constructor(options: SearchOptions) {
    this.#options = options;
    this.#aim = tightened(options.goal, MARGIN);
    this.#searched = numbered(SEARCH_SEEDS, options.seed);
    this.#judges = numbered(JUDGE_SEEDS, options.seed + FAR);
  }

  async run(): Promise<TuneReport> {
    const base = await this.#try([], this.#searched);
    if (base === undefined) throw new Error("The config that was resolved can be played"); // resolved before
    await this.#explore(base);
    const judgedBase = await this.#judge(base);
    const judged = [judgedBase, ...await this.#judgeAll([...this.#tried.values()])];
    const kept = judged.filter(({ misses }) => misses.length === 0);
    const nearest = kept.length > 0 ? null : [...judged].sort(better)[0] ?? null;
    return {
      base: told(judgedBase),
      frontier: frontierOf(kept).map(told),
      smallest: smallestOf(kept),
      nearest: nearest && told(nearest),
      bounds: nearest === null ? [] : await this.#boundsOf(nearest),
      runs: this.#runs,
      searched: this.#searched,
      judgedBy: this.#judges,
      ...(this.#options.stopped() && { interrupted: true as const }),
    };
  }

  /** Rounds of changes, until none helps or the runs are used up. */
  async #explore(base: Tried): Promise<void> {
    let beam: readonly Tried[] = [base];
    let useful: readonly Edit[] | undefined;
    for (let depth = 1; depth <= MOST_EDITS; depth++) {
      const parents = new Map<string, Tried>();
      const round: Tried[] = [];
      for (const parent of beam) {
        const moves = await this.#movesOf(parent, useful);
        for (const move of moves) {
          if (this.#isOver()) return;
          const edits = withEdit(this.#options.config, parent.edits, move);
          if (edits.length === 0 || this.#tried.has(editsKey(edits))) continue;
          const tried = await this.#try(edits, this.#searched.slice(0, 1));
          if (tried === undefined) continue;
          round.push(tried);
          parents.set(editsKey(edits), parent);
        }
      }
      const whole: Tried[] = [];
      for (const one of promising(round)) {
        const tried = this.#isOver() ? undefined : await this.#try(one.edits, this.#searched);
        if (tried !== undefined) whole.push(tried);
      }
      const helped = whole.filter((one) => isUseful(one, parents.get(editsKey(one.edits)) ?? base));
      if (helped.length === 0) return;
      useful ??= round.filter((one) => isUseful(one, base)).flatMap(({ edits }) => edits);
      beam = helped.sort(better).slice(0, BEAM);
    }
  }

  /** What is tried next: all there is at first, then what helped alone, and more of the same. */
  async #movesOf(
    { edits }: Tried,
    useful: readonly Edit[] | undefined,
  ): Promise<readonly Edit[]> {
    const moves = await this.#options.moves(edits);
    if (useful === undefined) return moves;
    const changed = new Set(edits.map(({ path }) => path.join()));
    return [...moves.filter(({ path }) => changed.has(path.join())), ...useful];
  }

  /** True once the runs are used up but for those that judge. */
  #isOver(): boolean {
    const { runs, stopped } = this.#options;
    return stopped() || this.#runs >= runs - (JUDGED + 1) * JUDGE_SEEDS;
  }

  async #try(edits: readonly Edit[], seeds: readonly number[]): Promise<Tried | undefined> {
    const tried = await this.#play(edits, seeds, this.#aim);
    if (tried !== undefined) this.#tried.set(editsKey(edits), tried);
    return tried;
  }

  async #play(
    edits: readonly Edit[],
    seeds: readonly number[],
    goal: readonly Clause[],
  ): Promise<Tried | undefined> {
    const reports: Report[] = [];
    for (const seed of seeds) {
      const report = await this.#options.play(edits, seed);
      if (report === undefined) return undefined;
      this.#runs++;
      this.#options.progress(Math.min(1, this.#runs / this.#options.runs));
      reports.push(report);
    }
    return summed(edits, reports, goal);
  }

  /** What a candidate comes to on seeds that the search did not see. */
  async #judge({ edits }: Tried): Promise<Tried> {
    const judged = await this.#play(edits, this.#judges, this.#options.goal);
    if (judged === undefined) throw new Error("What was played once can be played again");
    return judged;
  }

  async #judgeAll(tried: readonly Tried[]): Promise<readonly Tried[]> {
    const whole = tried.filter(({ seeds, edits }) => seeds === SEARCH_SEEDS && edits.length > 0);
    const kept = whole.filter(({ missed }) => missed === 0);
    const single = kept.filter(({ edits }) => edits.length === 1).sort(better).slice(0, 2);
    const calm = kept.toSorted((a, b) => a.changesPerMin - b.changesPerMin).slice(0, 2);
    const chosen = new Set([...single, ...calm, ...whole.sort(better)]);
    const judged: Tried[] = [];
    for (const one of [...chosen].slice(0, JUDGED)) {
      if (this.#options.stopped()) break;
      judged.push(await this.#judge(one));
    }
    return judged;
  }

  /** The limits of a candidate without which it would miss less. */
  async #boundsOf(nearest: Tried): Promise<readonly Bounding[]> {
    const found: { readonly missed: number; readonly bounding: Bounding }[] = [];
    for (const limit of await this.#options.limits(nearest.edits)) {
      if (this.#options.stopped()) break;
      const edits = withEdit(this.#options.config, nearest.edits, limit);
      const without = await this.#play(edits, this.#searched, this.#options.goal);
      if (without === undefined || without.missed > nearest.missed * 0.9) continue;
      found.push({ missed: without.missed, bounding: { limit, misses: without.misses } });
    }
    return found.sort((a, b) => a.missed - b.missed).map(({ bounding }) => bounding);
  }
}

function numbered(count: number, first: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => first + index);
}

function summed(
  edits: readonly Edit[],
  reports: readonly Report[],
  goal: readonly Clause[],
): Tried {
  const worst = new Map<Clause, Miss>();
  for (const miss of reports.flatMap((report) => missesOf(goal, report))) {
    if (miss.by > (worst.get(miss.clause)?.by ?? 0)) worst.set(miss.clause, miss);
  }
  const misses = [...worst.values()];
  const pools = new Set(goal.map(({ pool }) => pool));
  const mean = (of: (report: Report, pool: string) => number): number =>
    reports.reduce(
      (sum, report) => [...pools].reduce((total, pool) => total + of(report, pool), sum),
      0,
    ) / reports.length;
  return {
    edits,
    misses,
    missed: misses.reduce((sum, { by }) => sum + Math.log1p(Math.min(100, by)), 0),
    workerSeconds: mean((report, pool) => report.pools[pool]?.workers.workerSeconds ?? 0),
    changesPerMin: mean((report, pool) =>
      (report.pools[pool]?.scaleEvents ?? 0) / report.durationMs * 60_000
    ),
    seeds: reports.length,
  };
}

/** What misses less comes first; of what misses nothing, what takes fewer workers. */
function better(a: Tried, b: Tried): number {
  return a.missed - b.missed || a.workerSeconds - b.workerSeconds ||
    a.edits.length - b.edits.length;
}

/** Candidates worth all seeds: the best ones, the calmest, and those of single changes that keep the goal. */
function promising(round: readonly Tried[]): readonly Tried[] {
  const best = round.toSorted(better).slice(0, PROMISING - 2);
  const calm = round.filter(({ missed }) => missed === 0)
    .sort((a, b) => a.changesPerMin - b.changesPerMin).slice(0, 2);
  return [...new Set([...best, ...calm])];
}

function isUseful(one: Tried, than: Tried): boolean {
  if (than.missed > 0) return one.missed < than.missed * (1 - LEAST_GAIN);
  return one.missed === 0 &&
    (one.workerSeconds < than.workerSeconds * (1 - LEAST_GAIN) ||
      one.changesPerMin < than.changesPerMin * (1 - 10 * LEAST_GAIN));
}

/** Those that no other betters in one figure without being worse in the other. */
function frontierOf(kept: readonly Tried[]): readonly Tried[] {
  const inOrder = kept.toSorted((a, b) =>
    a.workerSeconds - b.workerSeconds || a.changesPerMin - b.changesPerMin
  );
  let fewest = Infinity;
  return inOrder.filter(({ changesPerMin }) => {
    const betters = changesPerMin < fewest;
    fewest = Math.min(fewest, changesPerMin);
    return betters;
  });
}

function smallestOf(kept: readonly Tried[]): Judged | null {
  const [first] = kept.toSorted((a, b) => a.edits.length - b.edits.length || better(a, b));
  return first === undefined ? null : told(first);
}

function told({ edits, misses, workerSeconds, changesPerMin }: Tried): Judged {
  return { edits, misses, workerSeconds, changesPerMin };
}
