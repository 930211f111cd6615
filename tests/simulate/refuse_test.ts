import assert from "node:assert/strict";
import { simulate } from "../../src/simulate/mod.ts";

/** Attempts that the receiver refused, of 20 jobs a second, when it refuses all for a minute. */
async function refusals(
  cooldown: false | Record<never, never>,
  retryAfterMs?: number,
): Promise<number> {
  const report = await simulate({
    pools: {
      p: {
        handler: "sleep",
        size: { min: 1, max: 8 },
        lanes: [{ name: "only" }],
        admission: "admit-all",
        cooldown,
      },
    },
  }, {
    durationMs: 120_000,
    faults: [{ kind: "refuse", atMs: 10_000, forMs: 60_000, retryAfterMs }],
    pools: {
      p: {
        lanes: {
          only: {
            arrivals: { kind: "poisson", perSec: 20 },
            serviceMs: { kind: "exponential", ms: 20 },
          },
        },
      },
    },
  });
  const { done, arrived, started } = report.pools["p"]!.lanes["only"]!;
  assert.ok(done >= arrived * 0.99, `${done} of ${arrived}`);
  return started - done;
}

for (const retryAfterMs of [undefined, 20_000]) {
  Deno.test(`simulate() plays a receiver that says not now, Retry-After ${retryAfterMs}`, async () => {
    const watched = await refusals({}, retryAfterMs);
    const ignored = await refusals(false, retryAfterMs);

    assert.ok(watched <= 20, `${watched} refusals`);
    assert.ok(ignored >= 1000, `${ignored} refusals`);
  });
}
