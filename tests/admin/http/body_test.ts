import assert from "node:assert/strict";
import { silentLogger } from "../../../src/runtime/log.ts";
import { problemOf, running } from "../_app.ts";

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

for (const how of ["known length", "chunks"]) {
  const sent = async (bytes: Uint8Array<ArrayBuffer>, encoding = "identity"): Promise<Response> => {
    await using system = await running();
    const headers: Record<string, string> = {
      "content-type": "application/json",
      "content-encoding": encoding,
    };
    if (how === "known length") headers["content-length"] = `${bytes.byteLength}`;
    const response = await system.app.request("/api/pools/mail/jobs?waitMs=1000", {
      method: "POST",
      headers,
      body: new Blob([bytes]).stream(),
    });
    const { jobs } = await system.sluice.pool("mail").list({ limit: 9 });
    assert.equal(jobs.length, response.ok ? 1 : 0);
    return response;
  };
  const job = (payload: string): Uint8Array<ArrayBuffer> =>
    new TextEncoder().encode(JSON.stringify({ lane: "urgent", payload }));
  Deno.test(`POST jobs reads bytes that are not UTF-8 as U+FFFD, of ${how}`, async () => {
    const bytes = job("@");
    bytes[bytes.indexOf(0x40)] = 0xfc; // Latin-1

    const response = await sent(bytes);

    assert.deepEqual((await response.json()).outcome.result, { echo: "\ufffd" });
  });

  Deno.test(`POST jobs takes all text in UTF-8, of ${how}`, async () => {
    for (const text of ["plain", "J\u00fcrgen", "\u65e5\u672c \ud83d\ude00", "\ufffd", "\ud800"]) {
      const response = await sent(job(text));

      assert.deepEqual((await response.json()).outcome.result, { echo: text });
    }
    const marked = await sent(new Uint8Array([0xef, 0xbb, 0xbf, ...job("marked")]));
    assert.equal(marked.status, 200);
  });

  Deno.test(`POST jobs says what to do with a body that was packed, of ${how}`, async () => {
    const packed = new Blob([job("x")]).stream().pipeThrough(new CompressionStream("gzip"));

    const response = await sent(await new Response(packed).bytes(), "gzip");

    assert.equal(response.status, 415);
    assert.equal(
      (await problemOf(response)).detail,
      'Expected a body without Content-Encoding but received "gzip": send it as it is',
    );
  });
}

Deno.test("POST jobs takes JSON of any type that ends in +json", async () => {
  await using system = await running();

  for (const [type, status] of [["application/a.job+json", 202], ["application/json5", 415]]) {
    const response = await system.app.request("/api/pools/mail/jobs", {
      method: "POST",
      headers: { "content-type": `${type}` },
      body: '{"lane":"batch","payload":1}',
    });

    assert.equal(response.status, status);
    await response.body?.cancel();
  }
});
