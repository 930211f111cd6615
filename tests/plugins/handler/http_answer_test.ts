import assert from "node:assert/strict";
import { http } from "../../../plugins/handler/http.ts";
import { Fatal, RetryLater } from "../../../src/contract/errors.ts";
import { runOf, withReceiver } from "./_receiver.ts";
import { contextOf, faultsOf, jobOf } from "./_run.ts";

/** Answers with the status that the path names. */
const byPath = (request: Request): Response =>
  new Response(null, { status: Number(new URL(request.url).pathname.slice(1)) });

/** What became of a run, in a word. */
function end(result: unknown): string {
  if (result instanceof RetryLater) return "deferred";
  if (result instanceof Fatal) return result.gone ? "gone" : "dead";
  return result instanceof Error ? "retry" : "done";
}

Deno.test("http judges by its lists, a status by itself before its hundred", async () => {
  const cases: readonly (readonly [Record<string, unknown>, Record<number, string>])[] = [
    [{}, { 200: "done", 204: "done", 302: "dead", 404: "dead", 410: "gone", 500: "retry" }],
    [{ success: [200, 404] }, { 200: "done", 202: "dead", 404: "done", 410: "gone" }],
    [{ success: ["2xx", 410, 429, 302] }, {
      410: "done",
      429: "done",
      302: "done",
      503: "deferred",
    }],
    [{ retry: ["5xx", 202, 404] }, { 200: "done", 202: "retry", 404: "retry", 500: "retry" }],
    [{ retry: ["4xx"] }, { 410: "retry", 429: "deferred", 500: "dead", 503: "deferred" }],
    [{ success: [501], retry: ["5xx"] }, { 501: "done", 500: "retry", 200: "dead" }],
    [{ retry: [] }, {
      200: "done",
      500: "dead",
      408: "deferred",
      425: "deferred",
      529: "deferred",
    }],
  ];
  await withReceiver(byPath, async (origin) => {
    for (const [options, ends] of cases) {
      for (const [status, wanted] of Object.entries(ends)) {
        const result = await runOf({ url: `${origin}/${status}`, ...options });

        assert.equal(end(result), wanted, `${JSON.stringify(options)} ${status}`);
      }
    }
    const other = await runOf({ url: `${origin}/202`, success: [200, 201] });
    assert.ok(other instanceof Fatal);
    assert.equal(
      other.message,
      `${origin}/202 answered 202: that is none of "success" (200, 201)`,
    );
  });
});

Deno.test("http comes back when it is asked to, for a status that is retried", async () => {
  const receive = (): Response =>
    new Response(null, { status: 202, headers: { "retry-after": "5" } });
  await withReceiver(receive, async (origin) => {
    const thrown = await runOf({ url: origin, retry: [202] });

    assert.ok(thrown instanceof RetryLater);
    assert.equal(thrown.ms, 5000);
  });
});

Deno.test("http says that a downstream went well whose status is a success", async () => {
  await withReceiver(byPath, async (origin) => {
    const context = contextOf();
    const options = { url: `${origin}/404`, success: [404], downstream: "api" };
    await runOf(options, jobOf(), context);

    assert.deepEqual(context.uses, ["api true"]);
  });
});

Deno.test("http refuses lists that contradict each other", () => {
  const url = "https://example.com";
  assert.deepEqual(faultsOf(http, { url, success: [200, 404], retry: [404] }), [
    'Expected 404 in one of "success" and "retry"',
  ]);
  assert.deepEqual(faultsOf(http, { url, retry: [429] }), [
    'Expected no 429 in "retry": it says "later", and its jobs are deferred',
  ]);
  for (const status of [99, 199, 600, 200.5, "200", "1xx", null]) {
    assert.ok(faultsOf(http, { url, success: [status] }).length > 0, String(status));
  }
  assert.equal(faultsOf(http, { url, success: [] }).length, 1);
  assert.equal(faultsOf(http, { url, keep: "headers" }).length, 1);
});

Deno.test("http keeps the body of an answer, as far as 8 KiB of a text", async () => {
  const json = "application/json; charset=utf-8";
  const long = "\u00fc".repeat(5_000); // 10,000 bytes: the cut is between two characters
  const odd = `x${long}`; // and here within one
  const cases: readonly (readonly [string, string, unknown])[] = [
    [json, '{"id":7}', { status: 200, body: { id: 7 } }],
    [json, "null", { status: 200, body: null }],
    [json, "{", { status: 200, body: "{" }],
    ["text/plain", '{"id":7}', { status: 200, body: '{"id":7}' }],
    ["text/plain", "", { status: 200, body: "" }],
    ["text/plain", "1", { status: 200, body: "1" }],
    ["text/plain", "x".repeat(8_192), { status: 200, body: "x".repeat(8_192) }],
    ["text/plain", "x".repeat(8_193), { status: 200, body: "x".repeat(8_192), cut: true }],
    [json, `"${"x".repeat(9_000)}"`, { status: 200, body: `"${"x".repeat(8_191)}`, cut: true }],
    ["text/plain", long, { status: 200, body: "\u00fc".repeat(4_096), cut: true }],
    ["text/plain", odd, { status: 200, body: `x${"\u00fc".repeat(4_095)}`, cut: true }],
    ["image/png", "binary", { status: 200 }],
  ];
  for (const [type, body, wanted] of cases) {
    const receive = (): Response => new Response(body, { headers: { "content-type": type } });
    await withReceiver(receive, async (origin) => {
      assert.deepEqual(await runOf({ url: origin, keep: "body" }), wanted);
      assert.deepEqual(await runOf({ url: origin }), { status: 200 });
    });
  }
});

Deno.test("http keeps no secret that an answer repeats", async () => {
  const receive = ({ headers }: Request): Response =>
    Response.json({ sent: [headers.get("authorization"), "bad s3cret"], n: 1 });
  await withReceiver(receive, async (origin) => {
    const headers = { authorization: "Bearer s3cret" };

    assert.deepEqual(await runOf({ url: origin, keep: "body", headers }), {
      status: 200,
      body: { sent: ["[redacted]", "bad [redacted]"], n: 1 },
    });
  });
});

Deno.test("http is done with what has arrived when the body that it keeps takes too long", async () => {
  const receive = (): Response =>
    new Response(
      new ReadableStream<Uint8Array>({
        start: (stream) => stream.enqueue(new TextEncoder().encode("some")), // and never closes it
      }),
      { headers: { "content-type": "text/plain" } },
    );
  await withReceiver(receive, async (origin) => {
    const result = await runOf({ url: origin, keep: "body", timeoutMs: 100 });

    assert.deepEqual(result, { status: 200, body: "some", cut: true });
  });
});
