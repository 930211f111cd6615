import assert from "node:assert/strict";
import fc from "fast-check";
import { openCursor, sealCursor } from "../../../src/admin/api/cursor.ts";

const part = fc.option(fc.string({ unit: "binary" }).filter((text) => text.isWellFormed()), {
  nil: undefined,
});

Deno.test("openCursor() opens what sealCursor() made, for the same list only", () => {
  fc.assert(fc.property(fc.array(part, { maxLength: 4 }), fc.string(), (list, cursor) => {
    const sealed = sealCursor(list, cursor);

    assert.match(sealed, /^[\w-]+$/);
    assert.equal(openCursor(list, sealed), cursor);
    assert.equal(openCursor([...list, "more"], sealed), undefined);
  }));
});

Deno.test("openCursor() opens nothing else", () => {
  for (const other of ["", "17", "[]", "AAAA", "W10", "\u0000", "é", "x".repeat(10_000)]) {
    assert.equal(openCursor([], other), undefined, other);
  }
});

Deno.test("sealCursor() tells lists apart whose parts run together", () => {
  const sealed = sealCursor(["a b", undefined], "1");

  assert.equal(openCursor(["a", "b"], sealed), undefined);
  assert.equal(openCursor(["a", "b", undefined], sealed), undefined);
});
