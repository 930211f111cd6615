import assert from "node:assert/strict";
import fc from "fast-check";
import { redactionOf, redactor, USUAL_REDACT } from "../../src/config/redaction.ts";

const HIDDEN = "[redacted]";

Deno.test("redactor() hides listed keys at any depth and in any case, whatever they hold", () => {
  const show = redactor(["token"]);

  const shown = show({ token: { a: 1 }, list: [{ TOKEN: null, kept: "token" }] });

  assert.deepEqual(shown, {
    token: "[redacted]",
    list: [{ TOKEN: "[redacted]", kept: "token" }],
  });
});

Deno.test("redactor() hides what a payload holds where a name of a field quotes it", () => {
  const show = redactor(["token"]);
  const payload = { token: "hunter22", user: "may" };

  const shown = show({ "for hunter22": 1, at: [{ hunter22: 2 }] }, payload);

  assert.deepEqual(shown, { "for [redacted]": 1, at: [{ "[redacted]": 2 }] });
});

Deno.test("redactor() hides passwords of addresses, in errors too", () => {
  const show = redactor([]);

  const shown = show({ url: "postgres://app:hunter2@db/x", why: new Error("no http://a:b@c/") });

  assert.deepEqual(shown, { url: "postgres://[redacted]@db/x", why: "no http://[redacted]@c/" });
});

Deno.test("redactor() leaves any JSON as it is, when no key is listed", () => {
  const show = redactor([]);

  fc.assert(fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
    assert.deepEqual(JSON.stringify(show(value)), JSON.stringify(value));
  }));
});

Deno.test("redactor() never shows a listed key's value", () => {
  const show = redactor(["secret"]);

  fc.assert(fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
    const shown = JSON.stringify(
      show({ around: [value, { secret: "hunter2" }, { secret: value }] }),
    );
    assert.equal(shown.includes("hunter2"), false);
  }));
});

Deno.test("redactor() gives what JSON can hold of what it could not", () => {
  const show = redactor([]);
  const circle: { self?: unknown; n: bigint } = { n: 5n };
  circle.self = circle;

  const shown = show({ circle, at: new Date(0), bad: new Date(NaN), error: new Error("no") });

  assert.deepEqual(shown, {
    circle: { n: "5", self: "[circular]" },
    at: "1970-01-01T00:00:00.000Z",
    bad: null,
    error: "no",
  });
});

Deno.test("redactor() ends, when a value is very deep or branches without end", () => {
  const show = redactor([]);
  let deep: unknown = 1;
  for (let level = 0; level < 50_000; level++) deep = [deep];
  let wide: unknown = 1;
  for (let level = 0; level < 60; level++) wide = [wide, wide];

  assert.match(JSON.stringify(show(deep)), /\[too deep\]/);
  assert.match(JSON.stringify(show(wide)), /\[cut\]/);
});

Deno.test("redactor() knows a listed name in any case and with any separators, and no longer one", () => {
  const show = redactor(["access_token"]);

  const shown = show({ accessToken: 1, "Access-Token": 1, "access token": 1, accessTokens: 1 });

  const hidden = { accessToken: HIDDEN, "Access-Token": HIDDEN, "access token": HIDDEN };
  assert.deepEqual(shown, { ...hidden, accessTokens: 1 });
});

Deno.test("redactionOf() hides usual secrets unless the config lists fields, and none with an empty list", () => {
  const secrets = Object.fromEntries(USUAL_REDACT.map((name) => [name, "hunter22"]));
  const show = (config: unknown): unknown => redactionOf(config).show({ ...secrets, email: "a@b" });

  assert.doesNotMatch(JSON.stringify(show({})), /hunter22/);
  assert.match(JSON.stringify(show({ redact: ["email"] })), /"email":"\[redacted\]"/);
  assert.match(JSON.stringify(show({ redact: ["email"] })), /"token":"hunter22"/);
  assert.match(JSON.stringify(show({ redact: [] })), /"token":"hunter22"/);
});

Deno.test("redactionOf() shows which variable of the environment a config names, and hides one of a payload", () => {
  const config = { admin: { alerts: { token: { env: "HOOK_TOKEN" } } } };
  const redaction = redactionOf(config);

  assert.deepEqual(redaction.show(config), config);
  assert.equal(redaction.hide("set HOOK_TOKEN"), "set HOOK_TOKEN");
  const payload = { token: { env: "hunter22" } };
  assert.deepEqual(redaction.show(payload, payload), { token: HIDDEN });
});

Deno.test("redactor() hides a value of one or two characters in its field only", () => {
  const show = redactor(["card"]);

  assert.deepEqual(show({ card: 7, said: "card 7 of 9" }), { card: HIDDEN, said: "card 7 of 9" });
});

for (
  const [said, shown] of [
    ['{"token": "abc", "ok": 1}', '{"token":"[redacted]", "ok": 1}'],
    ['{"token":"a\\"b"}', '{"token":"[redacted]"}'],
    ['{"ssn": 123456}', '{"ssn":"[redacted]"}'],
    ['cut at {"password": "hunt', 'cut at {"password":"[redacted]"'],
    ["GET /x?access_token=abc&page=2", "GET /x?access_token=[redacted]&page=2"],
    ["Unexpected token: a < b, x = y", "Unexpected token: a < b, x = y"],
    ["page=2", "page=2"],
  ] as const
) {
  Deno.test(`redactionOf() shows the text ${said} as ${shown}`, () => {
    const redaction = redactionOf({});

    assert.equal(redaction.hide(said), shown);
    assert.equal(redaction.hide(shown), shown);
  });
}
