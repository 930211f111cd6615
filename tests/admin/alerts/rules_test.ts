import assert from "node:assert/strict";
import { builtins, defaults } from "../../../plugins/mod.ts";
import { renderAlerts } from "../../../src/admin/alerts/rules.ts";
import { renderMetrics } from "../../../src/admin/api/metrics.ts";
import type { ConfigInput } from "../../../src/config/input.ts";
import { FINDING_CODES } from "../../../src/explain/diagnose.ts";
import { resolveConfig } from "../../../src/config/resolve.ts";
import { faultsOfQuery } from "../_prometheus.ts";

async function alertsOf(...names: readonly string[]): Promise<string> {
  const pool = { handler: "sleep", size: { min: 1, max: 2 }, lanes: [{ name: "x" }] } as const;
  const pools: ConfigInput["pools"] = Object.fromEntries(names.map((name) => [name, pool]));
  return renderAlerts(await resolveConfig({ pools }, { builtins, defaults }));
}

Deno.test("renderAlerts() writes the two alerts of the autoscaling experiment for each pool", async () => {
  const text = await alertsOf("mail", "web");

  for (const pool of ["mail", "web"]) {
    const [, capacity = ""] = text.match(
      new RegExp(`alert: SluiceAtCapacity\\n +expr: (".*pool=\\\\"${pool}\\\\".*")\\n +for: 1m`),
    ) ?? [];
    assert.match(
      JSON.parse(capacity),
      /sluice_pool_workers.* >= on \(instance, pool\) sluice_pool_limit/,
    );
    assert.match(
      JSON.parse(capacity),
      /sluice_lane_oldest_wait_seconds.* > .*sluice_lane_target_wait_seconds/,
    );
    const [, swing = ""] = text.match(
      new RegExp(`alert: SluiceOscillation\\n +expr: (".*pool=\\\\"${pool}\\\\".*")\\n`),
    ) ?? [];
    assert.match(JSON.parse(swing), /^rate\(sluice_scale_events_total\{.*\}\[5m\]\) \* 60 > 4 and/);
  }
});

Deno.test("renderAlerts() names only metrics and findings that there are", async () => {
  const metrics = new Set(
    [...renderMetrics([]).matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name),
  );

  const text = await alertsOf("mail");

  const used = [...text.matchAll(/\bsluice_[a-z_]+/g)].map(([name]) => name);
  assert.ok(used.length > 5);
  for (const name of used) assert.ok(metrics.has(name), name);
  const codes = [...text.matchAll(/code(?:=|!~)\\"([^\\]+)\\"/g)].flatMap(([, list = ""]) =>
    list.split("|")
  );
  assert.ok(codes.length > 0);
  for (const code of codes) assert.ok(FINDING_CODES.some((known) => known === code), code);
});

Deno.test("renderAlerts() is a document of one group whose rules each have all that Prometheus asks for", async () => {
  const lines = (await alertsOf('a"b\\c')).trimEnd().split("\n");

  assert.deepEqual(lines.slice(0, 3), ["groups:", "  - name: sluice", "    rules:"]);
  const keys = lines.slice(3).map((line) => line.trim().replace(/^- /, "").split(":")[0]);
  const rule = ["alert", "expr", "for", "labels", "severity", "pool", "annotations", "summary"];
  assert.equal(keys.length % rule.length, 0);
  keys.forEach((key, index) => assert.equal(key, rule[index % rule.length]));
  assert.equal(JSON.parse(lines[8]?.replace(/^ +pool: /, "") ?? ""), 'a"b\\c');
});

Deno.test("renderAlerts() writes expressions that Prometheus' own grammar reads", async () => {
  const text = await alertsOf('a"b\\c');

  const queries = [...text.matchAll(/^ +expr: (.*)$/gm)].map(([, expr = ""]) => JSON.parse(expr));

  assert.ok(queries.length >= 5);
  for (const query of queries) assert.deepEqual(faultsOfQuery(query), []);
});
