import assert from "node:assert/strict";
import fc from "fast-check";
import { divide, isNews } from "../../src/planning/permits.ts";

Deno.test("divide() gives to each what it wants while there is enough, and the rest evenly", () => {
  assert.deepEqual(divide(10, [1, 3]), [4, 6]);
  assert.deepEqual(divide(10, [0, 0, 0]), [4, 3, 3]);
  assert.deepEqual(divide(0, [5, 5]), [0, 0]);
  assert.deepEqual(divide(3, []), []);
});

Deno.test("divide() gives the greatest least part where there is too little", () => {
  assert.deepEqual(divide(10, [1, 20, 20]), [1, 5, 4]);
  assert.deepEqual(divide(1, [5, 5]), [1, 0]);
});

Deno.test("divide() hands out all there is, and nobody gets less than a fair part that it wants", () => {
  const wants = fc.array(fc.nat(60), { minLength: 1, maxLength: 8 });
  fc.assert(fc.property(fc.nat(100), wants, (cap, wants) => {
    const parts = divide(cap, wants);

    assert.equal(parts.reduce((sum, part) => sum + part, 0), cap);
    const fair = Math.floor(cap / wants.length);
    parts.forEach((part, index) => assert.ok(part >= Math.min(fair, wants[index]!)));
  }));
});

Deno.test("isNews() is true for a change by a quarter, 1 at least", () => {
  assert.deepEqual(
    [isNews(0, 1), isNews(4, 4), isNews(4, 5), isNews(20, 24), isNews(20, 15)],
    [true, false, true, false, true],
  );
});
