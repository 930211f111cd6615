import assert from "node:assert/strict";
import fc from "fast-check";
import { redactor } from "../../src/config/redaction.ts";

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
