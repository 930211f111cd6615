/**
 * Metrics in Prometheus' text format.
 *
 * @module
 */

import { setImmediate } from "node:timers/promises";
import {
  DURATIONS,
  type Labels,
  type MetricReading,
  METRICS,
  type PoolReading,
  readPool,
} from "../../telemetry/catalog.ts";
import type { PoolHandle } from "../../runtime/handles.ts";
import { BUCKETS_MS, type Distribution } from "../../planning/lane_counters.ts";

/** Content type of the format. */
export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Upper bounds of buckets as labels say them, in seconds. */
const BOUNDS: readonly string[] = [...BUCKETS_MS.map((ms) => String(ms / 1_000)), "+Inf"];

/** Renders all metrics of all pools. */
export function renderMetrics(pools: readonly PoolReading[]): string {
  return [...chunksOf(pools)].join("");
}

/** Reads and renders as `renderMetrics` does, and lets others have their turn between the chunks. */
export async function renderInTurns(pools: readonly PoolHandle[]): Promise<string> {
  const readings: PoolReading[] = [];
  for (const pool of pools) {
    readings.push(readPool(pool));
    if (pools.length > 1) await setImmediate();
  }
  const chunks: string[] = [];
  for (const chunk of chunksOf(readings)) {
    chunks.push(chunk);
    await setImmediate();
  }
  return chunks.join("");
}

/** What is rendered in a turn of the event loop: some milliseconds. */
const TURN_CHARACTERS = 262_144;

/** The text in chunks of one turn each: what they are made of does not live until all is rendered. */
function* chunksOf(pools: readonly PoolReading[]): Iterable<string> {
  let pieces: string[] = [];
  let size = 0;
  for (const piece of piecesOf(pools)) {
    pieces.push(piece);
    size += piece.length;
    if (size < TURN_CHARACTERS) continue;
    yield pieces.join("");
    pieces = [];
    size = 0;
  }
  yield pieces.join("");
}

/** The text in pieces: the samples that one pool has of one metric, those of one lane of a histogram. */
function* piecesOf(pools: readonly PoolReading[]): Iterable<string> {
  for (const { name, kind, help, read } of METRICS) {
    yield headOf(name, kind, help);
    for (const pool of pools) {
      yield read(pool).map(([labels, value]) => sample(name, renderLabels(labels), value)).join("");
    }
  }
  for (const { name, help, read } of DURATIONS) {
    yield headOf(name, "histogram", help);
    for (const { pool, tally } of pools) {
      for (const lane of tally) {
        for (const [labels, took] of read(lane)) {
          yield histogram(name, [{ pool, lane: lane.lane, ...labels }, took]);
        }
      }
    }
  }
}

function headOf(name: string, kind: string, help: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n`;
}

/** Buckets say how many were at most as long as their bound: each holds those before it. */
function histogram(name: string, [given, took]: MetricReading<Distribution>): string {
  const labels = renderLabels(given);
  let below = 0;
  let text = "";
  for (const [bucket, le] of BOUNDS.entries()) {
    below += took.buckets[bucket] ?? 0;
    text += sample(`${name}_bucket`, `${labels},le="${le}"`, below);
  }
  return text + sample(`${name}_sum`, labels, took.sumMs / 1_000) +
    sample(`${name}_count`, labels, took.count);
}

function sample(name: string, labels: string, value: number): string {
  return `${name}{${labels}} ${renderValue(value)}\n`;
}

function renderLabels(labels: Labels): string {
  let text = "";
  for (const name in labels) {
    text += `${text === "" ? "" : ","}${name}="${escapeLabel(labels[name] ?? "")}"`;
  }
  return text;
}

function escapeLabel(value: string): string {
  if (!/[\\"\n]/.test(value)) return value;
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

function renderValue(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (value === Infinity) return "+Inf";
  return value === -Infinity ? "-Inf" : String(value);
}
