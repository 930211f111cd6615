import assert from "node:assert/strict";
import fc from "fast-check";
import { randomStream } from "../../src/base/random.ts";
import { StartRates } from "../../src/runtime/start_rates.ts";
import { windowOf } from "../../src/planning/start_window.ts";
import type { StartLimit } from "../../src/contract/strategy.ts";
import { assertRate, mostInASecond, mostWithin } from "../_rate.ts";

/** Rates of windows that no ledger has to hold. */
function makeRates(): StartRates {
  return new StartRates(() => assert.fail("no ledger"));
}

/** Holds this many a second. */
function hold(rate: StartRates, perSec: number): void {
  rate.set([{ key: "r", limit: { starts: perSec, perMs: 1000 }, by: "whole" }]);
}

function holdAll(rate: StartRates, limits: readonly StartLimit[]): void {
  rate.set(limits.map((limit, index) => ({ key: `r${index}`, limit, by: "whole" })));
}

/** Starts as many as allowed at each time; the stamps. @param jumps They are of the highest lane. */
function play(rate: StartRates, times: readonly number[], wanted: number, jumps = true): number[] {
  const stamps: number[] = [];
  for (const atMs of times) {
    for (let left = rate.allowed(atMs, wanted, jumps); left > 0; left--) {
      rate.stamp(atMs, "l");
      stamps.push(atMs);
    }
  }
  return stamps;
}

/** Rates of all sizes alike, starts per second. */
const rates = fc.double({ min: Math.log(0.01), max: Math.log(1000), noNaN: true }).map(Math.exp);

// B6
Deno.test("StartRate never lets more than N = ceil(rate) start in N / rate seconds, nor in one", () => {
  const gaps = fc.array(fc.double({ min: 0, max: 0.4, noNaN: true }), {
    minLength: 50,
    maxLength: 200,
  });
  const headroom = fc.double({ min: 0, max: 0.04, noNaN: true });
  fc.assert(
    fc.property(rates, headroom, gaps, fc.nat(50), (perSec, headroom, gaps, wanted) => {
      const rate = makeRates();
      const held = perSec * (1 - headroom);
      hold(rate, held);
      const unitMs = Math.max(1000, 1000 / perSec);
      let nowMs = 1.7e12;
      const stamps = play(rate, gaps.map((gap) => nowMs += gap * unitMs), wanted);

      assertRate(stamps, held);
      assertRate(stamps, perSec);
    }),
    { numRuns: 300 },
  );
});

// B6
for (const jumps of [true, false]) {
  const whose = jumps ? "the highest lane" : "others";
  Deno.test(`StartRate is used in full by ${whose} at any rate, with fractions, by timers that are late`, () => {
    const lateness = fc.array(fc.double({ min: 0, max: 15, noNaN: true }), { minLength: 7 });
    fc.assert(
      fc.property(rates, lateness, (perSec, lateness) => {
        const rate = makeRates();
        hold(rate, perSec);
        const fromMs = 1.7e12;
        const endMs = fromMs + Math.max(20_000, 200_000 / perSec);
        const stamps: number[] = [];
        for (let nowMs = fromMs, turn = 0; nowMs < endMs; turn++) {
          assert.ok(
            rate.allowed(nowMs, 1, jumps) === 1,
            `the time that nextAtMs() names, ${nowMs}`,
          );
          for (let left = rate.allowed(nowMs, 50, jumps); left > 0; left--) {
            rate.stamp(nowMs, "l");
            stamps.push(nowMs);
          }
          nowMs = Math.max(nowMs, rate.nextAtMs(nowMs, 1, jumps)) +
            (turn % 50 === 0 ? lateness[turn % lateness.length]! : 0);
        }

        assertRate(stamps, perSec);
        const share = stamps.length * 1000 / (endMs - fromMs) / perSec;
        assert.ok(share >= 0.99, `${share} of ${perSec} a second`);
      }),
      { numRuns: 100 },
    );
  });
}

// C6
Deno.test("StartRate makes a job of the highest lane wait an interval at most, whatever others wait", () => {
  fc.assert(
    fc.property(
      rates,
      fc.double({ min: 0, max: 0.04, noNaN: true }),
      fc.nat(),
      (calls, headroom, seed) => {
        const perSec = calls * (1 - headroom);
        const rate = makeRates();
        hold(rate, perSec);
        const random = randomStream(seed, "urgent");
        const intervalMs = 1000 / perSec;
        const endMs = 1.7e12 + 300 * intervalMs;
        const stamps: number[] = [];
        let urgentAtMs = 1.7e12 + random() * 20 * intervalMs;
        let longestMs = 0;
        for (let nowMs = 1.7e12; nowMs < endMs;) {
          const isUrgent = urgentAtMs <= nowMs;
          if (rate.allowed(nowMs, 1, isUrgent) === 1) {
            rate.stamp(nowMs, "l");
            stamps.push(nowMs);
            if (!isUrgent) continue;
            longestMs = Math.max(longestMs, nowMs - urgentAtMs);
            urgentAtMs = nowMs + (5 + random() * 10) * intervalMs; // none waits ahead of it
            continue;
          }
          nowMs = Math.min(
            rate.nextAtMs(nowMs, 1, isUrgent),
            isUrgent ? Infinity : Math.max(nowMs, urgentAtMs),
          );
        }

        assertRate(stamps, perSec);
        assert.ok(longestMs <= 1.001 * intervalMs + 20, `${longestMs} ms at ${perSec} a second`);
      },
    ),
    { numRuns: 200 },
  );
});

