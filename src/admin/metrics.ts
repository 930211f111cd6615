/**
 * Metrics in Prometheus' text format.
 *
 * @module
 */

import {
  DURATIONS,
  type Labels,
  METRICS,
  type PoolReading,
  type Reading,
} from "../metrics/catalog.ts";
import { BUCKETS_MS, type Distribution } from "../tally.ts";

/** Content type of the format. */
export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Upper bounds of buckets as labels say them, in seconds. */
const BOUNDS: readonly string[] = [...BUCKETS_MS.map((ms) => String(ms / 1_000)), "+Inf"];

/** Renders all metrics of all pools. */
export function renderMetrics(pools: readonly PoolReading[]): string {
  const lines: string[] = [];
  for (const { name, kind, help, read } of METRICS) {
    lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${kind}`);
    for (const pool of pools) {
      for (const [labels, value] of read(pool)) lines.push(sample(name, labels, value));
    }
  }
  for (const { name, help, read } of DURATIONS) {
    lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} histogram`);
    for (const { pool, tally } of pools) {
      for (const lane of tally) {
        lines.push(...histogram(name, [{ pool, lane: lane.lane }, read(lane)]));
      }
    }
  }
  return `${lines.join("\n")}\n`;
}

/** Buckets say how many were at most as long as their bound: each holds those before it. */
function histogram(name: string, [labels, took]: Reading<Distribution>): readonly string[] {
  let below = 0;
  const buckets = BOUNDS.map((le, bucket) => {
    below += took.buckets[bucket] ?? 0;
    return sample(`${name}_bucket`, { ...labels, le }, below);
  });
  return [
    ...buckets,
    sample(`${name}_sum`, labels, took.sumMs / 1_000),
    sample(`${name}_count`, labels, took.count),
  ];
}

function sample(name: string, labels: Labels, value: number): string {
  return `${name}{${renderLabels(labels)}} ${renderValue(value)}`;
}

function renderLabels(labels: Labels): string {
  return Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`).join(",");
}

function escapeLabel(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

function renderValue(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (value === Infinity) return "+Inf";
  return value === -Infinity ? "-Inf" : String(value);
}
