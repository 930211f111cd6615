import assert from "node:assert/strict";
import { http } from "../../../plugins/handler/http.ts";
import { Fatal } from "../../../src/contract/errors.ts";
import { runOf, withReceiver } from "./_receiver.ts";
import { faultsOf, handlerOf, jobOf } from "./_run.ts";

/** What a receiver was sent. */
interface Sent {
  readonly text: string;
  readonly headers: Headers;
}

/** Runs one job and hears what was sent. */
async function sentBy(options: Record<string, unknown>, job = jobOf()): Promise<Sent> {
  const sent: Sent[] = [];
  const receive = async (request: Request): Promise<Response> => {
    sent.push({ text: await request.text(), headers: request.headers });
    return new Response(null, { status: 204 });
  };
  await withReceiver(receive, async (origin) => {
    assert.deepEqual(await runOf({ url: origin, ...options }, job), { status: 204 });
  });
  const [first] = sent;
  assert.ok(first !== undefined);
  return first;
}

/** HMAC of a text, by the platform itself. */
async function hmac(secret: Uint8Array<ArrayBuffer>, text: string): Promise<string> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", secret, algorithm, false, ["sign"]);
  const bytes = new TextEncoder().encode(text);
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes)).toBase64();
}

/** Whether a signature holds. */
async function holds({ text, headers }: Sent, secret: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const signed = `${headers.get("webhook-id")}.${headers.get("webhook-timestamp")}.${text}`;
  return headers.get("webhook-signature") === `v1,${await hmac(secret, signed)}`;
}

const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

Deno.test("http fills fields of the job into its body", async () => {
  const payload = {
    order: { id: 17, lines: [{ sku: "a" }], note: null },
    name: 'Ann "$&" {{job.id}}\n',
  };
  const body = {
    text: "Order {{payload.order.id}} of {{ payload.name }}: {{payload.order}}, {{payload.none}}",
    id: "{{job.id}}",
    attempt: "{{job.attempt}}",
    lane: "{{job.lane}}/{{job.type}}",
    key: "{{job.key}}",
    order: "{{payload.order}}",
    note: "{{payload.order.note}}",
    none: "{{payload.none}}",
    inherited: "{{payload.constructor}}",
    list: ["{{payload.order.lines.0.sku}}", "{{payload.none}}", 1, true, null],
  };
  const { text, headers } = await sentBy({ body }, jobOf({ payload, attempt: 3, key: "k" }));

  assert.equal(headers.get("content-type"), "application/json");
  assert.deepEqual(JSON.parse(text), {
    text: `Order 17 of ${payload.name}: ${JSON.stringify(payload.order)}, `,
    id: "mail-1",
    attempt: 3,
    lane: "urgent/",
    key: "k",
    order: payload.order,
    note: null,
    list: ["a", null, 1, true, null],
  });
});

Deno.test("http sends any JSON as its body, and with GET none", async () => {
  for (const body of [null, 0, "", "x", [], {}, "x".repeat(8_192), "x".repeat(300_000)]) {
    assert.equal((await sentBy({ body })).text, JSON.stringify(body));
  }
  assert.equal((await sentBy({ body: "{{payload.none}}" })).text, "null");
  const { text, headers } = await sentBy({ method: "GET" });
  assert.deepEqual([text, headers.get("content-type")], ["", null]);
});

Deno.test("http refuses a body that names no field, or is never sent", () => {
  const url = "https://example.com";
  const wanted =
    "Expected fields such as {{payload}}, {{payload.order.id}}, {{job.id}} or {{job.attempt}}";
  for (const body of ["{{id}}", ["{{job.payload}}"], { a: "{{payload.}}" }, "{{payload", "{{}}"]) {
    assert.deepEqual(faultsOf(http, { url, body }), [wanted], JSON.stringify(body));
  }
  const none = "Expected no body with the method GET, which sends none";
  const dynamic = { from: "payload.m", allow: ["GET"] };
  assert.deepEqual(faultsOf(http, { url, method: "GET", body: {} }), [none]);
  assert.deepEqual(faultsOf(http, { url, method: dynamic, body: {} }), [none]);
});

