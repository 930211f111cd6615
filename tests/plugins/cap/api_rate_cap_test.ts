import assert from "node:assert/strict";
import fc from "fast-check";
import { apiRateCap, type ApiRateCapOptions } from "../../../plugins/cap/api_rate_cap.ts";
import { makeSummary, makeView } from "../../../src/testing/views.ts";
import type { Cap, Limit } from "../../../src/contract/strategy.ts";
import { faultsOf, make } from "../_make.ts";

function limit(options: ApiRateCapOptions): Limit {
  return make(apiRateCap, options)(makeView(), 100);
}

function seen(cap: Cap, serviceMs: number): Limit {
  return cap(makeView({ window: { serviceMs: makeSummary(serviceMs, 100) } }), 100);
}

Deno.test("apiRateCap bounds workers by 1.5 x rate x run time / calls per job, and one more", () => {
  assert.equal(limit({ callsPerSec: 100, serviceMs: 20 }).workers, 4);
  assert.equal(limit({ callsPerSec: 1000, serviceMs: 20 }).workers, 31);
  assert.equal(limit({ callsPerSec: 100, serviceMs: 280 }).workers, 43); // 42.00000000000001 in floats
  assert.equal(limit({ callsPerSec: 100, callsPerJob: 4, serviceMs: 100 }).workers, 5);
  assert.equal(limit({ callsPerSec: 30, serviceMs: 75 }).workers, 5); // C7: 2 were too few beside a reserve
  assert.equal(limit({ callsPerSec: 0.1, serviceMs: 1 }).workers, 2);
});

Deno.test("apiRateCap holds the rate that one worker alone would exceed, with headroom", () => { // case G3
  const { startsPerSec } = limit({ callsPerSec: 30, serviceMs: 20 });

  assert.equal(startsPerSec, 28.8);
  assert.equal(limit({ callsPerSec: 100, serviceMs: 20, headroom: 0 }).startsPerSec, 100);
  assert.equal(limit({ callsPerSec: 100, callsPerJob: 2, headroom: 0 }).startsPerSec, 50);
});

Deno.test("apiRateCap holds all its rates, and leaves 40 ms free in each", () => {
  const rates = [{ calls: 10, perMs: 1000 }, { calls: 80, perMs: 10_000, burst: 20 }];
  const slow = { starts: 80 - 80 * 0.04 * 1000 / 10_000, perMs: 10_000, burst: 20 };

  assert.deepEqual(limit({ rates }).rates, [{ starts: 9.6, perMs: 1000 }, slow]);
  assert.deepEqual(limit({ callsPerSec: 7, headroom: 0, rates: [{ calls: 20, perMs: 8000 }] }), {
    workers: Infinity,
    startsPerSec: 7,
    rates: [{ starts: 20, perMs: 8000 }],
    reason: "7 calls/s and 20 calls in 8 s at 1 a job: 2.5 starts/s",
  });
});

Deno.test("apiRateCap bounds workers by the rates of up to 10 s: a day's may be used up at once", () => {
  const perDay = { calls: 1000, perMs: 86_400_000 };

  assert.equal(limit({ callsPerSec: 10, rates: [perDay], serviceMs: 1000 }).workers, 16);
  assert.equal(limit({ rates: [{ calls: 10, perMs: 5000 }], serviceMs: 1000 }).workers, 4);
  assert.equal(limit({ rates: [perDay], serviceMs: 1000 }).workers, Infinity);
});

Deno.test("apiRateCap binds only the rate when no serviceMs is given", () => {
  const cap = make(apiRateCap, { callsPerSec: 100 });

  assert.deepEqual(seen(cap, 5000), {
    workers: Infinity,
    startsPerSec: 96,
    reason: "100 calls/s at 1 a job: 96 starts/s",
  });
});

Deno.test("apiRateCap does not rise when the API gets ten times slower", () => { // case G4
  const cap = make(apiRateCap, { callsPerSec: 100, serviceMs: 20 });

  assert.equal(seen(cap, 20).workers, 4);
  assert.equal(seen(cap, 200).workers, 4);
});

