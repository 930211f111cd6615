// Real pools in virtual time, under some of the loads of `deno task bench needed`.

import assert from "node:assert/strict";
import { drawNeed } from "../../../bench/_need_draws.ts";
import { judgeLoads } from "../../../bench/_need_judge.ts";
import { needLoads } from "../../../bench/_need_loads.ts";
import { measureNeed, playNeed } from "../../../bench/_need_play.ts";

const SEED = 3;

Deno.test("ageScaler gives back what a spike took, beside a backlog without a target (C4)", async () => {
  for (const name of ["spike, 20 ms", "spike, 200 ms"]) {
    const load = needLoads[name]!;
    const urgent = load.lanes["urgent"]!;
    const batch = { ...load.lanes["batch"]!, backlog: 40_000 };
    const lanes = { urgent, batch };
    const calm = { ...urgent, arrivals: { kind: "poisson", perSec: 30 } as const };

    const { watch } = await playNeed({ ...load, lanes, durationMs: 215_000 }, SEED);
    const without = await playNeed(
      { ...load, lanes: { ...lanes, urgent: calm }, durationMs: 215_000 },
      SEED,
    );

    assert(watch.peakWorkers(30_000) >= 30, "the spike needs 30 and more");
    assert(watch.workersAt(45_000) <= 20, `${name}: ${watch.workersAt(45_000)} after 10 s`);
    const [mean, calmly] = [watch, without.watch].map((of) => of.meanWorkers(155_000, 215_000));
    assert(Math.abs(mean! - calmly!) <= 3, `${name}: ${mean} workers, ${calmly} without a spike`);
    assert(watch.changesPerMin(155_000, 215_000) <= 6);
  }
});

Deno.test("ageScaler keeps its count beside lane policies and with long jobs (C5, C10)", async () => {
  const names = [
    "steady, reserve 8",
    "steady, dedicated 2/8",
    "steady, four lanes",
    "long, 10 s, 3/s, 50 ms",
    "long, 60 s fixed, 0.5/s",
    "peers, 2, reserve 4",
  ];
  for (const name of names) {
    const figures = await measureNeed(needLoads[name]!, [SEED]);

    assert(figures["changes/min"]! <= 4, `${name}: ${figures["changes/min"]} changes a minute`);
    assert(figures["late"]! <= figures["of"]! / 1000, `${name}: ${figures["late"]} late`);
  }
});

Deno.test("ageScaler keeps its count, for any steady load below the maximum", async () => {
  for (const number of [1, 9, 16, 23, 25]) {
    const figures = await measureNeed(drawNeed(number), [SEED]);

    assert(figures["changes/min"]! <= 6, `draw ${number}: ${figures["changes/min"]}`);
  }
});

Deno.test("ageScaler has no late job where growth alone decides", async () => {
  const names = ["step 50 to 800/s and back", "slow x4 for 20 s, exponential", "40/s x 1 s"];
  for (const name of names) {
    const figures = await measureNeed(judgeLoads[`judge, ${name}`]!, [SEED]);

    assert.equal(figures["late"], 0, name);
  }
  const step = await measureNeed(judgeLoads["judge, step 50 to 800/s and back"]!, [SEED]);
  assert(step["peak"]! <= 24, `${step["peak"]} workers`);
});

Deno.test("ageScaler starts what waits within the time that a lane says (C8)", async () => {
  const withinSec = {
    "drain, rare, 1 min": 60,
    "drain, 10,000, 10 min": 600,
    "drain, rare, 0": 42,
  };
  for (const [name, seconds] of Object.entries(withinSec)) {
    const figures = await measureNeed({ ...needLoads[name]!, durationMs: 900_000 }, [SEED]);

    const longest = figures["longest wait s"]!;
    assert(longest <= seconds, `${name}: ${longest} s`);
  }
  const beside = await measureNeed(needLoads["drain, 10,000 beside urgent"]!, [SEED]);
  assert.equal(beside["late"], 0, "of the urgent jobs");
  assert(beside["longest wait s"]! <= 600);
});
