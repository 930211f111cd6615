// What `adaptive-cap` did to pools before it was rewritten (cases C1, C2, C3 and C12), and one scenario
// of each kind that is drawn. `deno task adaptive` draws hundreds.

import assert from "node:assert/strict";
import { randomStream } from "../../src/base/random.ts";
import { type Draw, drawOf, KINDS, LATE_MS } from "./draw.ts";
import { lineOf, outcomeOf, tableOf, verdictsOf } from "./judge.ts";
import { play } from "./play.ts";

function poisson(perSec: number): { readonly kind: "poisson"; readonly perSec: number } {
  return { kind: "poisson", perSec };
}

/** A pool of up to 12 workers with jobs of 20 ms, 720 of them a second. */
const base: Draw = {
  kind: "healthy",
  text: "by hand",
  size: { min: 2, max: 12 },
  targetWaitMs: 50,
  peers: 1,
  storeMs: 0,
  lanes: { all: { serviceMs: { kind: "exponential", ms: 20 }, arrivals: poisson(720) } },
  faults: [],
  slots: undefined,
  ceilingPerSec: Infinity,
  fromMs: 0,
};

Deno.test("adaptiveCap takes no jobs from a healthy pool that is overloaded, and seldom changes it", async () => { // C1
  const on = await play(base, "on", 1, 60_000);
  const off = await play(base, "off", 1, 60_000);

  assert.ok(on.done >= 0.99 * off.done, `${on.done} of ${off.done}`);
  assert.ok(on.changes <= off.changes + 4, `${on.changes} changes a minute`);
});

Deno.test("adaptiveCap finds a knee however large the pool may be, from the start", async () => { // C2
  for (const max of [48, 64, 100]) {
    const serviceMs = { kind: "knee", ms: 20, slots: 10, collapse: 0.05 } as const;
    const lanes = { all: { serviceMs, arrivals: poisson(800) } };
    const run = await play({ ...base, size: { min: 2, max }, lanes }, "on", 1, 30_000);

    const workers = run.workers(10_000, 30_000);
    const share = run.perSec(10_000, 30_000) * (20 + LATE_MS) / 10_000;
    assert.ok(workers <= 13, `size.max ${max}: ${workers} workers`);
    assert.ok(share >= 0.95, `size.max ${max}: ${share} of the ceiling`);
  }
});

Deno.test("adaptiveCap makes no job late because all of them take three times as long", async () => { // C3
  const slow: Draw = {
    ...base,
    size: { min: 2, max: 64 },
    lanes: { all: { serviceMs: { kind: "exponential", ms: 20 }, arrivals: poisson(300) } },
    faults: [{ kind: "slow", atMs: 15_000, forMs: 20_000, factor: 3 }],
  };

  const on = await play(slow, "on", 1, 50_000);
  const off = await play(slow, "off", 1, 50_000);

  assert.ok(on.late <= off.late + 0.001, `${on.late}, off ${off.late}`);
});

Deno.test("adaptiveCap holds no pool whose workers wait for the store", async () => { // C12
  const slow: Draw = {
    ...base,
    size: { min: 2, max: 32 },
    storeMs: 200,
    lanes: { all: { serviceMs: { kind: "fixed", ms: 20 }, arrivals: poisson(60) } },
  };

  const on = await play(slow, "on", 1, 60_000);
  const off = await play(slow, "off", 1, 60_000);

  assert.ok(on.done >= 0.98 * off.done, `${on.done} of ${off.done}`);
});

Deno.test("adaptiveCap lets a downstream do what it can that collapses of itself at 0.9 of that", async () => {
  const serviceMs = { kind: "knee", ms: 20, slots: 10, collapse: 0.05 } as const;
  const lanes = { all: { serviceMs, arrivals: poisson(450) } };
  const below: Draw = { ...base, size: { min: 2, max: 64 }, lanes };

  const on = await play(below, "on", 1, 60_000);
  const off = await play(below, "off", 1, 60_000);

  assert.ok(on.done > 0.85 * 450 * 60, `${on.done}`);
  assert.ok(off.done < 0.6 * 450 * 60, `${off.done}`); // what it is worth
});

Deno.test("adaptiveCap keeps what it found while a job is late now and then", async () => {
  const serviceMs = { kind: "knee", ms: 6, cv: 2, slots: 5, collapse: 0.05 } as const;
  const lanes = { all: { serviceMs, arrivals: poisson(705) } }; // idle for a tenth of the time, or more
  const below: Draw = { ...base, size: { min: 1, max: 91 }, lanes };

  const on = await play(below, "on", 1, 60_000);

  assert.ok(on.done > 0.8 * 705 * 60, `${on.done}`);
});

Deno.test("adaptiveCap of four processes finds the knee that they share", async () => {
  const serviceMs = { kind: "knee", ms: 31, cv: 1, slots: 9 } as const;
  const lanes = { all: { serviceMs, arrivals: poisson(385) } };
  const shared: Draw = { ...base, peers: 4, size: { min: 1, max: 30 }, targetWaitMs: 200, lanes };

  const run = await play(shared, "on", 1001, 120_000);

  const workers = run.workers(60_000, 120_000);
  assert.ok(workers <= 1.3 * 9, `${workers} workers`);
});

Deno.test("adaptiveCap errs seldom, however many small processes look at uneven jobs", async () => {
  const serviceMs = { kind: "lognormal", ms: 58, cv: 2.3 } as const;
  const lanes = { all: { serviceMs, arrivals: poisson(298), failRate: 0.05 } };
  const small: Draw = { ...base, peers: 4, size: { min: 2, max: 4 }, targetWaitMs: 1000, lanes };

  const on = await play(small, "on", 1);
  const off = await play(small, "off", 1);

  assert.ok(on.done >= 0.99 * off.done, `${on.done} of ${off.done}`);
});

Deno.test("adaptiveCap without trials finds a limit by what the downstream says", async () => {
  const serviceMs = { kind: "knee", ms: 20, slots: 10, collapse: 0.05, tells: true } as const;
  const lanes = { all: { serviceMs, arrivals: poisson(800) } };
  const run = await play({ ...base, size: { min: 2, max: 64 }, lanes }, "listens", 1, 60_000);

  const share = run.perSec(10_000, 60_000) * (20 + LATE_MS) / 10_000;
  assert.ok(share >= 0.93, `${share} of the ceiling`);
});

Deno.test("drawOf() draws the same of the same seed and number, and others of others", () => {
  for (const kind of KINDS) {
    const text = drawOf(kind, 1, 1).text;

    assert.equal(drawOf(kind, 1, 1).text, text);
    assert.notEqual(drawOf(kind, 1, 2).text, text);
    assert.notEqual(drawOf(kind, 2, 1).text, text);
  }
});

Deno.test("A scenario of each kind is within a few times what many have to be", async () => {
  const seed = Math.floor(1000 * randomStream(1, "adaptive")());
  for (const kind of KINDS.filter((kind) => kind !== "slots")) { // which takes 210 s
    const outcome = await outcomeOf(drawOf(kind, seed, 0), 1, 60_000);
    const [verdict] = verdictsOf([outcome]);

    assert.ok(Object.values(outcome.figures).every(Number.isFinite), lineOf(outcome));
    assert.match(tableOf([verdict!]), new RegExp(`^\\| ${kind} `, "m"));
  }
});
