import assert from "node:assert/strict";
import fc from "fast-check";
import { signatureOf } from "../../src/base/signature.ts";

for (
  const [first, second] of [
    ["no user 17", "no user 4,200,000"],
    ['The payload at "a" is too long', 'The payload at "b \\" c" is too long'],
    [
      "Order 3f2504e0-4f89-41d3-9a0c-0305e82c3301 is gone",
      "Order 00000000-0000-0000-0000-000000000000 is gone",
    ],
    ["mail-1k3f9x2a not found", "mail-9z8y7x6w not found"],
    ["to ann@example.com: full", "to bob.x@mail.example.org: full"],
    ["took 12.5 ms at 10:33:02", "took 3 ms at 09:01:59"],
    ["can't find 'a b'", "can't find 'c'"],
    ["https://x.example/hook answered 500: id 7", "https://x.example/hook answered 500: id 8"],
  ] as const
) {
  Deno.test(`signatureOf() is the same for ${first} and ${second}`, () => {
    assert.equal(signatureOf(first), signatureOf(second));
    assert.notEqual(signatureOf(first), first);
  });
}

for (
  const [first, second] of [
    ["https://x.example/a answered 500", "https://x.example/a answered 404"],
    ["can't reach db", "can't reach cache"],
    ["No route to host", "Connection reset"],
  ] as const
) {
  Deno.test(`signatureOf() tells ${first} from ${second}`, () => {
    assert.notEqual(signatureOf(first), signatureOf(second));
  });
}

Deno.test("signatureOf() is short for any text, and that of itself", () => {
  fc.assert(fc.property(fc.string({ maxLength: 3_000, unit: "binary" }), (text) => {
    const signature = signatureOf(text);
    assert.ok(signature.length <= 403 && signatureOf(text) === signature);
  }));
  for (
    const text of [
      '"'.repeat(20_000),
      "a1".repeat(10_000),
      "1.".repeat(10_000),
      "a@".repeat(9_999),
      " ".repeat(20_000),
    ]
  ) {
    assert.ok(signatureOf(text).length <= 200);
  }
});
