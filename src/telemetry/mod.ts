/**
 * Telemetry by OpenTelemetry: a span a job, linked to the trace of who enqueued it, and the metrics of
 * `/metrics`. Speaks to whatever SDK is registered, and does nothing where none is.
 *
 * @module
 */

import { metrics, trace } from "@opentelemetry/api";
import { durationRecorder, observePools } from "./instruments.ts";
import { tracedRunner } from "./spans.ts";
import { traceparentOf } from "./traceparent.ts";
import type { Telemetry } from "../runtime/telemetry.ts";

/** Name of the instrumentation scope. */
const SCOPE = "sluice";

/** Makes the telemetry of one system. */
export function otel(): Telemetry {
  const meter = metrics.getMeter(SCOPE);
  return {
    traceparent: () => {
      const active = trace.getActiveSpan();
      return active === undefined ? undefined : traceparentOf(active.spanContext());
    },
    run: tracedRunner(trace.getTracer(SCOPE), durationRecorder(meter)),
    watch: (pools) => observePools(meter, pools),
  };
}
