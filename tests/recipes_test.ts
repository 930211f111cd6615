/**
 * Holds each config of docs/recipes.md to what the page says of it, in the simulator.
 *
 * @module
 */

import assert from "node:assert/strict";
import { parse } from "jsonc-parser";
import type { ConfigInput } from "../src/config/input.ts";
import { type Report, simulate } from "../src/simulate/mod.ts";
import type { ScenarioInput } from "../src/simulate/scenario.ts";
import { blocksIn, section } from "./_readme.ts";
import { withBench } from "./cases/_bench.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The config below a heading. */
function configOf(heading: string): ConfigInput {
  const block = blocksIn(section("docs/recipes.md", heading)).find(({ info }) => info === "jsonc");
  return parse(block?.text ?? "", [], { allowTrailingComma: true });
}

/** Plays a load on the only pool of a recipe. */
async function played(
  heading: string,
  lanes: ScenarioInput["pools"][string]["lanes"],
  rest: Omit<ScenarioInput, "pools">,
): Promise<Report["pools"][string]> {
  const config = configOf(heading);
  const [name = ""] = Object.keys(config.pools);
  const report = await simulate(config, { ...rest, pools: { [name]: { lanes } } });
  const pool = report.pools[name];
  assert.ok(pool !== undefined);
  return pool;
}

const fixed = (ms: number) => ({ kind: "fixed", ms }) as const;
const poisson = (perSec: number) => ({ kind: "poisson", perSec }) as const;

Deno.test("Urgent mails hardly wait beside 20,000 newsletters, and nothing is rejected", async () => {
  const { lanes } = await played("Urgent beside a nightly batch", {
    urgent: { arrivals: poisson(5), serviceMs: fixed(100) },
    nightly: { backlog: 20_000, serviceMs: fixed(100) },
  }, { durationMs: 60_000 });

  assert.ok((lanes["urgent"]?.waitMs?.p99 ?? Infinity) < 50, `${lanes["urgent"]?.waitMs?.p99}`);
  assert.ok((lanes["nightly"]?.done ?? 0) > 5 * 60, `${lanes["nightly"]?.done}`);
  assert.deepEqual([lanes["urgent"]?.shed, lanes["nightly"]?.shed], [0, 0]);
});

Deno.test("A batch uses the rate in full and is never shed", async () => {
  const { lanes } = await played("As fast as the API allows", {
    rows: { backlog: 5000, arrivals: poisson(10), serviceMs: fixed(200) },
  }, { durationMs: 60_000 });

  const perSec = (lanes["rows"]?.done ?? 0) / 60;
  assert.ok(perSec > 27 && perSec <= 29, `${perSec}`);
  assert.deepEqual([lanes["rows"]?.shed, lanes["rows"]?.dead], [0, 0]);
});

Deno.test("30 calls a second and 10,000 a day hold together", async () => {
  const heading = "30 calls a second and 10,000 a day";
  const load = { bulk: { backlog: 20_000, serviceMs: fixed(100) } };

  const minute = await played(heading, load, { durationMs: 60_000 });
  const hours = await played(heading, load, { durationMs: 3 * HOUR_MS });

  assert.ok((minute.lanes["bulk"]?.done ?? Infinity) <= 60 * 30, "a second");
  assert.ok((minute.lanes["bulk"]?.done ?? 0) > 1500, `${minute.lanes["bulk"]?.done}`);
  const spread = 2000 + 3 * 10_000 / 24; // the burst, then a day's calls evenly
  assert.ok((hours.lanes["bulk"]?.done ?? Infinity) <= spread, `${hours.lanes["bulk"]?.done}`);
  assert.ok((hours.lanes["bulk"]?.done ?? 0) > 0.9 * spread, `${hours.lanes["bulk"]?.done}`);
});

Deno.test("A webhook that never succeeds is retried for three days, and dead then", async () => {
  const heading = "Webhooks, retried for three days";
  const load = { events: { backlog: 1, serviceMs: fixed(100), failRate: 1 } };

  const waiting = await played(heading, load, { durationMs: 2.5 * DAY_MS });
  const ended = await played(heading, load, { durationMs: 3.1 * DAY_MS });

  assert.deepEqual([waiting.lanes["events"]?.left, waiting.lanes["events"]?.dead], [1, 0]);
  assert.deepEqual([ended.lanes["events"]?.left, ended.lanes["events"]?.dead], [0, 1]);
});

Deno.test("Two machines share a rate, and name their store and token once", async () => {
  const shared = configOf("Two machines");
  const { pools } = configOf("As fast as the API allows");
  const { pools: { import: pool } } = await simulate({ ...shared, pools }, {
    durationMs: 60_000,
    peers: 2,
    pools: { import: { lanes: { rows: { backlog: 5000, serviceMs: fixed(200) } } } },
  });

  const perSec = (pool?.lanes["rows"]?.done ?? 0) / 60;
  assert.ok(perSec > 24 && perSec <= 30, `${perSec}`);
});

Deno.test("A cron without overlap has one job at a time in two processes, that of the next time after it", async () => {
  const { pools: { sync } } = configOf("A cron that must not overlap");
  assert.ok(sync !== undefined);
  const { lanes, size, schedules, timeoutMs = 0 } = sync;
  const ends: (() => void)[] = [];
  const handler = (): Promise<void> => new Promise((resolve) => void ends.push(resolve));
  await withBench(async (bench) => {
    const parts = { handler, lanes, size, schedules, timeoutMs };
    for (let process = 0; process < 2; process++) await bench.start(parts);
    await bench.clock.advance(HOUR_MS / 3); // four times, one job
    const first = ends.length;
    ends[0]?.();
    await bench.clock.advance(HOUR_MS / 12);

    assert.deepEqual([first, ends.length], [1, 2]);
    for (const end of ends) end();
    await bench.clock.advance(100);
  });
});

Deno.test("A queue of BullMQ runs ten at a time, 30 a second, with three attempts", async () => {
  const { lanes, workers } = await played("From BullMQ", {
    urgent: { backlog: 100, serviceMs: fixed(20), failRate: 1 },
    usual: { backlog: 3000, serviceMs: fixed(200) },
  }, { durationMs: 60_000 });

  assert.ok(workers.peak <= 10, `${workers.peak}`);
  assert.equal(lanes["urgent"]?.dead, 100);
  const starts = 3 * 100 + (lanes["usual"]?.done ?? 0);
  assert.ok(starts <= 60 * 30 + 10, `${starts}`);
});
