/**
 * A span for each run of a handler. Names and attributes follow OpenTelemetry's conventions for messaging.
 *
 * @module
 */

import {
  type Attributes,
  context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from "@opentelemetry/api";
import { messageOf } from "../contract/errors.ts";
import { isPromise } from "../runtime/store_guard.ts";
import type { Telemetry, TracedRun } from "../runtime/telemetry.ts";
import type { Fate } from "../runtime/verdict.ts";
import type { DurationRecorder } from "./instruments.ts";
import { spanContextOf } from "./traceparent.ts";

/** How a run ended. */
type Outcome = "done" | Fate;

/** Longest stack that is recorded, characters. */
const LONGEST_STACK = 4_000;

/** Makes what calls handlers inside spans. The enqueuer's span is the parent, and linked too: some views show only one. */
export function tracedRunner(tracer: Tracer, durations: DurationRecorder): Telemetry["run"] {
  return (traced, call) => {
    const enqueuer = spanContextOf(traced.job.traceparent);
    const parent = enqueuer === undefined
      ? ROOT_CONTEXT
      : trace.setSpanContext(ROOT_CONTEXT, enqueuer);
    const links = enqueuer === undefined ? [] : [{ context: enqueuer }];
    const span = tracer.startSpan(
      `process ${traced.pool}`,
      { kind: SpanKind.CONSUMER, attributes: attributesOf(traced), links },
      parent,
    );
    const beganMs = performance.now();
    durations.waited(traced);
    const end = (outcome: Outcome): void => {
      span.setAttribute("sluice.job.outcome", outcome);
      span.end();
      if (outcome === "done" || outcome === "retried" || outcome === "dead") {
        durations.ran(traced, performance.now() - beganMs);
      }
    };
    const fail = (thrown: unknown): never => {
      const fate = traced.fateOf(thrown);
      if (fate === "retried" || fate === "dead") record(span, thrown, traced.hide);
      end(fate);
      throw thrown;
    };
    let result: unknown;
    try {
      result = context.with(trace.setSpan(parent, span), call);
    } catch (thrown) {
      return fail(thrown);
    }
    if (isPromise(result)) {
      return result.then((value) => {
        end("done");
        return value;
      }, fail);
    }
    end("done");
    return result;
  };
}

function attributesOf({ pool, job, waitMs, worker }: TracedRun): Attributes {
  return {
    "messaging.system": "sluice",
    "messaging.operation.name": "process",
    "messaging.operation.type": "process",
    "messaging.destination.name": pool,
    "messaging.message.id": job.id,
    "sluice.lane": job.lane,
    "sluice.worker": worker,
    "sluice.job.attempt": job.attempt,
    "sluice.job.wait": waitMs / 1_000,
    ...(job.type === "" ? {} : { "sluice.job.type": job.type }),
  };
}

/** Records a failure. Only that is an error: who puts a job off or stops knows what it does. */
function record(span: Span, thrown: unknown, hide: TracedRun["hide"]): void {
  const message = messageOf(thrown, hide);
  span.setStatus({ code: SpanStatusCode.ERROR, message });
  try {
    const { name, stack = "" } = thrown instanceof Error ? thrown : new Error(message);
    span.setAttribute("error.type", name);
    span.recordException({ name, message, stack: hide(stack).slice(0, LONGEST_STACK) });
  } catch {
    // What is thrown may throw again as it is read: a trace must not harm a job.
  }
}