Deno.test("http signs as Standard Webhooks does", async () => {
  const key = crypto.getRandomValues(new Uint8Array(24));
  const long = { text: "x".repeat(8_192) };
  for (const payload of [null, 1, long, { to: "für" }]) {
    const sent = await sentBy({ sign: { secret: `whsec_${key.toBase64()}` } }, jobOf({ payload }));

    assert.ok(await holds(sent, key));
    assert.equal(sent.headers.get("webhook-id"), sent.headers.get("idempotency-key"));
    const ageMs = Date.now() - 1000 * Number(sent.headers.get("webhook-timestamp"));
    assert.ok(ageMs >= 0 && ageMs < 60_000, `${ageMs}`);
  }
  const plain = await sentBy({ sign: { secret: "plain" }, body: { id: "{{job.id}}" } });
  assert.ok(await holds(plain, bytes("plain")));
  assert.ok(!await holds(plain, bytes("other")));
  assert.ok(await holds(await sentBy({ sign: { secret: "s" }, method: "GET" }), bytes("s")));
});

// The example of the specification (standard-webhooks/standard-webhooks, libraries/javascript).
Deno.test("http signs the example of Standard Webhooks as that says", async () => {
  const { signatureHeaders } = await import("../../../plugins/handler/_sign.ts");
  const headers = await signatureHeaders("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", {
    id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
    atMs: 1614265330_000,
    body: '{"test": 2432232314}',
  });

  assert.equal(headers["webhook-signature"], "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
});

Deno.test("http signs with the secret for where a request goes, and sends none unsigned", async () => {
  const sent: Sent[] = [];
  const receive = async (request: Request): Promise<Response> => {
    sent.push({ text: await request.text(), headers: request.headers });
    return new Response(null);
  };
  await withReceiver(receive, async (origin) => {
    const url = { from: "payload.url", allow: [origin, "https://*"], privateAddresses: true };
    const job = jobOf({ payload: { url: origin } });
    const by = { "https://*.example.com": "their", [origin]: "own" };

    await runOf({ url, sign: { secrets: by, secret: "all" } }, job);
    await runOf({ url, sign: { secrets: { "https://example.com": "x" }, secret: "all" } }, job);
    const [first, second] = sent;
    assert.ok(first !== undefined && await holds(first, bytes("own")));
    assert.ok(second !== undefined && await holds(second, bytes("all")));

    const lacking = { url, sign: { secrets: by } };
    const payload = { url: "https://other.com" };
    const issues = handlerOf(http, lacking).payload?.["~standard"].validate(payload);
    assert.ok(!(issues instanceof Promise));
    assert.deepEqual(issues?.issues?.map(({ message }) => message), [
      'Expected payload.url to be a URL that "sign" has a secret for',
    ]);
    assert.ok(await runOf(lacking, jobOf({ payload })) instanceof Fatal);
  });
  assert.equal(sent.length, 2);
});

Deno.test("http refuses secrets that cannot be", () => {
  const url = "https://example.com";
  for (const secret of ["", "whsec_", "whsec_%"]) {
    assert.deepEqual(faultsOf(http, { url, sign: { secret } }), [
      'Expected a secret: a text, or "whsec_" and Base64',
    ]);
  }
  assert.deepEqual(faultsOf(http, { url, sign: {} }), [
    'Expected a "secret", or "secrets" by URL',
  ]);
  assert.deepEqual(faultsOf(http, { url, sign: { secret: "a", secrets: { [url]: "b" } } }), [
    'Expected "secret" rather than "secrets": the options have one URL',
  ]);
});

Deno.test("http tells no key of its body, nor its secret, when the receiver repeats what it was sent", async () => {
  const key = "sk_live_0123456789abcdef";
  const receive = async (request: Request): Promise<Response> =>
    new Response(await request.text(), { status: 400 });
  await withReceiver(receive, async (origin) => {
    const thrown = await runOf({
      url: origin,
      body: { apiKey: key, kind: "order" },
      sign: { secret: key },
    });

    assert.ok(thrown instanceof Fatal);
    assert.equal(
      thrown.message,
      `${origin} answered 400: {"apiKey":"[redacted]","kind":"order"}`,
    );
  });
});
