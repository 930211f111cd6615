/**
 * The metrics of `/metrics` as OpenTelemetry's instruments. A collector that writes them for Prometheus gives
 * them the names that they have there.
 *
 * @module
 */

import {
  type Attributes,
  type BatchObservableCallback,
  type BatchObservableResult,
  type Meter,
  type MeterProvider,
  type MetricOptions,
  metrics,
  type Observable,
} from "@opentelemetry/api";
import { DURATIONS, type Metric, METRICS, readPool } from "./catalog.ts";
import type { Telemetry, TracedRun } from "../runtime/telemetry.ts";
import { BUCKETS_MS } from "../planning/lane_counters.ts";

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
    waited: (traced) => {
      const labels = { ...labelsOf(traced), blocked: String(traced.isBlocked) };
      waits?.record(traced.waitMs / 1_000, labels);
    },
    ran: (traced, ms) => runs?.record(ms / 1_000, labelsOf(traced)),
  };
}

/**
 * Exports all figures of pools until the function it returns is called, which exports them once more.
 * Pools are read once an export.
 */
export function observePools(meter: Meter, pools: Pools): ReturnType<Telemetry["watch"]> {
  const instruments = METRICS.map((metric) => [metric, instrumentOf(meter, metric)] as const);
  const observables = instruments.map(([, instrument]) => instrument);
  let latest: BatchObservableResult | undefined;
  const observe: BatchObservableCallback = (result) => {
    latest = result;
    readAll(pools, instruments, (instrument, value, labels) => {
      result.observe(instrument, value, labels);
    });
  };
  meter.addBatchObservableCallback(observe, observables);
  return async () => {
    const provider: MeterProvider & Partial<Flushable> = metrics.getMeterProvider();
    if (provider.forceFlush !== undefined) await inTime(provider.forceFlush());
    // Hint: Deno's own provider exports at the exit what was observed last, and does not ask again. What
    // it has never asked for can only be set.
    else if (latest !== undefined) observe(latest);
    else setAll(meter, pools);
    meter.removeBatchObservableCallback(observe, observables);
  };
}

type Pools = Parameters<Telemetry["watch"]>[0];

/** A provider that exports when it is asked to: those of the SDK, not Deno's. */
interface Flushable {
  forceFlush(): Promise<void>;
}

/** How long a stop waits for the last export, ms. */
const FLUSH_WITHIN_MS = 2_000;

async function inTime(work: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, FLUSH_WITHIN_MS);
  // A fault is the exporter's to report.
  await Promise.race([work.catch(() => {}), late.promise]);
  clearTimeout(timer);
}

/** Reads each figure of each pool. */
function readAll<Instrument>(
  pools: Pools,
  instruments: readonly (readonly [Metric, Instrument])[],
  take: (instrument: Instrument, value: number, labels: Attributes) => void,
): void {
  for (const pool of pools().map(readPool)) {
    for (const [metric, instrument] of instruments) {
      for (const [labels, value] of metric.read(pool)) {
        if (Number.isFinite(value)) take(instrument, value, labels); // no bound: no sample
      }
    }
  }
}

/** Sets each figure once, under the name that it is observed by. */
function setAll(meter: Meter, pools: Pools): void {
  const setters = METRICS.map((metric) => {
    const name = instrumentName(metric.name);
    const options = optionsOf(metric);
    const counter = metric.kind === "counter" ? meter.createCounter(name, options) : undefined;
    const gauge = counter === undefined ? meter.createGauge(name, options) : undefined;
    return [metric, (value: number, labels: Attributes): void => {
      counter?.add(value, labels);
      gauge?.record(value, labels);
    }] as const;
  });
  readAll(pools, setters, (set, value, labels) => set(value, labels));
}

function instrumentOf(meter: Meter, metric: Metric): Observable {
  const name = instrumentName(metric.name);
  return metric.kind === "counter"
    ? meter.createObservableCounter(name, optionsOf(metric))
    : meter.createObservableGauge(name, optionsOf(metric));
}

function optionsOf({ name, help }: Metric): MetricOptions {
  return { description: help, ...(name.includes("_seconds") ? { unit: "s" } : {}) };
}

/** `sluice_lane_oldest_wait_seconds` is `sluice.lane.oldest_wait`: unit and `_total` are said elsewhere. */
export function instrumentName(name: string): string {
  return name.replace(/_total$/, "").replace(/_seconds$/, "").replace(/_/, ".").replace(/_/, ".");
}
