/**
 * What each clever part is worth: scenarios with all parts, and with one switched off.
 *
 * @module
 */

import { type Edit, measureEdited } from "./_ablated.ts";
import type { Bench, Figures, Target } from "./_bench.ts";

const KV = "stores/deno_kv";

/** Parts, and the edits that switch each off. */
const PARTS: Readonly<Record<string, readonly Edit[]>> = {
  "head cache": [{
    file: `${KV}/claim/ready.ts`,
    from: "if (!member.alone) headCache.forget();",
    to: "headCache.forget();",
  }],
  "contention back-off": [{
    file: `${KV}/claim/contention_backoff.ts`,
    from: "this.#skips = 1 + Math.floor(this.#random() * PARTS_EACH * peers);",
    to: "this.#skips = 0;",
  }],
  "commit sharing": [
    ...["add/enqueue_loop.ts", "end/finish_loop.ts"].map((file) => ({
      file: `${KV}/${file}`,
      from: "carry(participant: CommitParticipant): boolean {",
      to: "carry(participant: CommitParticipant): boolean {\n    if (participant) return false;",
    })),
    {
      file: `${KV}/add/enqueue_loop.ts`,
      from: "participant(): CommitParticipant | undefined {",
      to: "participant(): CommitParticipant | undefined {\n    if (this) return undefined;",
    },
  ],
  "looks instead of a watch": [{
    file: `${KV}/io/file_watch.ts`,
    from: "const BUSY_PER_SEC = 100;",
    to: "const BUSY_PER_SEC = Infinity;",
  }],
  "start pace": [{
    file: "src/runtime/start_rate.ts",
    from: "if (!jumps || isFull) atMs = Math.max(atMs, dueAtMs);",
    to: "if (!jumps && isFull && dueAtMs === Infinity) atMs = dueAtMs;",
  }],
  "permit re-division": [{
    file: "src/planning/permits.ts",
    from: "parts[index] = Math.min(wants[index]!, Math.min(fair, left));",
    to: "parts[index] = Math.min(Math.floor(cap / wants.length), Math.min(fair, left));",
  }],
};

interface Scenario {
  /** Case of another benchmark. */
  readonly of: string;
  readonly bench: string;
  /** What is compared. */
  readonly figure: string;
  readonly parts: readonly string[];
}

const ALONE = ["head cache", "commit sharing", "looks instead of a watch"];

const SCENARIOS: readonly Scenario[] = [
  ...["out c=10 sluice", "out c=100 sluice", "through c=100 sluice"].map((of) => (
    { bench: "durable", of, figure: "perSec", parts: ALONE }
  )),
  { bench: "durable", of: "in sluice", figure: "oneByOnePerSec", parts: ALONE.slice(1) },
  { bench: "claimants", of: "4 processes", figure: "perSec", parts: ["contention back-off"] },
  {
    bench: "cluster-rate",
    of: "4 on file at 100/s",
    figure: "urgentP95",
    parts: ["start pace"],
  },
  { bench: "uneven", of: "one of two", figure: "perSec", parts: ["permit re-division"] },
];

const ALL = "all parts";

/** Figures: what the scenario measures. */
export const ablation: Bench = {
  name: "ablation",
  about: "scenarios with all clever parts, and without one of them",
  rounds: 5,
  cases: SCENARIOS.flatMap((scenario) =>
    [ALL, ...scenario.parts].map((part) => caseOf(scenario, part))
  ),
  measure,
  targets: SCENARIOS.flatMap((scenario) =>
    scenario.parts.map((part): Target => ({
      about: `without / with ${part}, ${scenario.figure} of ${scenario.bench}, ${scenario.of}`,
      over: { of: caseOf(scenario, part), figure: scenario.figure },
      by: { of: caseOf(scenario, ALL), figure: scenario.figure },
      aim: "at most",
    }))
  ),
};

function caseOf({ bench, of }: Scenario, part: string): string {
  return `${bench}: ${of}; ${part === ALL ? part : `no ${part}`}`;
}

async function measure(name: string): Promise<Figures> {
  for (const scenario of SCENARIOS) {
    for (const part of [ALL, ...scenario.parts]) {
      if (caseOf(scenario, part) !== name) continue;
      const { bench, of, figure } = scenario;
      const figures = await measureEdited(bench, of, PARTS[part] ?? []);
      return { [figure]: figures[figure]! };
    }
  }
  throw new Error(`No case is named "${name}"`);
}
