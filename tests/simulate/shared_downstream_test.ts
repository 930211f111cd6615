import assert from "node:assert/strict";
import { simulate } from "../../src/simulate/mod.ts";
import type { PoolInput } from "../../src/config/input.ts";

type Timeline = readonly (readonly [atMs: number, workers: number])[];

/** Most workers of all pools together, at any time. */
function mostOf(timelines: readonly Timeline[]): number {
  const count = (timeline: Timeline, atMs: number): number =>
    timeline.findLast(([fromMs]) => fromMs <= atMs)?.[1] ?? 0;
  const times = timelines.flat().map(([atMs]) => atMs);
  return Math.max(
    ...times.map((atMs) => timelines.reduce((sum, timeline) => sum + count(timeline, atMs), 0)),
  );
}

for (
  const [processes, faults] of [[1, []], [2, []], [3, [{
    kind: "kill",
    atMs: 8000,
    forMs: 4000,
  }]]] as const
) {
  Deno.test(`simulate() plays pools of ${processes} processes that share a downstream, ${faults.length} of them killed`, async () => {
    const pool = (max: number): PoolInput => ({
      handler: "./no/such.ts",
      size: { min: 1, max },
      lanes: [{ name: "all" }],
      uses: { db: 1 },
      admission: "admit-all",
      leaseMs: 3000,
    });
    const load = {
      lanes: {
        all: {
          arrivals: { kind: "poisson", perSec: 200 },
          serviceMs: { kind: "fixed", ms: 40 },
        },
      },
    } as const;
    const { pools } = await simulate(
      { downstreams: { db: { connections: 10 } }, pools: { mails: pool(20), reports: pool(20) } },
      { durationMs: 20_000, peers: processes, faults, pools: { mails: load, reports: load } },
    );
    const { mails, reports } = pools;

    assert.ok(mostOf([mails!.workers.timeline, reports!.workers.timeline]) <= 10);
    for (const { lanes, decisions } of [mails!, reports!]) {
      assert.ok(lanes["all"]!.done >= 1900, `${lanes["all"]!.done}`); // 125/s each, 2,500 with no kill
      assert.ok(decisions.some(({ boundBy }) => boundBy === "downstream:db"));
    }
  });
}
