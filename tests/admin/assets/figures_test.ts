import assert from "node:assert/strict";
import fc from "fast-check";
import * as client from "../../../src/admin/assets/figures.js";
import * as server from "../../../src/base/format.ts";

const Ms = fc.oneof(
  fc.double({ min: 0, max: 1e12, noNaN: true }),
  fc.double({ min: 0, max: 100_000, noNaN: true }),
  fc.constantFrom(999.5, 59_950, 3_599_500, 86_370_000),
);

Deno.test("Scripts and pages write durations, numbers and rates alike", () => {
  fc.assert(fc.property(Ms, fc.nat(), (value, count) => {
    assert.equal(client.duration(value), server.duration(value));
    assert.equal(client.rate(value), server.rate(value));
    assert.equal(client.grouped(value), server.grouped(value));
    assert.equal(client.grouped(count), server.grouped(count));
  }));
});

Deno.test("tick() has the one unit that suits an axis", () => {
  assert.deepEqual([0, 50, 1_500, 90_000, 7_200_000].map(client.tick), [
    ...["0 ms", "50 ms", "1.5 s", "1.5 min", "2 h"],
  ]);
});
