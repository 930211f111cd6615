import assert from "node:assert/strict";
import { ConfigError } from "../../src/contract/errors.ts";
import { simulate } from "../../src/simulate/mod.ts";
import type { ScenarioInput } from "../../src/simulate/scenario.ts";

const CONFIG = {
  pools: { p: { handler: "sleep", size: { min: 1, max: 4 }, lanes: [{ name: "a" }] } },
};

function scenario(parts: object): ScenarioInput {
  const lane = { serviceMs: { kind: "fixed", ms: 1 } };
  return { durationMs: 1e10, pools: { p: { lanes: { a: lane } } }, ...parts } as ScenarioInput; // a test may ask for what is refused
}

Deno.test("simulate() hears a signal in the midst of a burst that follows a long rest", async () => {
  const interrupt = new AbortController();
  const phases = [{ untilMs: 1e9, perSec: 0 }, { untilMs: 1e10, perSec: 1000 }];
  const lane = { arrivals: { kind: "even", phases }, serviceMs: { kind: "fixed", ms: 1 } };

  const { interrupted, pools } = await simulate(
    CONFIG,
    scenario({ pools: { p: { lanes: { a: lane } } } }),
    {
      signal: interrupt.signal,
      onProgress: (share) => share > 0.1 && interrupt.abort(), // the rest is a tenth of it
    },
  );

  assert.equal(interrupted, true);
  assert.ok((pools["p"]?.lanes["a"]?.arrived ?? 0) > 0);
});

Deno.test("simulate() with nothing to do ends at once, a year long", async () => {
  const { interrupted } = await simulate(CONFIG, scenario({ durationMs: 366 * 86_400_000 }));

  assert.equal(interrupted ?? false, false);
});

Deno.test("simulate() refuses times that clocks have no milliseconds for, and hosts of peers", async () => {
  const year = "a number <= 31622400000, a year but received 1e+300";
  const playing = simulate(CONFIG, scenario({ durationMs: 1e300, graceMs: 1e300, peers: 1e9 }));

  await assert.rejects(playing, (thrown) => {
    assert.ok(thrown instanceof ConfigError);
    assert.deepEqual(thrown.faults.map(({ pointer, message }) => `${pointer}: ${message}`), [
      `/durationMs: Expected ${year}`,
      `/graceMs: Expected ${year}`,
      "/peers: Expected a whole number <= 1000 but received 1000000000",
    ]);
    return true;
  });
});