Deno.test("windowOf() says a rate as whole starts", () => {
  assert.deepEqual(windowOf({ starts: 30, perMs: 1000 }), { starts: 30, perMs: 1000 });
  assert.deepEqual(windowOf({ starts: 2.5, perMs: 1000 }), { starts: 3, perMs: 1200 });
  assert.deepEqual(windowOf({ starts: 0.01, perMs: 1000 }), { starts: 1, perMs: 100_000 });
  assert.deepEqual(windowOf({ starts: 28.999999999999996, perMs: 1000 }), {
    starts: 29,
    perMs: 1000,
  });
});

Deno.test("StartRate is used in full while work waits", () => {
  const rate = makeRates();
  hold(rate, 30);
  const times = Array.from({ length: 10_000 }, (_, index) => index);

  assert.equal(play(rate, times, 99).length, 300);
});

Deno.test("StartRate lets the highest lane start all at once after a pause, and then keeps the pace", () => {
  const rate = makeRates();
  hold(rate, 100);
  assert.equal(play(rate, [0], 200).length, 100);
  const times = Array.from({ length: 1_000 }, (_, index) => 1_000 + index);
  const stamps = play(rate, times, 200);

  assert.equal(stamps.length, 100);
  assert.deepEqual(stamps.slice(0, 5), [1_000, 1_000, 1_000, 1_010, 1_020]); // late by 20 ms
  assert.equal(play(rate, [4_000], 200).length, 100); // and again after another
});

Deno.test("StartRate lets lower lanes keep the pace after a pause too, late by 20 ms", () => {
  const rate = makeRates();
  hold(rate, 100);
  const times = Array.from({ length: 1_000 }, (_, index) => index);
  const stamps = play(rate, times, 200, false);

  assert.deepEqual(stamps.slice(0, 5), [0, 0, 0, 10, 20]);
  assert.equal(play(rate, [4_000], 200, false).length, 3);
  assert.equal(play(rate, [4_000], 200).length, 97); // what they left is the highest lane's
});

// To be due by 0 or by the old pace would let a burst through, or hold all for as long as 100 s.
Deno.test("StartRate keeps another pace from the last start on", () => {
  const rate = makeRates();
  hold(rate, 0.01);
  rate.stamp(1_000, "l");
  hold(rate, 100);
  assert.ok(Math.abs(rate.nextAtMs(1_001, 1, false) - 1_010) < 0.01);
  play(rate, [2_000], 50);
  assert.equal(rate.nextAtMs(2_000, 1, false), 2_480);
  hold(rate, 50);
  assert.equal(rate.nextAtMs(2_000, 1, false), 3_000); // by the window
});

Deno.test("StartRate allows what it says will be allowed, and when", () => {
  const perSec = fc.double({ min: 1, max: 300, noNaN: true });
  const gaps = fc.array(fc.double({ min: 0, max: 40, noNaN: true }), {
    minLength: 20,
    maxLength: 200,
  });
  const property = fc.property(
    perSec,
    gaps,
    fc.nat(20),
    fc.boolean(),
    (perSec, gaps, wanted, jumps) => {
      const rate = makeRates();
      hold(rate, perSec);
      let nowMs = 1e12;
      play(rate, gaps.map((gap) => nowMs += gap), wanted);
      const soonMs = nowMs + 300;
      const foreseen = rate.by(soonMs, nowMs, 50, jumps);
      const times = Array.from(
        { length: foreseen },
        (_, index) => rate.nextAtMs(nowMs, index + 1, jumps),
      );
      const stamps: number[] = [];
      for (const atMs of times) {
        if (rate.allowed(atMs, 1, jumps) === 0) break;
        rate.stamp(atMs, "l");
        stamps.push(atMs);
      }

      assert.equal(stamps.length, foreseen);
      assert.ok(stamps.every((atMs) => atMs <= soonMs));
    },
  );
  fc.assert(property);
});

Deno.test("StartRate below one a second keeps starts apart", () => {
  const rate = makeRates();
  hold(rate, 0.5);
  const times = Array.from({ length: 100 }, (_, index) => index * 100);

  assert.deepEqual(play(rate, times, 9), [0, 2000, 4000, 6000, 8000]);
});

