import assert from "node:assert/strict";
import fc from "fast-check";
import { WAITING_STATES } from "../../src/base/states.ts";
import type { JobRecord } from "../../src/contract/job.ts";
import type { LaneView } from "../../src/contract/view.ts";
import { makeLane, makeWindow } from "../../src/testing/mod.ts";
import { type Beside, waitingOf, type WaitingPool } from "../../src/explain/waiting.ts";

const NOW = 1_000_000;

function job(parts: Partial<JobRecord> = {}): JobRecord {
  return {
    id: "j1",
    pool: "mail",
    lane: "low",
    type: "",
    state: "ready",
    payload: null,
    createdAtMs: NOW - 500,
    dueAtMs: NOW - 500,
    attempt: 0,
    ...parts,
  };
}

function lane(parts: Partial<LaneView> = {}): LaneView {
  return makeLane({
    name: "low",
    index: 1,
    targetWaitMs: 50,
    ready: 1,
    oldestWaitMs: 500,
    ...parts,
  });
}

function pool(parts: Partial<WaitingPool> = {}, low: Partial<LaneView> = {}): WaitingPool {
  return {
    pool: "mail",
    nowMs: NOW,
    lanes: [lane({ name: "high", index: 0, ready: 0 }), lane(low)],
    workers: [],
    live: 2,
    idle: 0,
    target: 2,
    size: { min: 1, max: 4 },
    limit: 4,
    rateBound: false,
    holdUntilMs: 0,
    heldBy: "",
    breakers: [],
    startsPerSec: Infinity,
    stale: false,
    paused: false,
    draining: false,
    worked: true,
    boundBy: "controller",
    ...parts,
  };
}

function beside(parts: Partial<Beside> = {}): Beside {
  return {
    ahead: 0,
    atLeast: false,
    runningOfKey: 0,
    maxRunningPerKey: Infinity,
    ratesPerKey: [],
    hasHandler: true,
    lanePolicy: "strict-priority",
    ...parts,
  };
}

/** What holds a job, and whether its start can be told. */
function holds(
  of: Partial<JobRecord>,
  among: WaitingPool,
  others: Partial<Beside> = {},
): readonly (readonly [string, string])[] {
  const waiting = waitingOf(job(of), among, beside(others));
  return (waiting?.holds ?? []).map(({ code, detail }) => [code, detail]);
}

Deno.test("waitingOf() is undefined for a job that does not wait, and for a lane that is no more", () => {
  for (const state of ["running", "done", "dead", "cancelled"] as const) {
    assert.equal(waitingOf(job({ state }), pool(), beside()), undefined);
  }
  assert.equal(waitingOf(job({ lane: "gone" }), pool(), beside()), undefined);
});

