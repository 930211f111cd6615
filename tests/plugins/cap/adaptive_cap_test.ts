import assert from "node:assert/strict";
import { adaptiveCap } from "../../../plugins/cap/adaptive_cap.ts";
import type { Cap } from "../../../src/contract/strategy.ts";
import { makeView } from "../../../src/testing/views.ts";
import { faultsOf, make } from "../_make.ts";
import { DrivenPool, knee, steadily, type Weather } from "./_driven_pool.ts";

function cap(probe?: boolean): Cap {
  return make(adaptiveCap, probe === undefined ? {} : { probe });
}

/** More than 32 workers do at 20 ms, and less. */
const overload: Weather = { perSec: 2000, runMs: steadily };
const calm: Weather = { perSec: 400, runMs: steadily };

/** A pool of 32 workers that has been calm for long, and then is behind a knee. */
function held(): DrivenPool {
  return new DrivenPool(cap()).pass(5000, calm).pass(10_000, { perSec: 800, runMs: knee(10) });
}

Deno.test("adaptiveCap sets no bound while nothing is late", () => {
  const pool = new DrivenPool(cap()).pass(5000, calm);

  assert.deepEqual(pool.limit, { workers: Infinity, reason: "nothing found" });
});

Deno.test("adaptiveCap tries half of a pool that falls behind before anything is known of it", () => {
  const pool = new DrivenPool(cap()).pass(6000, { perSec: 400, runMs: () => 200 });

  assert.deepEqual(pool.sizes, [32, 16, 32]);
  assert.equal(pool.limit.reason, "16 workers, not 32: run times 1.00 times as long");
});

Deno.test("adaptiveCap tries nothing where attempts take as long as usual", () => {
  const pool = new DrivenPool(cap()).pass(5000, calm);
  pool.sizes.length = 0;

  assert.deepEqual(pool.pass(60_000, overload).sizes, [32]);
});

Deno.test("adaptiveCap tries a slow-down once, for sure, and leaves the pool alone then", () => {
  const pool = new DrivenPool(cap()).pass(5000, calm);
  pool.sizes.length = 0;

  pool.pass(300_000, { perSec: 800, runMs: () => 60 });

  assert.deepEqual(pool.sizes, [32, 16, 32]);
});

Deno.test("adaptiveCap lets a pool go soon whose slow-down ended during a trial", () => {
  for (const laterMs of [0, 100, 200, 300, 400, 600]) {
    const pool = new DrivenPool(cap()).pass(5000, calm);
    while (pool.target !== 16) pool.pass(10, { perSec: 450, runMs: () => 80 });
    pool.pass(laterMs, { perSec: 450, runMs: () => 80 });

    pool.pass(30_000, { perSec: 450, runMs: steadily });

    assert.equal(pool.limit.workers, Infinity, `after ${laterMs} ms: ${pool.limit.reason}`);
  }
});

Deno.test("adaptiveCap tries nothing while the pool keeps up, however long attempts take", () => {
  const pool = new DrivenPool(cap()).pass(5000, calm);

  pool.pass(30_000, { perSec: 400, runMs: () => 60 });

  assert.ok(pool.sizes.every((size) => size === 32 || size === 24 || size === 8), `${pool.sizes}`);
  assert.equal(pool.limit.workers, Infinity);
});

Deno.test("adaptiveCap holds a pool at the knee of its downstream, with and without collapse", () => {
  for (const collapse of [0, 0.05]) {
    for (const slots of [5, 10, 20]) {
      const pool = new DrivenPool(cap(), { min: 2, max: 64 }).pass(5000, { ...calm, perSec: 150 });
      const weather = { perSec: 80 * slots, runMs: knee(slots, collapse) };
      pool.pass(15_000, weather);
      const before = pool.done;

      pool.pass(60_000, weather);

      const share = (pool.done - before) / (60 * 50 * slots);
      assert.ok(share > 0.92, `${slots} slots, collapse ${collapse}: ${share} of the ceiling`);
      assert.ok(pool.target <= 1.3 * slots, `${slots} slots: ${pool.target} workers`);
    }
  }
});

Deno.test("adaptiveCap finds more room behind a knee within 10 s", () => {
  const pool = held();
  assert.ok(pool.target <= 13, `${pool.target}`);

  pool.pass(10_000, { perSec: 1500, runMs: knee(30) });

  assert.ok(pool.target >= 28, `${pool.target}`);
});

Deno.test("adaptiveCap raises its bound by a step each 6 s without late jobs, until it is gone", () => {
  const pool = held();

  pool.pass(30_000, { perSec: 300, runMs: knee(10) }); // what waits is done in half of it
  assert.match(pool.limit.reason, /^nothing was late, held at \d+$/);
  pool.pass(40_000, { perSec: 300, runMs: knee(10) });

  assert.equal(pool.limit.workers, Infinity);
});

