import assert from "node:assert/strict";
import { http } from "../../../plugins/handler/http.ts";
import { Fatal } from "../../../src/contract/errors.ts";
import { runOf, withReceiver } from "./_receiver.ts";
import { faultsOf, handlerOf, jobOf } from "./_run.ts";

/** What is wrong with a payload, as its enqueuer hears it. */
function issuesOf(options: Record<string, unknown>, payload: unknown): readonly string[] {
  const result = handlerOf(http, options).payload?.["~standard"].validate(payload);
  assert.ok(!(result instanceof Promise));
  return (result?.issues ?? []).map(({ message, path = [] }) => `${path.join(".")}: ${message}`);
}

const from = (...allow: readonly string[]): Record<string, unknown> => ({
  url: { from: "payload.url", allow },
});

Deno.test("http takes URL, method and headers from the payload where its options say so", async () => {
  let seen: readonly unknown[] = [];
  const receive = (request: Request): Response => {
    const { headers, method, url } = request;
    seen = [method, new URL(url).pathname, headers.get("x-tenant"), headers.get("x-none")];
    return new Response(null, { status: 204 });
  };
  await withReceiver(receive, async (origin) => {
    const options = {
      url: { from: "payload.to.url", allow: [origin], privateAddresses: true },
      method: { from: "payload.how", allow: ["PUT", "GET"] },
      headers: { "x-tenant": { from: "payload.tenant" }, "x-none": { from: "payload.none" } },
    };
    const payload = { to: { url: `${origin}/a` }, how: "GET", tenant: 7 };

    assert.deepEqual(await runOf(options, jobOf({ payload })), { status: 204 });
    assert.deepEqual(seen, ["GET", "/a", "7", null]);
    await runOf(options, jobOf({ payload: { to: { url: `${origin}/b` } } }));
    assert.deepEqual(seen, ["PUT", "/b", null, null]);
  });
});

Deno.test("http refuses URLs that are not allowed when they are enqueued", () => {
  const options = from("https://*.example.com", "https://example.org", "https://api.test:8443");
  const good = [
    "https://a.example.com/x?y=1",
    "https://a.b.example.com",
    "HTTPS://EXAMPLE.ORG:443/",
    "https://api.test:8443/",
  ];
  for (const url of good) assert.deepEqual(issuesOf(options, { url }), [], url);
  const bad = [
    "https://example.com", // the pattern is for those below
    "https://xexample.com",
    "https://example.com.evil.com",
    "https://evil.com/.example.com",
    "https://evil.com#.example.com",
    "https://evil.com?a.example.com",
    "https://evil.com\\\\.example.com",
    "https:evil.com",
    "http://a.example.com",
    "https://a.example.com:444",
    "https://a.example.com.",
    "https://api.test",
    "https://a.example.com%2eevil.com",
    "ftp://a.example.com",
    "https://127.0.0.1",
  ];
  const wanted = "https://*.example.com, https://example.org, https://api.test:8443";
  for (const url of bad) {
    assert.deepEqual(issuesOf(options, { url }), [
      `url: Expected payload.url to be a URL of ${wanted}`,
    ], url);
  }
});

Deno.test("http refuses what is no URL, and one with a password", () => {
  const options = from("https://*");
  const none = "url: Expected payload.url to be a URL of at most 8192 characters";
  for (const url of [undefined, null, 7, "", "hook", "//example.com", ["https://example.com"]]) {
    assert.deepEqual(issuesOf(options, { url }), [none]);
  }
  assert.deepEqual(issuesOf(options, null), [none]);
  assert.deepEqual(issuesOf(options, { url: `https://example.com/${"x".repeat(8192)}` }), [none]);
  const named = "url: Expected payload.url to be a URL without a user name and a password";
  for (const url of ["https://u@example.com", "https://a.example.com:x@evil.com"]) {
    assert.deepEqual(issuesOf(options, { url }), [named]);
  }
});

Deno.test("http refuses methods and header values that cannot be", () => {
  const options = {
    url: "https://example.com",
    method: { from: "payload.method", allow: ["PUT", "DELETE"] },
    headers: { "x-a": { from: "payload.a" } },
  };
  assert.deepEqual(issuesOf(options, { method: "POST" }), [
    "method: Expected payload.method to be one of PUT, DELETE",
  ]);
  for (const a of ["a\r\nb: c", "\u0000", "\u20ac", {}, true]) {
    assert.deepEqual(issuesOf(options, { a }), [
      "a: Expected payload.a to be a header value: a number or one line of Latin-1",
    ]);
  }
  assert.deepEqual(issuesOf(options, undefined), []);
});

Deno.test("http connects to no private address that a payload names, in whatever form", async () => {
  let asked = 0;
  const receive = (): Response => {
    asked++;
    return new Response(null);
  };
  await withReceiver(receive, async (origin) => {
    const { port } = new URL(origin);
    const hosts = ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "0177.0.0.1", "127.1"];
    hosts.push("0", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "169.254.169.254");
    for (const host of hosts) {
      const url = `http://${host}:${port}/`;
      const thrown = await runOf(from(`http://*:${port}`), jobOf({ payload: { url } }));

      assert.ok(thrown instanceof Fatal, String(thrown));
      assert.match(thrown.message, /^http:\S+ is at a private or local address/);
    }
  });
  assert.equal(asked, 0);
});

Deno.test("http gives a job up whose payload no longer fits", async () => {
  const thrown = await runOf(from("https://example.com"), jobOf({ payload: { url: "http://x" } }));

  assert.ok(thrown instanceof Fatal);
  assert.equal(thrown.message, "Expected payload.url to be a URL of https://example.com");
});

Deno.test("http has no payload schema where nothing comes from the payload", () => {
  assert.equal(handlerOf(http, { url: "https://example.com" }).payload, undefined);
});

Deno.test("http refuses patterns, fields and headers that cannot work", () => {
  const pattern =
    'Expected where to, without a path, such as "https://example.com" or "https://*.example.com"';
  const bad = ["*", "https://", "https://*example.com", "https://a.*.com", "https://example.com/x"];
  bad.push("https://u@example.com", "https://*:x", "ftp://example.com", "https://a b");
  for (const allow of bad) assert.deepEqual(faultsOf(http, from(allow)), [pattern], allow);
  assert.equal(faultsOf(http, from()).length, 1);
  assert.deepEqual(faultsOf(http, { url: { from: "url", allow: ["https://*"] } }), [
    'Expected a field of the payload such as "payload.url"',
  ]);
  for (const name of ["Host", "content-length"]) {
    assert.deepEqual(faultsOf(http, { url: "https://example.com", headers: { [name]: "x" } }), [
      "Expected a header that the request does not set itself",
    ]);
  }
});
