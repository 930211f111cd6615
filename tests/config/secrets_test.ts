import assert from "node:assert/strict";
import { hideSecrets, isEnvRef } from "../../src/config/secrets.ts";
import { errorOf, pool, resolveObject } from "./_bench.ts";

Deno.test("isEnvRef() is true for exactly one key env with a text", () => {
  assert.ok(isEnvRef({ env: "NAME" }));
  for (const other of [{ env: 1 }, { env: "A", b: 1 }, {}, "env", null, [{ env: "A" }]]) {
    assert.ok(!isEnvRef(other));
  }
});

Deno.test("readSecret() says why a variable cannot be read, and keeps the cause", async () => {
  const handler = { use: "post", with: { url: { env: "URL" } } };
  const denied = new Deno.errors.NotCapable('Requires env access to "URL"');
  const env = (): never => {
    throw denied;
  };

  const error = await errorOf(resolveObject({ pools: { mail: pool({ handler }) } }, { env }));

  assert.equal(
    error.message,
    '/pools/mail/handler/with/url: Cannot read the environment variable "URL": Requires env access to "URL"',
  );
  assert.equal(error.cause, denied);
});

Deno.test("hideSecrets() hides all of them, the longest first, and nothing for an empty one", () => {
  assert.equal(hideSecrets("ab abc ab", ["ab", "abc", ""]), "*** *** ***");
  assert.equal(hideSecrets('as JSON: "a\\"b"', ['a"b']), 'as JSON: "***"');
  assert.equal(hideSecrets("nothing here", ["", "x"]), "nothing here");
});