Deno.test("adaptiveCap begins no trial while workers wait for the store, and lets a held pool go", () => { // case C12
  const waiting = { ...overload, idle: 0.5 };
  const pool = new DrivenPool(cap()).pass(20_000, waiting);
  assert.deepEqual(pool.sizes, [32]);

  assert.equal(held().pass(20_000, { ...waiting, runMs: knee(10) }).limit.workers, Infinity);
});

Deno.test("adaptiveCap judges nothing while the store cannot be read or a start rate holds jobs back", () => {
  for (const view of [{ stale: true }, { rateBound: true }]) {
    const pool = new DrivenPool(cap()).pass(20_000, { ...overload, view });

    assert.deepEqual(pool.sizes, [32]);
  }
});

Deno.test("adaptiveCap takes a lane at its maxRunning for no late one", () => {
  const pool = new DrivenPool(cap());
  const lanes = [{ ready: 50, oldestWaitMs: 5000, running: 4, maxRunning: 4, targetWaitMs: 50 }];

  pool.pass(20_000, { ...overload, view: { lanes } });

  assert.equal(pool.limit.reason, "nothing found");
});

Deno.test("adaptiveCap leaves 0.9 of a pool that says overloaded, then a worker more a second", () => {
  const pool = new DrivenPool(cap(false)).pass(1000, overload);

  pool.pass(10, overload).pass(200, { ...overload, overloads: 20 });
  assert.ok(pool.target === 28 || pool.target === 29, `${pool.target}`); // 28.8, rounded by chance
  assert.match(pool.limit.reason, /^the downstream is overloaded, it says: 2[89]/);
  pool.pass(800, { ...overload, overloads: 20 });
  const found = pool.target;
  assert.ok(found >= 17 && found <= 21, `${found}`); // 0.9 four times more, five times as fast

  assert.equal(pool.pass(5210, overload).target, found + 6); // the first after 200 ms: no more is said
  assert.equal(pool.pass(20_000, overload).limit.workers, Infinity);
});

Deno.test("adaptiveCap gives up the workers whose calls a rate refuses, and no more", () => {
  const pool = new DrivenPool(cap(false)).pass(1000, overload);

  // 1,280 jobs a second end, of which the receiver refuses those above 1,200, at the end of each second.
  for (let second = 0; second < 60; second++) {
    pool.pass(900, overload);
    pool.pass(100, { ...overload, overloads: Math.max(0, pool.target * 5 - 120) });
  }

  assert.ok(pool.target >= 23 && pool.target <= 27, `${pool.target}`); // 24 bring 1,200
});

Deno.test("adaptiveCap hears no overload in calls that are refused seldom", () => {
  // Of 16 that end in a tick; less than what one of 32 does.
  const pool = new DrivenPool(cap(false)).pass(60_000, { ...overload, overloads: 0.4 });

  assert.equal(pool.limit.workers, Infinity);
});

Deno.test("adaptiveCap leaves size.min, and one at least, however often it hears of overload", () => {
  for (const [min, least] of [[4, 4], [0, 1]] as const) {
    const pool = new DrivenPool(cap(false), { min, max: 32 }).pass(1000, overload);

    assert.equal(pool.pass(10_000, { ...overload, overloads: 1 }).target, least);
  }
});

Deno.test("adaptiveCap hears no overload in deferrals", () => { // case B11
  const pool = new DrivenPool(cap(false)).pass(10_000, { ...overload, deferrals: 2 });

  assert.equal(pool.limit.workers, Infinity);
});

Deno.test("adaptiveCap tries nothing with probe false", () => {
  const pool = new DrivenPool(cap(false)).pass(20_000, { perSec: 800, runMs: knee(5, 0.05) });

  assert.deepEqual(pool.sizes, [32]);
});

Deno.test("adaptiveCap begins anew when the lanes are others", () => {
  const own = cap();
  const pool = new DrivenPool(own).pass(5000, calm).pass(10_000, { perSec: 800, runMs: knee(10) });
  assert.ok(pool.limit.workers < 32);

  const { workers } = own(makeView({ lanes: [{ name: "another" }, { name: "more" }] }), 8);

  assert.equal(workers, Infinity);
});

Deno.test("adaptiveCap wants true or false for probe, and knows no factor", () => {
  assert.deepEqual(faultsOf(adaptiveCap, { probe: "no" }), ["probe: Expected true or false"]);
  assert.match(faultsOf(adaptiveCap, { factor: 3 }).join(), /factor/);
  assert.deepEqual(faultsOf(adaptiveCap, {}), []);
});
