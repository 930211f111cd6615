import assert from "node:assert/strict";
import { setImmediate } from "node:timers";
import { isDeepStrictEqual } from "node:util";
import { renderInTurns, renderMetrics } from "../../../src/admin/api/metrics.ts";
import { start } from "../../../mod.ts";
import { type Labels, readPool } from "../../../src/telemetry/catalog.ts";
import { VirtualClock } from "../../../src/time/virtual_clock.ts";
import { BUCKETS_MS } from "../../../src/planning/lane_counters.ts";
import { reading, tally } from "../../telemetry/_reading.ts";
import { type Running, running } from "../_app.ts";
import { type Family, parseMetrics } from "../_prometheus.ts";

function valueOf(families: readonly Family[], name: string, labels: Labels): string | undefined {
  const family = families.find((family) => family.name === name);
  return family?.metrics.find((metric) => isDeepStrictEqual({ ...metric.labels }, labels))?.value;
}

Deno.test("GET /metrics answers text that a Prometheus parser reads: each family once, with its kind", async () => {
  await using system = await running();
  await system.send("POST", "/api/pools/mail/jobs", { lane: "urgent", payload: 1 });
  await system.send("POST", "/api/pools/mail/jobs", { lane: "full", payload: 1 });
  await system.send("POST", "/api/pools/mail/jobs", { lane: "full", payload: 1 });
  await system.clock.advance(100);

  const response = await system.send("GET", "/metrics");
  const families = parseMetrics(await response.text());

  assert.equal(response.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  assert.equal(new Set(families.map(({ name }) => name)).size, families.length);
  for (const { name, type, help } of families) {
    assert.match(type, /^(GAUGE|COUNTER|HISTOGRAM)$/, name);
    assert.match(help, /^\S.*\.$/, name);
  }
  const one = (name: string, labels: Labels): string | undefined => valueOf(families, name, labels);
  assert.equal(one("sluice_jobs_accepted_total", { pool: "mail", lane: "urgent" }), "1");
  assert.equal(one("sluice_jobs_done_total", { pool: "mail", lane: "urgent" }), "1");
  assert.equal(one("sluice_jobs_done_total", { pool: "mail", lane: "full" }), "0");
  assert.equal(one("sluice_jobs_shed_total", { pool: "mail", lane: "full" }), "1");
  assert.equal(one("sluice_pool_workers", { pool: "mail", state: "idle" }), "1");
  assert.equal(one("sluice_pool_diagnosis", { pool: "mail", code: "at-capacity" }), "0");
  assert.equal(one("sluice_scale_events_total", { pool: "mail" }), "0");
  assert.equal(one("sluice_pool_size_max", { pool: "mail" }), "4");
  assert.equal(one("sluice_lane_ready", { pool: "mail", lane: "full" }), "1");
  assert.equal(one("sluice_lane_target_wait_seconds", { pool: "mail", lane: "urgent" }), "0.05");
  assert.equal(
    one("sluice_lane_target_wait_seconds", { pool: "mail", lane: "batch" }),
    undefined,
  );
});

Deno.test("renderMetrics() writes histograms whose buckets hold those before them, +Inf all", () => {
  const waits = [0.5, 1, 1.5, 49, 50, 50.1, 7_200_000];
  const families = parseMetrics(renderMetrics([reading("mail", tally({ waits }))]));

  const wait = families.find(({ name }) => name === "sluice_job_wait_seconds");

  assert.equal(wait?.type, "HISTOGRAM");
  const [{ buckets = {} } = {}] = wait?.metrics ?? [];
  const bounds = [...BUCKETS_MS.map((ms) => `${ms / 1_000}`), "+Inf"];
  assert.deepEqual(Object.keys(buckets).toSorted(), bounds.toSorted());
  assert.equal(buckets["0.001"], "2");
  assert.equal(buckets["0.002"], "3");
  assert.equal(buckets["0.02"], "3");
  assert.equal(buckets["0.05"], "5");
  assert.equal(buckets["0.1"], "6");
  assert.equal(buckets["3600"], "6");
  assert.equal(buckets["+Inf"], "7");
});

Deno.test("renderMetrics() ends each lane's histogram with its sum in seconds and its count", () => {
  const lanes = [tally({ lane: "a", runs: [100, 400] }), tally({ lane: "b", runs: [3] })];

  const text = renderMetrics([reading("mail", ...lanes)]);

  const lines = text.split("\n").filter((line) => line.startsWith("sluice_job_duration_seconds_"));
  const perLane = BUCKETS_MS.length + 3;
  assert.equal(lines.length, 2 * perLane);
  assert.deepEqual(lines.slice(perLane - 3, perLane), [
    'sluice_job_duration_seconds_bucket{pool="mail",lane="a",le="+Inf"} 2',
    'sluice_job_duration_seconds_sum{pool="mail",lane="a"} 0.5',
    'sluice_job_duration_seconds_count{pool="mail",lane="a"} 2',
  ]);
  assert.equal(lines.at(-1), 'sluice_job_duration_seconds_count{pool="mail",lane="b"} 1');
});

Deno.test("GET /metrics has as many series after many jobs of many kinds as before the first", async () => {
  await using system = await running();
  const before = await seriesOf(system);

  for (let index = 0; index < 200; index++) {
    const job = {
      lane: index % 2 === 0 ? "urgent" : "batch",
      payload: index % 3 === 0 ? { fail: `error ${index}` } : index,
      key: `key ${index}`,
      dedupeKey: `dedupe ${index}`,
    };
    await system.send("POST", "/api/pools/mail/jobs", job);
  }
  await system.clock.advance(60_000);

  assert.deepEqual(await seriesOf(system), before);
});

async function seriesOf({ send }: Running): Promise<readonly string[]> {
  const text = await (await send("GET", "/metrics")).text();
  return text.split("\n").map((line) => line.replace(/ \S+$/, ""));
}

Deno.test("renderMetrics() names counters _total and times in seconds, as the convention has it", () => {
  const types = [...renderMetrics([]).matchAll(/^# TYPE (\S+) (\S+)$/gm)];

  assert.ok(types.length > 20);
  for (const [, name = "", kind] of types) {
    assert.equal(name.endsWith("_total"), kind === "counter", name);
    assert.doesNotMatch(name, /_ms\b/);
  }
});

Deno.test("renderMetrics() escapes labels and writes what is unbounded as +Inf", () => {
  const text = renderMetrics([{ ...reading('a"b\\c\nd', tally({})), limit: Infinity }]);

  assert.ok(text.includes('sluice_pool_limit{pool="a\\"b\\\\c\\nd"} +Inf\n'));
});

// Case B11: a thousand lanes blocked the event loop for 240 to 370 ms.
Deno.test("renderInTurns() lets others have their turn while it renders many lanes", async () => {
  const lanes = Array.from({ length: 1_000 }, (_, lane) => ({ name: `lane-${lane}` }));
  const handler = (): void => {};
  await using sluice = await start({ pools: { p: { handler, size: { min: 0, max: 1 }, lanes } } }, {
    clock: new VirtualClock(),
  });
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);

  const text = await renderInTurns(sluice.pools);
  isOver = true;

  assert.equal(text, renderMetrics(sluice.pools.map(readPool)));
  assert.ok(turns >= 8, `${turns} turns for ${text.length} characters`);
});