Deno.test("waitingOf() names each thing that may hold a job, and what would end it", () => {
  const due = { state: "delayed", dueAtMs: NOW + 90_000 } as const;
  const starting = [{
    id: "w",
    state: "starting",
    startedAtMs: 0,
    sinceMs: 0,
    jobsDone: 0,
  }] as const;

  const cases: readonly (readonly [ReturnType<typeof holds>, string, string])[] = [
    [
      holds({}, pool({ draining: true })),
      "stopped",
      'Pool "mail" is draining: it starts no job until the process restarts',
    ],
    [
      holds({}, pool({ paused: true }, { paused: true })),
      "paused",
      'Pool "mail" is paused: resume it',
    ],
    [holds({}, pool({}, { paused: true })), "paused", 'Lane "low" is paused: resume it'],
    [
      holds({}, pool({ stale: true })),
      "store",
      "The store cannot be read: no job starts until it answers",
    ],
    [
      holds({ type: "send" }, pool(), { hasHandler: false }),
      "handler",
      'No handler is named "send" in this process: name it in the config',
    ],
    [holds(due, pool()), "delayed", "It is delayed: due in 1 min 30 s"],
    [
      holds({ ...due, attempt: 2 }, pool()),
      "delayed",
      "Attempt 2 failed: the next is due in 1 min 30 s",
    ],
    [
      holds({ ...due, key: "k", keepsSlot: true }, pool(), {
        ratesPerKey: [{ calls: 2, perMs: 1000 }, { calls: 500, perMs: 3_600_000 }],
      }),
      "key-rate",
      "Its key may start 2 in 1 s and 500 in 1 h at most: the next in 1 min 30 s",
    ],
    [
      holds({ state: "blocked", key: "k" }, pool(), { ratesPerKey: [{ calls: 2, perMs: 1000 }] }),
      "key-limit",
      "Other jobs of its key go first: a key may start 2 in 1 s at most",
    ],
    [
      holds({ key: "k" }, pool(), { runningOfKey: 1, maxRunningPerKey: 1 }),
      "key-limit",
      '1 job of its key runs, and lane "low" runs 1 at once',
    ],
    [
      holds({ key: "k" }, pool(), { runningOfKey: 3, maxRunningPerKey: 3 }),
      "key-limit",
      '3 jobs of its key run, and lane "low" runs 3 at once',
    ],
    [
      holds({}, pool({ idle: 1 }, { running: 2, maxRunning: 2 })),
      "lane-limit",
      '2 jobs of lane "low" run: its maxRunning',
    ],
    [
      holds({}, pool({ idle: 1 }, { running: 0, maxRunning: 0 })),
      "lane-limit",
      '0 jobs of lane "low" run: its maxRunning, counted with handlers that ignore their abort',
    ],
    [
      holds({}, pool({ idle: 1, rateBound: true, startsPerSec: 2.5 })),
      "start-rate",
      "A start rate allows at most 2.5 jobs to start a second",
    ],
    [
      holds({}, pool({ idle: 1, rateBound: true, holdUntilMs: pool().nowMs + 5000 })),
      "cooldown",
      'The receiver says "not now": one job tries again in 5 s',
    ],
    [
      holds({}, pool({ live: 0, workers: starting })),
      "no-worker",
      "No worker yet: 1 is starting",
    ],
    [
      holds({}, pool({ live: 0, target: 0, boundBy: "cap:db-pool-cap" })),
      "no-worker",
      "No worker: cap:db-pool-cap sets the target to 0",
    ],
    [holds({}, pool()), "busy", "All 2 workers are busy: the pool may grow to 4"],
    [
      holds({}, pool({ live: 1, limit: 1, boundBy: "cap:fixed-cap" })),
      "busy",
      "The only worker is busy: the pool may not grow beyond 1: cap:fixed-cap",
    ],
    [
      holds({}, pool({ live: 4 })),
      "busy",
      "All 4 workers are busy: the pool may not grow beyond 4",
    ],
    [
      holds({}, pool({ idle: 1 }), { lanePolicy: "reserved-lane" }),
      "reserved",
      "reserved-lane keeps the free worker for other lanes",
    ],
    [
      holds({}, pool({ idle: 2 }), { lanePolicy: "reserved-lane" }),
      "reserved",
      "reserved-lane keeps the 2 free workers for other lanes",
    ],
  ];

  for (const [found, code, detail] of cases) assert.deepEqual(found, [[code, detail]]);
});

Deno.test("waitingOf() names all that hold a job itself, before what there is too little of", () => {
  const due = { state: "delayed", dueAtMs: NOW + 1, key: "k" } as const;
  const others = { runningOfKey: 1, maxRunningPerKey: 1 };

  const barred = holds(due, pool({ paused: true }, { paused: true }), others);
  const short = holds({}, pool({ rateBound: true, startsPerSec: 40 }));

  assert.deepEqual(barred.map(([code]) => code), ["paused", "delayed", "key-limit"]);
  assert.deepEqual(short.map(([code]) => code), ["start-rate", "busy"]);
});

Deno.test("waitingOf() gives the place in the lane, but none to a job that is in no line yet", () => {
  const place = (of: Partial<JobRecord>, others: Partial<Beside>) => {
    const { position, atLeast } = waitingOf(job(of), pool(), beside(others)) ?? {};
    return [position, atLeast];
  };

  assert.deepEqual(place({}, { ahead: 41 }), [42, false]);
  assert.deepEqual(place({}, { ahead: 5_000, atLeast: true }), [5_001, true]);
  assert.deepEqual(place({ state: "delayed", dueAtMs: NOW + 5 }, { ahead: 3 }), [undefined, false]);
  assert.deepEqual(place({ state: "delayed", dueAtMs: NOW }, { ahead: 3 }), [4, false]);
});

Deno.test("waitingOf() estimates the start from the pace of the lane, failures too", () => {
  const window = makeWindow({ windowMs: 10_000, completionsPerSec: 3, failuresPerSec: 1 });

  const waiting = waitingOf(job(), pool({}, { window }), beside({ ahead: 7 }));

  assert.equal(waiting?.startAtMs, NOW + 2_000); // 8 jobs at 4 a second
  assert.equal(waiting?.basis, "At the pace of its lane: 4.0 jobs a second over the last 10 s");
});

Deno.test("waitingOf() estimates the start from workers and run time, if none of the lane ended lately", () => {
  const waiting = waitingOf(job(), pool({}, { meanServiceMs: 300 }), beside({ ahead: 3 }));
  const alone = waitingOf(job(), pool({ live: 1 }, { meanServiceMs: 300 }), beside());

  assert.equal(waiting?.startAtMs, NOW + 600); // k-th end of n workers: k * 300 / 2
  assert.equal(waiting?.basis, "With 2 workers and 300 ms a job of its lane");
  assert.equal(alone?.basis, "With 1 worker and 300 ms a job of its lane");
});

