/**
 * What each clever part is worth: scenarios with all parts, and with one switched off.
 *
 * @module
 */

import { type Edit, measureEdited } from "./_ablated.ts";
import type { Bench, Figures, Target } from "./_bench.ts";

const KV = "stores/deno_kv";
const PREFETCH = "src/runtime/prefetch.ts";

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
  "commit sharing": [{
    file: `${KV}/commit_loop.ts`,
    from: "const along = taken.filter((one) => isShared && one.isShared);",
    to: "const along = taken.filter((one) => isShared && one.isShared && !one);",
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
  "prefetch": [{
    file: "src/runtime/ahead.ts",
    from: "if (ms === 0 || (planned > 0 ? isFull : isFullAhead)) return false;",
    to: "if (ms >= 0) return false;",
  }],
  "band of prefetch": [
    { file: PREFETCH, from: "const LOW = 1.5;", to: "const LOW = 2;" },
    { file: PREFETCH, from: "const HIGH = 2.5;", to: "const HIGH = 2;" },
  ],
  "share of lanes in prefetch": [{
    file: PREFETCH,
    from: "return sumMs === 0 ? live",
    to: "return sumMs >= 0 ? live",
  }],
  "return of prefetched jobs": [{
    file: PREFETCH,
    from: "const HELD_MS = 250;",
    to: "const HELD_MS = 10_000;",
  }],
};

interface Scenario {
  /** Case of another benchmark. */
  readonly of: string;
  readonly bench: string;
  /** What is compared. */
  readonly figures: readonly string[];
  readonly parts: readonly string[];
}

const ALONE = ["head cache", "commit sharing", "prefetch"];
const FAR = [
  "prefetch",
  "band of prefetch",
  "share of lanes in prefetch",
  "return of prefetched jobs",
];

const SCENARIOS: readonly Scenario[] = [
  ...["out c=10 sluice", "out c=100 sluice", "through c=100 sluice"].map((of) => (
    { bench: "durable", of, figures: ["perSec", "cpuUs"], parts: ALONE }
  )),
  {
    bench: "claimants",
    of: "4 processes",
    figures: ["perSec", "cpuUs"],
    parts: ["contention back-off"],
  },
  {
    bench: "cluster-rate",
    of: "4 on file at 100/s",
    figures: ["urgentP95"],
    parts: ["start pace"],
  },
  { bench: "uneven", of: "one of two", figures: ["perSec"], parts: ["permit re-division"] },
  { bench: "kv-network", of: "1 at 30 ms", figures: ["busy", "reads", "writes"], parts: FAR },
  { bench: "kv-network", of: "4 at 30 ms", figures: ["busy", "reads", "writes"], parts: FAR },
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
    scenario.parts.flatMap((part) =>
      scenario.figures.map((figure): Target => ({
        about: `without / with ${part}, ${figure} of ${scenario.bench}, ${scenario.of}`,
        over: { of: caseOf(scenario, part), figure },
        by: { of: caseOf(scenario, ALL), figure },
        aim: "at most",
      }))
    )
  ),
};

function caseOf({ bench, of }: Scenario, part: string): string {
  return `${bench}: ${of}; ${part === ALL ? part : `no ${part}`}`;
}

async function measure(name: string): Promise<Figures> {
  for (const scenario of SCENARIOS) {
    for (const part of [ALL, ...scenario.parts]) {
      if (caseOf(scenario, part) !== name) continue;
      const { bench, of, figures } = scenario;
      const measured = await measureEdited(bench, of, PARTS[part] ?? []);
      return Object.fromEntries(figures.map((figure) => [figure, measured[figure]!]));
    }
  }
  throw new Error(`No case is named "${name}"`);
}
