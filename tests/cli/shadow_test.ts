import assert from "node:assert/strict";
import { join } from "node:path";
import type { ShadowReport } from "../../src/contract/decision.ts";
import { systemIo } from "../../src/cli/io.ts";
import { showShadow } from "../../src/cli/shadow.ts";
import { served } from "./_served.ts";
import { sluice, temporaryFolder } from "./_io.ts";

const REPORT: ShadowReport = {
  controller: "fixed",
  ticks: 200,
  differed: 30,
  share: 0.15,
  meanDifference: 0.25,
  leastDifference: -2,
  mostDifference: 3,
  skipped: 0,
  failed: 0,
  workers: 4,
  liveWorkers: 1,
  sentence: "fixed wants 4 (4 workers)",
  liveSentence: "age-scaler wants 1 (hold 1)",
};

function shown(parts: Partial<ShadowReport>): readonly string[] {
  let out = "";
  const io = { ...systemIo(), color: false, out: (text: string) => void (out += text) };
  showShadow(io, { ...REPORT, ...parts });
  return out.trimEnd().split("\n");
}

Deno.test("showShadow() says how often and by how much it differs, and what both want", () => {
  assert.deepEqual(shown({}), [
    "Shadow fixed differs on 30 of 200 ticks (15 %): +0.25 workers on average, -2 to +3",
    "  fixed wants 4 (4 workers)",
    "  age-scaler wants 1 (hold 1)",
  ]);
  assert.deepEqual(shown({ ticks: 0, failed: 1, skipped: 7, error: "no idea" }), [
    "Shadow fixed has not been compared yet",
    "  It fails (1 tick so far): no idea",
    "  It is slow: 7 ticks went by without it",
  ]);
});

Deno.test("explain shows the shadow of a pool, and GET /api/pools/:pool has it", async () => {
  await using remote = await served();
  await remote.system.clock.advance(200);

  const none = await remote.run(["explain", "mail"]);
  const some = await remote.run(["explain", "typed"]);
  const { shadow } = await (await remote.system.app.request("/api/pools/typed")).json();

  assert.doesNotMatch(none.out, /Shadow/);
  assert.match(
    some.out,
    /\nShadow littles-law differs on 0 of \d+ ticks? \(0 %\): 0 workers on average, 0 to 0\n/,
  );
  assert.match(some.out, /\n {2}littles-law wants 0 \(.*\)\n {2}age-scaler wants 1 \(.*\)\n$/);
  assert.deepEqual([shadow.controller, shadow.workers, shadow.liveWorkers], ["littles-law", 1, 1]);
});

Deno.test("simulate shows the shadow of a pool", async () => {
  await using folder = await temporaryFolder();
  const [config, scenario] = [join(folder.path, "pools.json"), join(folder.path, "load.json")];
  await Deno.writeTextFile(
    config,
    JSON.stringify({
      pools: {
        p: {
          handler: "sleep",
          size: { min: 1, max: 8 },
          lanes: [{ name: "only" }],
          shadow: { controller: { use: "fixed", with: { workers: 4 } } },
        },
      },
    }),
  );
  await Deno.writeTextFile(
    scenario,
    JSON.stringify({
      durationMs: 2000,
      pools: {
        p: {
          lanes: {
            only: {
              arrivals: { kind: "even", perSec: 20 },
              serviceMs: { kind: "fixed", ms: 10 },
            },
          },
        },
      },
    }),
  );

  const { out } = await sluice(["simulate", config, scenario]);
  const json = await sluice(["simulate", config, scenario, "--json"]);

  assert.match(out, /^Shadow fixed differs on \d+ of \d+ ticks \(\d+(\.\d)? %\): \+\d/m);
  assert.match(out, /^ {2}fixed wants 4 \(/m);
  const [shadow] = JSON.parse(json.out).pools.p.shadow;
  assert.deepEqual([shadow.controller, shadow.workers, shadow.liveWorkers], ["fixed", 4, 1]);
});
