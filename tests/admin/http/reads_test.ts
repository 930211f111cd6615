/** Bodies that are being read. */

import assert from "node:assert/strict";
import { Reads, UnreadError } from "../../../src/admin/http/reads.ts";
import { VirtualClock } from "../../../src/time/virtual_clock.ts";

Deno.test("Reads.of() leaves no rejection behind of a body that is cut off after the stop", async () => {
  const reads = new Reads(new VirtualClock(), AbortSignal.abort());
  const { promise, reject } = Promise.withResolvers<string>();

  await assert.rejects(reads.of(promise), UnreadError);
  reject(new Error("The connection was closed"));

  await new Promise((resolve) => setTimeout(resolve)); // unhandled, it would fail this test
});
