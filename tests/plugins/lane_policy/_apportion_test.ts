import assert from "node:assert/strict";
import fc from "fast-check";
import { apportion } from "../../../plugins/lane_policy/_apportion.ts";

const shares = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 8 });
const workers = fc.nat(200);

Deno.test("apportion() gives the shares themselves when there are as many workers", () => {
  fc.assert(fc.property(shares, (given) => {
    const sum = given.reduce((total, share) => total + share, 0);
    assert.deepEqual(apportion(sum, given), given);
  }));
});

Deno.test("apportion() gives out every worker, at least one each", () => {
  fc.assert(fc.property(workers, shares, (count, given) => {
    fc.pre(count >= given.length);
    const seats = apportion(count, given);
    assert.equal(seats.reduce((total, share) => total + share, 0), count);
    assert.ok(seats.every((share) => share >= 1));
  }));
});

Deno.test("apportion() never gives a larger share less than a smaller one when there are enough", () => {
  fc.assert(fc.property(workers, shares, (count, given) => {
    fc.pre(count >= given.length);
    const seats = apportion(count, given);
    for (const [index, share] of given.entries()) {
      for (const [other, otherShare] of given.entries()) {
        if (share > otherShare) assert.ok(seats[index]! >= seats[other]!);
      }
    }
  }));
});

Deno.test("apportion() stays within one of the exact proportion when no lane needs its least one", () => {
  fc.assert(fc.property(workers, shares, (count, given) => {
    const sum = given.reduce((total, share) => total + share, 0);
    fc.pre(given.every((share) => share * count >= sum));
    const seats = apportion(count, given);
    for (const [index, share] of given.entries()) {
      assert.ok(Math.abs(seats[index]! - share * count / sum) < 1);
    }
  }));
});

Deno.test("apportion() gives the odd worker to the largest remainder, of two alike to the higher lane", () => {
  assert.deepEqual(apportion(5, [2, 8]), [1, 4]);
  assert.deepEqual(apportion(11, [2, 8]), [2, 9]); // 2.2 and 8.8
  assert.deepEqual(apportion(13, [2, 8]), [3, 10]); // 2.6 and 10.4
  assert.deepEqual(apportion(3, [1, 1]), [2, 1]);
});
