import assert from "node:assert/strict";
import fc from "fast-check";
import {
  erlangB,
  erlangC,
  leastWorkers,
  meanWaitMs,
  offeredLoad,
  waitsBeyond,
} from "../../src/base/erlang.ts";

/** B = (a^c / c!) / sum of a^k / k! for k = 0 to c, as the definition has it. */
function byDefinition(workers: number, load: number): number {
  let term = 1;
  let sum = 1;
  for (let count = 1; count <= workers; count++) {
    term *= load / count;
    sum += term;
  }
  return term / sum;
}

Deno.test("erlangB() gives the figures of the published tables", () => {
  // Erlang B tables: the load in erlangs at which the given share is blocked.
  const table: readonly (readonly [workers: number, load: number, blocked: number])[] = [
    [1, 0.0101, 0.01],
    [2, 0.153, 0.01],
    [5, 1.36, 0.01],
    [10, 4.46, 0.01],
    [20, 12.0, 0.01],
    [50, 37.9, 0.01],
    [100, 84.1, 0.01],
    [5, 2.22, 0.05],
    [10, 6.22, 0.05],
    [20, 15.2, 0.05],
  ];
  for (const [workers, load, blocked] of table) {
    // The tables round the load to three digits.
    assert.ok(erlangB(workers, load * 0.995) < blocked, `B(${workers}, ${load})`);
    assert.ok(erlangB(workers, load * 1.005) > blocked, `B(${workers}, ${load})`);
  }
});

Deno.test("erlangB() agrees with its definition", () => {
  fc.assert(fc.property(
    fc.integer({ min: 0, max: 60 }),
    fc.double({ min: 0.01, max: 80, noNaN: true }),
    (workers, load) => {
      const expected = byDefinition(workers, load);
      assert.ok(Math.abs(erlangB(workers, load) - expected) <= 1e-9 * (1 + expected));
    },
  ));
});

Deno.test("erlangC() is the load itself with one worker, and the closed form with two", () => {
  // M/M/1: C = rho. M/M/2: C = 2 rho^2 / (1 + rho).
  for (const rho of [0.1, 0.5, 0.9]) {
    assert.ok(Math.abs(erlangC(1, rho) - rho) < 1e-12);
    assert.ok(Math.abs(erlangC(2, 2 * rho) - 2 * rho ** 2 / (1 + rho)) < 1e-12);
  }
});

Deno.test("erlangC() gives the textbook figure of a call center", () => {
  // 10 erlangs on 11 agents: C = 0.6821; on 14: 0.1741 (tables of the M/M/c queue).
  assert.ok(Math.abs(erlangC(11, 10) - 0.6821) < 5e-4, String(erlangC(11, 10)));
  assert.ok(Math.abs(erlangC(14, 10) - 0.1741) < 5e-4, String(erlangC(14, 10)));
});

Deno.test("erlangC() is 1, when the load is more than the workers carry", () => {
  assert.equal(erlangC(2, 2), 1);
  assert.equal(erlangC(2, 3), 1);
  assert.equal(erlangC(0, 0), 1);
});

Deno.test("waitsBeyond() falls from the share that waits, exponentially", () => {
  const queue = { workers: 1, load: 0.5, serviceMs: 20 };

  // M/M/1: P(W > t) = rho e^(-(1 - rho) t / S).
  assert.ok(Math.abs(waitsBeyond(queue, 0) - 0.5) < 1e-12);
  assert.ok(Math.abs(waitsBeyond(queue, 40) - 0.5 * Math.exp(-1)) < 1e-12);
  assert.equal(waitsBeyond({ ...queue, load: 1 }, 1e9), 1);
});

Deno.test("meanWaitMs() is the integral of waitsBeyond()", () => {
  const queue = { workers: 18, load: 16, serviceMs: 20 };
  let integral = 0;
  for (let ms = 0.05; ms < 1000; ms += 0.1) integral += waitsBeyond(queue, ms) * 0.1;

  assert.ok(Math.abs(meanWaitMs(queue) / integral - 1) < 1e-3);
  assert.equal(meanWaitMs({ ...queue, load: 18 }), Infinity);
});

Deno.test("leastWorkers() is the smallest count above the load", () => {
  assert.equal(offeredLoad(800, 20), 16);
  assert.equal(leastWorkers(16), 17);
  assert.equal(leastWorkers(15.2), 16);
  assert.equal(leastWorkers(0), 1);
});
