import assert from "node:assert/strict";
import { silentLogger } from "../../src/log.ts";
import { problemOf, running } from "./_app.ts";

for (const announced of [{ "content-length": "33" }, {}]) {
  const how = "content-length" in announced ? "a body of known length" : "chunks";
  Deno.test(`POST jobs logs no error, when whoever sends hangs up amid ${how}`, async () => {
    const errors: string[] = [];
    const log = { ...silentLogger(), error: (message: string) => void errors.push(message) };
    await using system = await running({ log });
    const body = new ReadableStream<Uint8Array>({
      pull: () => Promise.reject(new Deno.errors.BadResource("Cannot read body")),
    });

    const headers = { "content-type": "application/json", ...announced };
    const response = await system.app.request("/api/pools/mail/jobs", {
      method: "POST",
      headers,
      body,
    });

    const { detail } = await problemOf(response);
    assert.match(detail, /^The body could not be read: Cannot read body/);
    assert.equal(response.status, 400);
    assert.deepEqual(errors, []);
  });
}