Deno.test("apiRateCap follows faster jobs down to what the rate needs, and back", () => {
  const cap = make(apiRateCap, { callsPerSec: 1000, serviceMs: 20 });

  assert.deepEqual(seen(cap, 8), {
    workers: 16, // 13 with a quarter of slack
    startsPerSec: 960,
    reason: "1000 calls/s at 1 a job and 8 ms seen: 16 workers, 960 starts/s",
  });
  assert.equal(seen(cap, 10).workers, 16);
  assert.equal(seen(cap, 12).workers, 19);
  assert.equal(seen(cap, 60).workers, 31);
  assert.equal(cap(makeView(), 100).workers, 31); // nothing ended in the window
});

Deno.test("apiRateCap does not flicker when the run time seen varies a little", () => {
  for (const serviceMs of [20, 9.9, 19.9, 5]) {
    const cap = make(apiRateCap, { callsPerSec: 100, serviceMs: 20 });
    const counts = [0, 1, 2, 3, 4, 5].map((index) =>
      seen(cap, serviceMs * (index % 2 === 0 ? 1.03 : 0.97)).workers
    );

    assert.equal(new Set(counts).size, 1, `${serviceMs} ms: ${counts}`);
  }
});

Deno.test("apiRateCap never exceeds the configured bound nor starves the rate, for any run times", () => {
  const time = fc.double({ min: 0.1, max: 1000, noNaN: true });
  fc.assert(fc.property(
    fc.double({ min: 1, max: 1000, noNaN: true }),
    time,
    fc.array(time, { minLength: 1 }),
    (callsPerSec, serviceMs, times) => {
      const cap = make(apiRateCap, { callsPerSec, serviceMs });
      const most = Math.ceil(1.5 * callsPerSec * serviceMs / 1000 - 1e-9) + 1;
      for (const seenMs of times) {
        const { workers } = seen(cap, seenMs);
        assert.ok(workers <= most);
        assert.ok(workers >= Math.min(most, callsPerSec * seenMs / 1000 - 1e-6));
      }
    },
  ));
});

Deno.test("apiRateCap says which figures decided", () => {
  assert.equal(
    limit({ callsPerSec: 100, serviceMs: 20 }).reason,
    "100 calls/s at 1 a job and 20 ms: 4 workers, 96 starts/s",
  );
});

Deno.test("apiRateCap holds over all processes unless told otherwise", () => {
  assert.equal(apiRateCap.scope, "cluster");
});

Deno.test("apiRateCap holds the rate of one lane, which says nothing of the workers", () => {
  const rates = [{ calls: 2, perMs: 1000, lane: "batch" }];

  assert.deepEqual(limit({ rates, serviceMs: 10, headroom: 0 }), {
    workers: Infinity,
    rates: [{ starts: 2, perMs: 1000, lane: "batch" }],
    reason: "2 calls/s of lane batch at 1 a job: 2 starts/s",
  });
  assert.throws(
    () => limit({ rates: [{ calls: 2, perMs: 1000, lane: "bulk" }] }),
    /Expected the name of a lane but received "bulk"/,
  );
});

Deno.test("apiRateCap wants a rate, and windows of a second to a day", () => {
  assert.throws(() => limit({}), /Expected callsPerSec, or rates/);
  const rates = [{ calls: 0, perMs: 999, burst: 0.5 }, { calls: 1, perMs: 86_400_001 }];
  assert.deepEqual(faultsOf(apiRateCap, { rates }), [
    "rates.0.calls: Invalid value: Expected >0 but received 0",
    "rates.0.perMs: Invalid value: Expected >=1000 but received 999",
    "rates.0.burst: Invalid value: Expected >=1 but received 0.5",
    "rates.1.perMs: Invalid value: Expected <=86400000 but received 86400001",
  ]);
});

Deno.test("apiRateCap refuses rates and times that are not above 0, and a headroom of all", () => {
  assert.deepEqual(
    faultsOf(apiRateCap, { callsPerSec: 0, callsPerJob: -1, serviceMs: 0, headroom: 1 }),
    [
      "callsPerSec: Invalid value: Expected >0 but received 0",
      "callsPerJob: Invalid value: Expected >0 but received -1",
      "serviceMs: Invalid value: Expected >0 but received 0",
      "headroom: Invalid value: Expected <1 but received 1",
    ],
  );
});
