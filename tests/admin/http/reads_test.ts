/** Bodies that are being read. */

import assert from "node:assert/strict";
import { BodyReads, UnreadError } from "../../../src/admin/http/reads.ts";
import { VirtualClock } from "../../../src/time/virtual_clock.ts";

Deno.test("BodyReads.of() leaves no rejection behind of a body that is cut off after the stop", async () => {
  const reads = new BodyReads(new VirtualClock(), AbortSignal.abort());
  const { promise, reject } = Promise.withResolvers<string>();

  await assert.rejects(reads.of(promise), UnreadError);
  reject(new Error("The connection was closed"));

  await new Promise((resolve) => setTimeout(resolve)); // unhandled, it would fail this test
});
