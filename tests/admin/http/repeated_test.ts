import assert from "node:assert/strict";
import fc from "fast-check";
import { repeatedField } from "../../../src/admin/http/repeated.ts";
import { problemOf, running } from "../_app.ts";

function found(text: string): string | undefined {
  return repeatedField(text, JSON.parse(text));
}

Deno.test("repeatedField() names the field that an object has twice, however it is written", () => {
  assert.equal(found('{"a":1,"a":2}'), "a");
  assert.equal(found('[{"x":{"b" : 1, "c":":\\"{", "\\u0062":2}}]'), "b");
  assert.equal(found('{"__proto__":1,"__proto__":2}'), "__proto__");
  assert.equal(found('[{"a":1},{"a":{"a":"\\"a\\":"}}]'), undefined);
  assert.equal(found("[".repeat(100_000) + "]".repeat(100_000)), undefined);
});

Deno.test("repeatedField() finds nothing in what JSON.stringify writes", () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => {
    assert.equal(found(JSON.stringify(value)), undefined);
  }));
});

Deno.test("A body with a field twice is refused, on every route that takes one", async () => {
  await using system = await running();
  for (const path of ["/api/pools/mail/jobs", "/api/pools/mail/pause", "/api/reload"]) {
    for (const length of [{}, { "content-length": "29" }]) {
      const response = await system.app.request(path, {
        method: "POST",
        headers: { "content-type": "application/json", ...length },
        body: '{"lane":"full","lane":"batch"}',
      });

      const { status, detail } = await problemOf(response);
      assert.deepEqual(
        [status, detail],
        [400, 'The field "lane" is given twice: give it once'],
        path,
      );
    }
  }
});
