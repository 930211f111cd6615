import assert from "node:assert/strict";
import { spanContextOf, traceparentOf } from "../../src/telemetry/traceparent.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";

Deno.test("spanContextOf() reads what traceparentOf() writes", () => {
  const traceparent = `00-${TRACE}-${SPAN}-01`;

  const read = spanContextOf(traceparent);

  assert.deepEqual(read, { traceId: TRACE, spanId: SPAN, traceFlags: 1, isRemote: true });
  assert.equal(read && traceparentOf(read), traceparent);
});

Deno.test("spanContextOf() takes a later version with more fields, as the standard asks for", () => {
  assert.equal(spanContextOf(`01-${TRACE}-${SPAN}-00-more`)?.traceId, TRACE);
});

Deno.test("spanContextOf() answers undefined for what is no trace context", () => {
  const malformed = [
    undefined,
    "",
    "00-1",
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${"0".repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${"0".repeat(16)}-01`,
    `00-${TRACE}-${SPAN}-011`,
  ];
  for (const text of malformed) assert.equal(spanContextOf(text), undefined, text);
});

Deno.test("traceparentOf() answers undefined for a span that no one can refer to", () => {
  assert.equal(
    traceparentOf({ traceId: "0".repeat(32), spanId: SPAN, traceFlags: 0 }),
    undefined,
  );
});
