/**
 * Trace context as a job carries it: W3C `traceparent`, version 00.
 *
 * @module
 */

import { isSpanContextValid, type SpanContext } from "@opentelemetry/api";

const PATTERN = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/;

/** Writes a span's context. `undefined`: it is not one that can be referred to. */
export function traceparentOf(span: SpanContext): string | undefined {
  if (!isSpanContextValid(span)) return undefined;
  return `00-${span.traceId}-${span.spanId}-${span.traceFlags.toString(16).padStart(2, "0")}`;
}

/** Reads one. `undefined`: there is none, or it is malformed; a trace must not harm a job. */
export function spanContextOf(traceparent: string | undefined): SpanContext | undefined {
  const [, traceId, spanId, flags] = PATTERN.exec(traceparent ?? "") ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  const span = { traceId, spanId, traceFlags: parseInt(flags, 16), isRemote: true };
  return isSpanContextValid(span) ? span : undefined;
}
