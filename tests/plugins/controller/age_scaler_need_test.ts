// What `age-scaler` takes for needed, step by step.

import assert from "node:assert/strict";
import { ageScaler } from "../../../plugins/controller/age_scaler.ts";
import { type LaneOverrides, makeView, VIEW_NOW_MS } from "../../../src/testing/mod.ts";
import { make } from "./_make.ts";
import { saturated } from "./_saturated.ts";

/** A pool of 2 to 40 workers that does what is decided, looked at each 50 ms. */
class Pool {
  target: number;
  atMs = 0;
  readonly #controller = make(ageScaler);
  #served: readonly number[] = [];

  constructor(target: number) {
    this.target = target;
  }

  /** Runs this many jobs in each lane for `forMs`. */
  run(running: readonly number[], lanes: readonly LaneOverrides[], forMs = 50): void {
    for (let ms = 0; ms < forMs; ms += 50) {
      this.#served = running.map((jobs, index) => (this.#served[index] ?? 0) + 50 * jobs);
      this.atMs += 50;
      this.target = this.#controller(makeView({
        nowMs: VIEW_NOW_MS + this.atMs,
        size: { min: 2, max: 40 },
        live: this.target,
        busy: running.reduce((sum, jobs) => sum + jobs, 0),
        lanes: lanes.map((lane, index) => ({
          meanServiceMs: 20,
          running: running[index]!,
          servedMs: this.#served[index]!,
          ...lane,
        })),
      })).workers;
    }
  }
}

const urgent = { targetWaitMs: 50 };
const batch = { targetWaitMs: null, ready: 1000, oldestWaitMs: 60_000 };

Deno.test("ageScaler keeps no worker for jobs that never cause growth (C4)", () => {
  const pool = new Pool(40);

  pool.run([3, 37], [urgent, batch], 5050);
  assert.equal(pool.target, 40);
  pool.run([3, 37], [urgent, batch]);
  assert.equal(pool.target, 3);
});

Deno.test("ageScaler keeps what it had to grow to, though workers are idle beside it (C5)", () => {
  const pool = new Pool(10);

  pool.run([0, 8], [urgent, { targetWaitMs: 50, ready: 1, oldestWaitMs: 25 }]);
  assert.equal(pool.target, 11, "two are kept for the upper lane");
  pool.run([0, 8], [urgent, urgent], 4950);
  assert.equal(pool.target, 11);
  pool.run([0, 8], [urgent, urgent], 100);
  assert.equal(pool.target, 8);
});

Deno.test("ageScaler looks back over five run times (C10)", () => {
  const pool = new Pool(9);
  const lane = { targetWaitMs: 1000, meanServiceMs: 10_000 };

  pool.run([9], [lane], 5100);
  pool.run([4], [lane], 49_950);
  assert.equal(pool.target, 9);
  pool.run([4], [lane], 100);
  assert.equal(pool.target, 4);
});

Deno.test("ageScaler spreads what waits over the time left, when a target is long", () => {
  const pool = new Pool(40);
  const lane = { targetWaitMs: 60_000, ready: 1000, oldestWaitMs: 10_000, arrivalsPerSec: 50 };

  pool.run([40], [lane], 5200);

  assert.equal(pool.target, 2); // (50/s + 1,000 in the 20 s left) x 20 ms
});

Deno.test("ageScaler goes back at once, when a shrink took too much, and waits for longer", () => {
  const pool = new Pool(20);
  const late = { targetWaitMs: 50, ready: 1, oldestWaitMs: 25 };

  pool.run([20], [urgent], 100);
  pool.run([5], [urgent], 5100);
  assert.equal(pool.target, 5);
  pool.run([5], [late]);
  assert.equal(pool.target, 6, "one by one at first");
  pool.run([12], [{ ...late, ready: 40 }]);
  const grown = pool.target;
  assert(grown > 12, `${grown}`);
  pool.run([5], [urgent], 5100);
  assert.equal(pool.target, grown, "the look-back has doubled");
  pool.run([5], [urgent], 5000);
  assert.equal(pool.target, 5);
  pool.run([5], [late]);
  assert.equal(pool.target, Math.min(20, grown), "back at once");
});

Deno.test("ageScaler holds a spike that follows a harmless shrink for no longer than any", () => {
  const pool = new Pool(5);

  pool.run([5], [urgent], 100);
  pool.run([3], [urgent], 5100);
  assert.equal(pool.target, 3);
  pool.run([3], [urgent], 1000);
  pool.run([3], [{ targetWaitMs: 50, ready: 60, oldestWaitMs: 25 }]);
  assert(pool.target > 20);
  pool.run([3], [urgent], 5100);
  assert.equal(pool.target, 5, "what the shrink took away is held for 10 s, the rest for 5");
});

Deno.test("ageScaler grows for what is to start within a time, by backlog and run time (C8)", () => {
  const lane = {
    targetWaitMs: null,
    startWithinMs: 600_000,
    meanServiceMs: 1000,
    ready: 10_000,
    oldestWaitMs: 5000,
    running: 4,
  };

  const proposal = make(ageScaler)(saturated(lane));

  // (q - starts within t) / (1 + t/S), t = 0.9 x 600 s - 5 s
  assert.equal(proposal.workers, 4 + Math.floor((10_000 - 4 * 535) / 536));
  assert.equal(proposal.reason, "mail: 10,000 ready, 1 s each, 8 min 55 s left: 14 more");
});

Deno.test("ageScaler grows by all that waits, when it is to start at once or the time is over", () => {
  for (const startWithinMs of [0, 1000]) {
    const lane = { targetWaitMs: null, startWithinMs, ready: 20, oldestWaitMs: 950 };

    const proposal = make(ageScaler)(saturated(lane));

    assert.equal(proposal.workers, 4 + 20);
    assert.equal(proposal.reason, "mail: 20 ready, 20 ms each, none to wait any longer: 20 more");
  }
});

Deno.test("ageScaler waits for the first run, when nothing is known of jobs that have time", () => {
  const lane = { targetWaitMs: null, meanServiceMs: 0, ready: 20, oldestWaitMs: 0 };

  assert.equal(make(ageScaler)(saturated({ ...lane, startWithinMs: 60_000 })).workers, 4);
  assert.equal(make(ageScaler)(saturated({ ...lane, startWithinMs: 0 })).workers, 24);
});
