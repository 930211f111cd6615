import assert from "node:assert/strict";
import fc from "fast-check";
import { apportion, divide, isNews } from "../../src/planning/permits.ts";

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

Deno.test("apportion() divides between pools first, whatever their number of processes", () => {
  const claims = ["a", "a", "a", "b"].map((pool) => ({ pool, wants: 20, step: 1 }));

  assert.deepEqual(apportion(20, claims), [4, 3, 3, 10]);
});

Deno.test("apportion() gives whole steps, and what is left of one to another", () => {
  const claims = (...steps: number[]): Parameters<typeof apportion>[1] =>
    steps.map((step, index) => ({ pool: `${index}`, wants: 4 * step, step }));

  assert.deepEqual(apportion(5, claims(2, 3)), [2, 3]);
  assert.deepEqual(apportion(2, claims(2, 2)), [2, 0]);
  assert.deepEqual(apportion(10, claims(3, 2)), [6, 4]);
  assert.deepEqual(apportion(1, claims(3)), [0]);
});

Deno.test("apportion() of one pool in steps of one is divide()", () => {
  const wants = fc.array(fc.nat(60), { minLength: 1, maxLength: 8 });
  fc.assert(fc.property(fc.nat(100), wants, (cap, wants) => {
    const claims = wants.map((wants) => ({ pool: "", wants, step: 1 }));

    assert.deepEqual(apportion(cap, claims), divide(cap, wants));
  }));
});

Deno.test("apportion() never exceeds the cap, and leaves no whole step unused that somebody wants", () => {
  const claims = fc.array(
    fc.record({
      pool: fc.constantFrom("a", "b", "c"),
      wants: fc.nat(12),
      step: fc.integer({ min: 1, max: 4 }),
    }).map(({ pool, wants, step }) => ({ pool, wants: wants * step, step })),
    { minLength: 1, maxLength: 8 },
  );
  fc.assert(fc.property(fc.nat(60), claims, (cap, claims) => {
    const parts = apportion(cap, claims);
    const left = cap - parts.reduce((sum, part) => sum + part, 0);

    assert.ok(left >= 0);
    claims.forEach(({ wants, step }, index) => {
      assert.equal(parts[index]! % step, 0);
      assert.ok(parts[index]! >= wants || step > left);
    });
  }));
});
