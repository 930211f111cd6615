/**
 * Pages over the pools in `sluice top`, each by its key.
 *
 * @module
 */

import type { RemoteOptions } from "./client.ts";
import { decisionLines } from "./explain.ts";
import { fold, wrap } from "./fold.ts";
import type { Io } from "./io.ts";
import { jobColumns } from "./jobs.ts";
import { decisionsOf, jobsOf } from "./top_reading.ts";
import { textOf, type TopLine } from "./top_view.ts";

/** What a page is read with. */
export interface PageReading {
  readonly io: Io;
  readonly remote: RemoteOptions;
  /** Name of the pool that it is about. */
  readonly pool: string;
  /** How wide it is. */
  readonly columns: number;
  readonly signal: AbortSignal;
}

/** A page over the pools. */
export interface TopPage {
  /** The key that opens it. */
  readonly key: string;
  /** Its title. */
  title(pool: string): string;
  /** Reads what it shows. */
  read(reading: PageReading): Promise<readonly TopLine[]>;
}

const HELP: readonly (readonly [keys: string, what: string])[] = [
  ["arrows, page up, page down", "choose a pool, or scroll"],
  ["p", "pause the pool, or resume it"],
  ["o", "override its bounds: max 4 for 10m; clear"],
  ["j", "its jobs"],
  ["d", "its dead jobs"],
  ["e", "explain: why it has its size"],
  ["/", "filter pools by name; escape shows all"],
  ["escape, q", "back to the pools"],
  ["q, ctrl-C", "quit"],
];

/** All pages. */
export const TOP_PAGES: readonly TopPage[] = [
  { key: "j", title: (pool) => `Jobs of ${pool}`, read: (reading) => readJobs(reading, undefined) },
  {
    key: "d",
    title: (pool) => `Dead jobs of ${pool}, newest first`,
    read: (reading) => readJobs(reading, "dead"),
  },
  { key: "e", title: (pool) => `Why ${pool} has its size`, read: readDecisions },
  { key: "?", title: () => "Keys", read: () => Promise.resolve(helpLines()) },
];

function helpLines(): readonly TopLine[] {
  const most = Math.max(...HELP.map(([keys]) => keys.length));
  return [
    ...HELP.map((
      [keys, what],
    ): TopLine => [{ text: keys.padEnd(most), style: "bold" }, `  ${what}`]),
    [],
    ["Pools in trouble come first. Bars are the longest wait of a lane as a share of"],
    ["its target, one a look: ▁▂▃▄ below it, ▅ at it, ▆▇█ at 2, 4 and 8 times of it."],
  ];
}

async function readJobs(
  { io, remote, pool, columns, signal }: PageReading,
  state: "dead" | undefined,
): Promise<readonly TopLine[]> {
  const { jobs } = await jobsOf(io, remote, pool, state, signal);
  if (jobs.length === 0) return [[state === "dead" ? "No job is dead" : "No jobs"]];
  const { head, rows } = fold(jobColumns(state), jobs, columns);
  return [[{ text: head, style: "bold" }], ...rows];
}

async function readDecisions(
  { io, remote, pool, columns, signal }: PageReading,
): Promise<readonly TopLine[]> {
  const decisions = await decisionsOf(io, remote, pool, undefined, signal);
  if (decisions.length === 0) return [["No decision has been made yet."]];
  return decisions.flatMap(decisionLines).flatMap((line) => {
    const text = textOf(line);
    return text.length <= columns ? [line] : wrap(text, columns, "      ").map((part) => [part]);
  });
}
