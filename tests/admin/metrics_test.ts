import assert from "node:assert/strict";
import { renderMetrics } from "../../src/admin/metrics.ts";
import { running } from "./_app.ts";

const SAMPLE =
  /^([a-z_]+)\{((?:[a-z]+="(?:[^"\\\n]|\\\\|\\"|\\n)*",?)+)\} (-?[\d.e+-]+|[+-]Inf|NaN)$/;

Deno.test("GET /metrics answers Prometheus text: HELP and TYPE once, then the samples", async () => {
  await using system = await running();
  await system.send("POST", "/api/pools/mail/jobs", { lane: "urgent", payload: 1 });
  await system.send("POST", "/api/pools/mail/jobs", { lane: "full", payload: 1 });
  await system.send("POST", "/api/pools/mail/jobs", { lane: "full", payload: 1 });
  await system.clock.advance(100);

  const response = await system.send("GET", "/metrics");
  const text = await response.text();

  assert.equal(response.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  assert.ok(text.endsWith("\n"));
  const declared = new Set<string>();
  for (const line of text.trimEnd().split("\n")) {
    const [, comment, name = ""] = /^# (HELP|TYPE) (\S+) /.exec(line) ?? [];
    if (comment === "TYPE") {
      assert.equal(declared.has(name), false, `TYPE of ${name} stands twice`);
      declared.add(name);
    } else if (comment === undefined) {
      const sample = SAMPLE.exec(line);
      assert.ok(sample !== null, line);
      assert.ok(declared.has(sample[1] ?? ""), `No TYPE before ${line}`);
    }
  }
  assert.match(text, /^sluice_jobs_accepted_total\{pool="mail"\} 2$/m);
  assert.match(text, /^sluice_jobs_done_total\{pool="mail"\} 1$/m);
  assert.match(text, /^sluice_jobs_shed_total\{pool="mail"\} 1$/m);
  assert.match(text, /^sluice_pool_workers\{pool="mail",state="idle"\} 1$/m);
  assert.match(text, /^sluice_pool_diagnosis\{pool="mail",code="at-capacity"\} 0$/m);
  assert.match(text, /^sluice_scale_events_total\{pool="mail"\} 0$/m);
  assert.match(text, /^sluice_pool_size_max\{pool="mail"\} 4$/m);
  assert.match(text, /^sluice_lane_blocked\{pool="mail",lane="full"\} 1$/m);
  assert.match(text, /^sluice_lane_target_wait_seconds\{pool="mail",lane="urgent"\} 0\.05$/m);
  assert.doesNotMatch(text, /sluice_lane_target_wait_seconds\{pool="mail",lane="batch"\}/);
});

Deno.test("renderMetrics() names counters _total and times in seconds, as the convention has it", () => {
  const types = [...renderMetrics([]).matchAll(/^# TYPE (\S+) (\S+)$/gm)];

  assert.ok(types.length > 20);
  for (const [, name = "", kind] of types) {
    assert.equal(name.endsWith("_total"), kind === "counter", name);
    assert.doesNotMatch(name, /_ms\b/);
  }
});

Deno.test("renderMetrics() escapes labels and writes what is unbounded as +Inf", async () => {
  await using system = await running();
  const [pool] = system.sluice.pools;
  assert.ok(pool !== undefined);
  const snapshot = { ...pool.snapshot(), diagnosis: [], pool: 'a"b\\c\nd', limit: Infinity };

  const text = renderMetrics([snapshot]);

  assert.ok(text.includes('sluice_pool_limit{pool="a\\"b\\\\c\\nd"} +Inf\n'));
});