Deno.test("waitingOf() estimates the start of a delayed job from when it is due", () => {
  const delayed = job({ state: "delayed", dueAtMs: NOW + 9_000 });
  const waitMs = { count: 4, mean: 60, p50: 50, p95: 90, p99: 90 };

  const known = waitingOf(delayed, pool({}, { window: makeWindow({ waitMs }) }), beside());
  const fresh = waitingOf(delayed, pool(), beside());

  assert.equal(known?.startAtMs, NOW + 9_050);
  assert.equal(known?.basis, "When it is due, and 50 ms more: the median wait of its lane now");
  assert.equal(fresh?.startAtMs, NOW + 9_000);
  assert.equal(fresh?.basis, "When it is due: no job of its lane started recently");
});

Deno.test("waitingOf() says that a job starts now, if nothing holds it", () => {
  const waiting = waitingOf(job(), pool({ idle: 1 }, { ready: 0 }), beside());

  assert.deepEqual(waiting, {
    position: 1,
    atLeast: false,
    holds: [],
    startAtMs: NOW,
    basis: "A worker is free",
  });
});

Deno.test("waitingOf() gives no estimate where nobody can tell, and says why", () => {
  const above = [lane({ name: "high", index: 0, ready: 9 }), lane({ meanServiceMs: 5 })];
  const basis = (among: WaitingPool, others: Partial<Beside> = {}, of: Partial<JobRecord> = {}) => {
    const waiting = waitingOf(job(of), among, beside(others));
    assert.equal(waiting?.startAtMs, undefined);
    return waiting?.basis;
  };
  const limited = { runningOfKey: 1, maxRunningPerKey: 1 };

  assert.deepEqual([
    basis(pool({ draining: true })),
    basis(pool({ paused: true })),
    basis(pool({ stale: true })),
    basis(pool(), { hasHandler: false }),
    basis(pool(), limited, { key: "k" }),
    basis(pool(), { ahead: 5_000, atLeast: true }),
    basis(pool({ lanes: above })),
    basis(pool()),
    basis(pool({ live: 0 }, { meanServiceMs: 5 })),
  ], [
    "Unknown: depends on the next start",
    "Unknown: depends on the resume",
    "Unknown: depends on the store",
    "Unknown: depends on the config",
    "Unknown: depends on when the jobs of its key end",
    "Unknown: too many jobs come before it to count",
    "Unknown: lanes above have 9 ready, and no job of its own lane ended recently",
    "Unknown: no job of its lane has ended yet",
    "Unknown: no job of its lane has ended yet",
  ]);
});

Deno.test("waitingOf() puts a blocked job behind its key, also while none of its key runs", () => {
  const waiting = waitingOf(
    job({ state: "blocked", key: "k" }),
    pool(),
    beside({ maxRunningPerKey: 2 }),
  );

  assert.equal(waiting?.position, undefined);
  assert.deepEqual(waiting?.holds, [{
    code: "key-limit",
    detail: 'Other jobs of its key go first: lane "low" runs 2 at once',
  }]);
});

Deno.test("waitingOf() always says what holds a job or that it starts now, and never estimates the past", () => {
  const figures = fc.record({
    live: fc.nat(8),
    idle: fc.nat(8),
    rateBound: fc.boolean(),
    stale: fc.boolean(),
    paused: fc.boolean(),
    draining: fc.boolean(),
    ready: fc.nat(9),
    meanServiceMs: fc.nat(1_000),
    completionsPerSec: fc.double({ min: 0, max: 100, noNaN: true }),
    ahead: fc.nat(6_000),
    delayMs: fc.nat(9_999),
    state: fc.constantFrom(...WAITING_STATES),
  });
  fc.assert(fc.property(figures, (f) => {
    const idle = Math.min(f.idle, f.live);
    const window = makeWindow({ completionsPerSec: f.completionsPerSec });
    const low = { ready: f.ready, meanServiceMs: f.meanServiceMs, window, paused: f.paused };
    const among = pool({ ...f, idle }, low);
    const of = { state: f.state, dueAtMs: f.state === "delayed" ? NOW + f.delayMs : NOW };

    const waiting = waitingOf(job(of), among, beside({ ahead: f.ahead }));

    assert.ok(waiting !== undefined && waiting.basis !== "");
    assert.ok(waiting.startAtMs === undefined || waiting.startAtMs >= NOW);
    assert.ok(waiting.holds.length > 0 || waiting.startAtMs === NOW);
  }));
});
