import assert from "node:assert/strict";
import { DURATIONS, METRICS } from "../../src/telemetry/catalog.ts";
import { instrumentName } from "../../src/telemetry/instruments.ts";

Deno.test("instrumentName() gives names from which a collector makes Prometheus' names again", () => {
  // https://opentelemetry.io/docs/specs/otel/compatibility/prometheus_and_openmetrics/
  const prometheusName = (name: string, kind: string, unit: string): string =>
    `${name.replaceAll(".", "_")}${unit}${kind === "counter" ? "_total" : ""}`;
  const known = [
    ...METRICS.map(({ name, kind }) => ({ name, kind: kind as string })), // widened for the next line
    ...DURATIONS.map(({ name }) => ({ name, kind: "histogram" })),
  ];

  for (const { name, kind } of known) {
    const unit = name.includes("_seconds") ? "_seconds" : "";
    assert.equal(prometheusName(instrumentName(name), kind, unit), name);
  }
  assert.equal(instrumentName("sluice_lane_oldest_wait_seconds"), "sluice.lane.oldest_wait");
});