Deno.test("StartRate holds a fast rate with few stamps", () => {
  const rate = makeRates();
  hold(rate, 45_000);
  const times = Array.from({ length: 30_000 }, (_, index) => index / 10);
  const stamps = play(rate, times, 9000);

  assert.ok(mostInASecond(stamps) <= 45_000);
  assert.ok(stamps.length >= 130_000, `${stamps.length}`);
});

Deno.test("StartRate counts earlier starts against a new rate", () => {
  const rate = makeRates();
  hold(rate, 10);
  assert.equal(play(rate, [0], 99).length, 10);
  hold(rate, 20);
  assert.equal(play(rate, [500], 99).length, 10);
  hold(rate, 5);
  assert.equal(rate.allowed(1200, 99, true), 0);
  assert.equal(rate.nextAtMs(1200, 1, true), 1500);
  assert.equal(rate.allowed(1500, 99, true), 1);
});

Deno.test("StartRate remembers its starts while it is slower, or 0", () => {
  const rate = makeRates();
  hold(rate, 10);
  assert.equal(play(rate, [0], 99).length, 10);
  hold(rate, 0);
  hold(rate, 3);
  assert.deepEqual([rate.allowed(999, 9, true), rate.allowed(1000, 9, true)], [0, 1]);
  assert.deepEqual([rate.used("r", 999, 1000), rate.used("r", 1000, 1000)], [10, 0]);
  hold(rate, 10);
  assert.equal(rate.allowed(999, 99, true), 0);
});

Deno.test("StartRate counts no fewer starts of a fast rate than there were", () => {
  const rate = makeRates();
  hold(rate, 45_000);
  const starts = play(rate, Array.from({ length: 1000 }, (_, index) => index), 9000).length;
  assert.ok(rate.used("r", 999, 1000) >= starts);
  hold(rate, 20_000);
  assert.ok(rate.used("r", 1200, 1000) >= 36_000);
  play(rate, Array.from({ length: 1500 }, (_, index) => 1000 + index), 9000);
  assert.ok(rate.used("r", 2500, 1000) <= 20_000);
});

Deno.test("StartRate of 0 lets nothing start, of Infinity everything", () => {
  const rate = makeRates();
  assert.equal(rate.allowed(0, 7, false), 7);
  assert.equal(rate.nextAtMs(5, 1, false), 5);
  hold(rate, 0);
  assert.equal(rate.allowed(0, 7, true), 0);
  assert.equal(rate.nextAtMs(5, 1, true), Infinity);
});

Deno.test("StartRates holds several limits at once, and each is used in full where it is the tightest", () => {
  const limit = fc.record({
    starts: fc.double({ min: 0.5, max: 100, noNaN: true }),
    perMs: fc.double({ min: 1000, max: 10_000, noNaN: true }),
  });
  const limits = fc.array(limit, { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(limits, fc.boolean(), (limits, jumps) => {
      const rate = makeRates();
      holdAll(rate, limits);
      const tightest = Math.min(...limits.map(({ starts, perMs }) => starts / perMs));
      const endMs = 1.7e12 + 200 / tightest;
      const stamps: number[] = [];
      for (let nowMs = 1.7e12; nowMs < endMs; nowMs = rate.nextAtMs(nowMs, 1, jumps)) {
        assert.equal(rate.allowed(nowMs, 1, jumps), 1);
        rate.stamp(nowMs, "l");
        stamps.push(nowMs);
      }

      for (const limit of limits) {
        const { starts, perMs } = windowOf(limit);
        assert.ok(mostWithin(stamps, perMs) <= starts, `${limit.starts} in ${limit.perMs} ms`);
      }
      assert.ok(stamps.length >= 0.99 * 200, `${stamps.length} of 200`);
    }),
    { numRuns: 100 },
  );
});

Deno.test("StartRates counts the starts so far against a limit that comes later", () => {
  const rate = makeRates();
  holdAll(rate, [{ starts: 20, perMs: 1000 }]);
  play(rate, [0], 20);
  holdAll(rate, [{ starts: 20, perMs: 1000 }, { starts: 25, perMs: 5000 }]);

  assert.equal(play(rate, [1000, 1250, 2000, 3000], 20).length, 5);
  assert.equal(rate.nextAtMs(3000, 1, true), 5000);
});

Deno.test("StartRate lets as many jobs of lower lanes start at once after a pause as its burst says", () => {
  const rate = makeRates();
  holdAll(rate, [{ starts: 60, perMs: 10_000, burst: 5 }]);

  assert.equal(play(rate, [0], 99, false).length, 5);
  assert.equal(play(rate, [1000], 99, false).length, 5);
  assert.equal(play(rate, [1100], 99, false).length, 0);
  assert.equal(play(rate, [1200], 99, false).length, 1);
});
