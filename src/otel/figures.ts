/**
 * The metrics of `/metrics` as OpenTelemetry's instruments. A collector that writes them for Prometheus gives
 * them the names that they have there.
 *
 * @module
 */

import type { BatchObservableCallback, Meter, MetricOptions, Observable } from "@opentelemetry/api";
import { DURATIONS, type Metric, METRICS, readPool } from "../metrics/catalog.ts";
import type { Telemetry, TracedRun } from "../runtime/telemetry.ts";
import { BUCKETS_MS } from "../tally.ts";

/** Records how long jobs take. */
export interface DurationRecorder {
  /** A job waited and starts. */
  waited(traced: TracedRun): void;
  /** It ran so long, ms. */
  ran(traced: TracedRun, ms: number): void;
}

/** Makes the recorder: durations cannot be observed later, so each is recorded as it ends. */
export function durationRecorder(meter: Meter): DurationRecorder {
  const advice = { explicitBucketBoundaries: BUCKETS_MS.map((ms) => ms / 1_000) };
  const [waits, runs] = DURATIONS.map(({ name, help }) =>
    meter.createHistogram(instrumentName(name), { description: help, unit: "s", advice })
  );
  const labelsOf = ({ pool, job }: TracedRun) => ({ pool, lane: job.lane });
  return {
    waited: (traced) => waits?.record(traced.waitMs / 1_000, labelsOf(traced)),
    ran: (traced, ms) => runs?.record(ms / 1_000, labelsOf(traced)),
  };
}

/** Exports all figures of pools until the function it returns is called. Pools are read once an export. */
export function observePools(meter: Meter, pools: Parameters<Telemetry["watch"]>[0]): () => void {
  const instruments = METRICS.map((metric) => [metric, instrumentOf(meter, metric)] as const);
  const observables = instruments.map(([, instrument]) => instrument);
  const observe: BatchObservableCallback = (result) => {
    for (const pool of pools().map(readPool)) {
      for (const [metric, instrument] of instruments) {
        for (const [labels, value] of metric.read(pool)) {
          if (Number.isFinite(value)) result.observe(instrument, value, labels); // no bound: no sample
        }
      }
    }
  };
  meter.addBatchObservableCallback(observe, observables);
  return () => meter.removeBatchObservableCallback(observe, observables);
}

function instrumentOf(meter: Meter, { name, kind, help }: Metric): Observable {
  const options: MetricOptions = {
    description: help,
    ...(name.includes("_seconds") ? { unit: "s" } : {}),
  };
  return kind === "counter"
    ? meter.createObservableCounter(instrumentName(name), options)
    : meter.createObservableGauge(instrumentName(name), options);
}

/** `sluice_lane_oldest_wait_seconds` is `sluice.lane.oldest_wait`: unit and `_total` are said elsewhere. */
export function instrumentName(name: string): string {
  return name.replace(/_total$/, "").replace(/_seconds$/, "").replace(/_/, ".").replace(/_/, ".");
}
