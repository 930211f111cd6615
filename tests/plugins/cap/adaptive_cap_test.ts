import assert from "node:assert/strict";
import { adaptiveCap } from "../../../plugins/cap/adaptive_cap.ts";
import { makeView } from "../../../src/testing/views.ts";
import type { Cap, Limit } from "../../../src/contract/strategy.ts";
import { faultsOf, make } from "../_make.ts";
import { GateDrive, type PoolFigures } from "./_gate_drive.ts";

/** Two workers with as much work as they can do, 20 ms each. */
const steady: PoolFigures = { live: 2, serviceMs: 20, ready: 0, oldestWaitMs: 0, wanted: 2 };

/** Sixteen are wanted. */
const pressed: PoolFigures = { ...steady, ready: 20, oldestWaitMs: 40, wanted: 16 };

/** Behind ten slots: 30 workers that take three times as long. */
const crowded: PoolFigures = { ...pressed, live: 30, serviceMs: 60, wanted: 32 };

function gate(factor?: number): Cap {
  return make(adaptiveCap, factor === undefined ? {} : { factor });
}

/** A pool that has run steadily for a second. */
function warm(factor?: number): GateDrive {
  const drive = new GateDrive(gate(factor));
  drive.pass(1000, steady);
  return drive;
}

/** A pool that grew from 10 to 30 workers, for nothing. */
function refused(): { readonly drive: GateDrive; readonly level: number } {
  const drive = new GateDrive(gate());
  drive.pass(1000, { ...steady, live: 10, wanted: 10 });
  drive.ask({ ...pressed, live: 10, wanted: 32 });
  const limit = drive.pass(1000, crowded);
  return { drive, level: limit.workers };
}

Deno.test("adaptiveCap sets no bound while growth is not to be refused", () => {
  const { workers, reason, reviewAtMs } = new GateDrive(gate()).ask(steady);

  assert.equal(workers, Infinity);
  assert.equal(reason, "nothing measured yet: growth may go to 6");
  assert.equal(reviewAtMs, undefined);
});

Deno.test("adaptiveCap lets growth through factor-fold, from the size that the pool has", () => {
  assert.equal(new GateDrive(gate()).ask(pressed).workers, 6);
  assert.equal(new GateDrive(gate(5)).ask(pressed).workers, 10);
  assert.equal(new GateDrive(gate()).ask({ ...pressed, live: 9, wanted: 32 }).workers, 27);
});

Deno.test("adaptiveCap lets a pool of no or one worker grow, too", () => {
  const drive = new GateDrive(gate(), { min: 0, max: 32 });

  assert.equal(drive.ask({ ...pressed, live: 0 }).workers, 3);
  assert.equal(new GateDrive(gate(1.1)).ask({ ...pressed, live: 1 }).workers, 3); // one more than size.min
});

Deno.test("adaptiveCap accepts a round once as many attempts as before have ended and others ran as fast", () => {
  const drive = warm();

  assert.equal(drive.ask(pressed).workers, 6);
  assert.equal(drive.pass(10, { ...pressed, live: 6 }).workers, 6);
  const { workers, reason } = drive.pass(20, { ...pressed, live: 6 });

  assert.equal(workers, Infinity); // 16 are within 3 x 6
  assert.equal(reason, "attempts take 1.0 times as long as before: growth may go to 18");
});

Deno.test("adaptiveCap allows a round more for each target that passes without a verdict", () => {
  const drive = new GateDrive(gate());
  const long = { ...pressed, serviceMs: 500, wanted: 32 };

  assert.equal(drive.ask(long).workers, 6);
  assert.equal(drive.pass(50, { ...long, live: 6 }).workers, 18);
  assert.equal(drive.pass(50, { ...long, live: 18 }).workers, Infinity);
});

Deno.test("adaptiveCap allows no more rounds than attempts as fast as before would have cost", () => {
  const drive = warm();
  const hanging = { ...pressed, live: 6, serviceMs: Infinity, wanted: 32 };
  drive.ask(pressed);

  assert.equal(drive.pass(2000, hanging).workers, 18); // two run times and a quarter are one target
});

Deno.test("adaptiveCap refuses growth that brought no throughput, and undoes it", () => {
  const drive = new GateDrive(gate());
  drive.pass(1000, { ...steady, live: 10, wanted: 10 });
  drive.ask({ ...pressed, live: 10, wanted: 32 });

  const { workers, reason, reviewAtMs } = drive.pass(300, crowded);

  assert.equal(workers, 11); // 30 / 60 ms x 20 ms = 10 workers' worth, and a tenth
  assert.equal(
    reason,
    "200 % more running jobs brought 0 % more throughput: held at 11",
  );
  assert.ok(reviewAtMs! > drive.nowMs);
});

Deno.test("adaptiveCap accepts slower attempts where throughput rises by half of what was added", () => {
  const drive = new GateDrive(gate());
  drive.pass(1000, { ...steady, live: 10, wanted: 10 });
  drive.ask({ ...pressed, live: 10, wanted: 32 });

  const { workers, reason } = drive.pass(300, { ...crowded, serviceMs: 29, wanted: 30 });

  assert.equal(workers, Infinity);
  assert.equal(
    reason,
    "200 % more running jobs brought 107 % more throughput: growth may go to 90",
  );
});

Deno.test("adaptiveCap walks down to the smallest pool that carries the throughput, a step too far and back", () => {
  const { drive, level } = refused();
  let workers = level;
  const seen = new Set<number>();
  for (let passed = 0; passed < 20_000; passed += 5) {
    const busy = { ...pressed, live: workers, serviceMs: 2 * Math.max(10, workers), wanted: 32 };
    workers = Math.min(32, drive.pass(5, busy).workers);
    seen.add(workers);
  }

  assert.equal(workers, 10);
  assert.ok(Math.min(...seen) >= 8 && Math.max(...seen) === 11, `${[...seen]}`);
});

Deno.test("adaptiveCap walks up once the downstream has more to give", () => {
  const { drive, level } = refused();
  let workers = level;
  for (let passed = 0; passed < 30_000; passed += 5) {
    const { workers: limit } = drive.pass(5, { ...pressed, live: workers, wanted: 32 });
    workers = Math.min(32, limit);
  }

  assert.ok(workers > 15, `${workers} workers`);
});

Deno.test("adaptiveCap walks up from a pool that can be no smaller", () => {
  const drive = warm();
  let live = 4;
  for (let said = 0; said < 4; said++) {
    drive.say(1);
    live = Math.min(4, drive.pass(400, { ...pressed, live }).workers);
  }
  assert.equal(live, 2); // size.min
  for (let passed = 0; passed < 20_000 && live < 8; passed += 5) {
    live = Math.min(32, drive.pass(5, { ...pressed, live, wanted: 32 }).workers);
  }

  assert.ok(live >= 8, `${live} workers`);
});

Deno.test("adaptiveCap takes back what it let through by a refusal only", () => {
  const drive = warm();

  assert.equal(drive.ask({ ...pressed, wanted: 32 }, { target: 20 }).workers, 20); // 3 x 2 are 6
});

Deno.test("adaptiveCap lets the pool go when it has more workers than work", () => {
  const { drive } = refused();

  const { workers, reviewAtMs } = drive.pass(5, { ...steady, live: 11, running: 2, wanted: 11 });

  assert.equal(workers, Infinity);
  assert.equal(reviewAtMs, undefined);
});

Deno.test("adaptiveCap lets a pool go that has no workers or whose lanes are paused", () => {
  const emptied = { ...steady, live: 0, running: 0, wanted: 0 };
  const paused = { ...steady, live: 11, running: 0, wanted: 11 };
  for (const figures of [emptied, paused]) {
    const { drive } = refused();

    assert.equal(drive.pass(5, figures).reviewAtMs, undefined);
  }
});

Deno.test("adaptiveCap does not keep an idle pool awake after a trial without verdict", () => {
  const drive = warm();
  drive.ask(pressed);

  const { reviewAtMs } = drive.pass(5, { ...steady, live: 6, running: 0, wanted: 6 });

  assert.equal(reviewAtMs, undefined);
});

Deno.test("adaptiveCap grows carefully for half a minute after a refusal", () => {
  const { drive } = refused();
  const spare = { ...steady, live: 11, running: 2, wanted: 11 };
  drive.pass(5, spare);

  assert.equal(drive.ask({ ...pressed, live: 11, wanted: 32 }).workers, 14); // 1.25 x 11
  drive.pass(30_000, spare);
  assert.equal(drive.ask({ ...pressed, live: 11, wanted: 32 }).workers, Infinity);
});

Deno.test("adaptiveCap takes a slow-down before growth for the downstream's own", () => {
  const drive = warm();
  drive.pass(200, { ...steady, serviceMs: 40 });
  assert.equal(drive.ask({ ...pressed, serviceMs: 40 }).workers, 6);

  const { workers } = drive.pass(200, { ...pressed, live: 6, serviceMs: 40 });

  assert.equal(workers, Infinity);
});

Deno.test("adaptiveCap takes it back when attempts stay slow with fewer running", () => {
  const { drive, level } = refused();
  const slow = { ...pressed, live: level, serviceMs: 60, wanted: 32 };

  let limit = drive.ask(slow);
  for (let passed = 0; passed < 400 && limit.reason.includes("held"); passed += 5) {
    limit = drive.pass(5, slow);
  }

  assert.equal(limit.reason, "attempts are as slow with fewer running: growth may go to 33");
});

Deno.test("adaptiveCap looks for a smaller pool when jobs stay late and attempts are slower than ever", () => {
  const drive = new GateDrive(gate());
  const full = { ...pressed, live: 32, wanted: 32 };
  drive.pass(1000, full);
  const late = { ...full, serviceMs: 60, oldestWaitMs: 400 };
  drive.pass(500, late);
  assert.equal(drive.ask(late).workers, Infinity);

  const { workers, reason } = drive.pass(5, late);

  assert.equal(workers, 32);
  assert.equal(reason, "late for 505 ms, and slower than ever, with 32 workers: held at 32");
  assert.equal(drive.pass(1000, late).workers, 29); // the first step down
});

Deno.test("adaptiveCap leaves a pool alone that has too much to do and is as fast as ever", () => {
  const drive = new GateDrive(gate());
  const late = { ...pressed, live: 32, oldestWaitMs: 9000, wanted: 32 };

  assert.equal(drive.pass(5000, late).workers, Infinity);
});

Deno.test("adaptiveCap takes no new mix of lanes for a slow-down", () => {
  const cap = gate();
  let shorts = 0;
  let longs = 0;
  let nowMs = 1000;
  const ask = (passedMs: number, live: number): Limit => {
    nowMs += passedMs;
    const view = makeView({
      nowMs,
      live,
      busy: live,
      size: { min: 2, max: 32 },
      lanes: [
        { targetWaitMs: 50, timed: shorts, timedMs: 20 * shorts, meanServiceMs: 20 },
        {
          targetWaitMs: 500,
          timed: longs,
          timedMs: 100 * longs,
          meanServiceMs: 100,
          running: live,
          ready: 20,
        },
      ],
      totals: {
        completions: shorts + longs,
        serviceMsSq: 400 * shorts + 10_000 * longs,
        busyMs: 20 * shorts + 100 * longs,
      },
    });
    return cap(view, live === 2 ? 2 : 20);
  };
  for (let step = 0; step < 20; step++, shorts += 45, longs++) ask(1000, 2);
  const limits = [ask(0, 3)]; // to 6 of the 20 that are wanted
  for (let step = 0; step < 12; step++) {
    longs += 6; // and nothing else
    limits.push(ask(100, 6));
  }

  assert.equal(limits[0]?.workers, 6);
  assert.ok(limits.at(-1)!.workers > 6);
  assert.match(limits.at(-1)!.reason, /^attempts take 1.0 times as long as before/);
});

Deno.test("adaptiveCap does not count jobs as late that no worker could help", () => {
  const drive = new GateDrive(gate());
  const full = { targetWaitMs: 50, ready: 50, oldestWaitMs: 5000, running: 2, maxRunning: 2 };
  const patient = { targetWaitMs: null, ready: 50, oldestWaitMs: 5000, running: 2 };
  for (const lane of [full, patient]) {
    assert.equal(drive.pass(2000, steady, { lanes: [lane] }).workers, Infinity);
  }
});

Deno.test("adaptiveCap lowers the pool at once when the downstream says that it is overloaded", () => {
  const drive = warm();
  const ten = { ...steady, live: 10, wanted: 10 };
  drive.say(3);

  const { workers, reason } = drive.ask(ten);

  assert.equal(workers, 7);
  assert.equal(reason, "the downstream said 3 times that it is overloaded: held at 7");
  drive.say(1);
  assert.equal(drive.pass(100, { ...ten, live: 7 }).workers, 7); // said of what began before
  drive.pass(100, { ...ten, live: 7 });
  drive.say(1);
  const again = drive.ask({ ...ten, live: 7 });
  assert.equal(again.workers, 4);
  assert.equal(again.reason, "the downstream said that it is overloaded: held at 4");
});

Deno.test("adaptiveCap stays at size.min however overloaded the downstream is", () => {
  const drive = warm();
  let live = 4;
  for (let said = 0; said < 9; said++) {
    drive.say(1);
    live = Math.min(4, drive.pass(400, { ...pressed, live }).workers);
  }

  assert.equal(live, 2);
});

Deno.test("adaptiveCap does not take calls from before its time for news", () => {
  const drive = new GateDrive(gate());
  drive.say(5);

  assert.equal(drive.ask({ ...steady, live: 10, wanted: 10 }).workers, Infinity);
});

Deno.test("adaptiveCap hears no overload in deferrals", () => { // case B11
  const drive = warm();
  const putOff = { ...pressed, live: 16, oldestWaitMs: 20, deferred: 0.5 };

  assert.equal(drive.pass(5000, putOff).workers, Infinity);
});

Deno.test("adaptiveCap judges nothing while the store cannot be read or a start rate holds jobs back", () => {
  for (const unsure of [{ stale: true }, { rateBound: true }]) {
    const drive = new GateDrive(gate());
    drive.pass(1000, { ...steady, live: 10, wanted: 10 });
    drive.ask({ ...pressed, live: 10, wanted: 32 }, unsure);

    const { workers, reviewAtMs } = drive.pass(2000, { ...crowded, wanted: 30 }, unsure);

    assert.equal(workers, Infinity);
    assert.equal(reviewAtMs, undefined);
  }
});

Deno.test("adaptiveCap binds no pool of one size", () => {
  const drive = new GateDrive(gate(), { min: 4, max: 4 });
  const four = { ...crowded, live: 4, oldestWaitMs: 9000, wanted: 4 };
  drive.say(0);
  drive.pass(2000, four);
  drive.say(9);

  assert.ok(drive.pass(2000, four).workers >= 4);
});

Deno.test("adaptiveCap sums up the jobs of all lanes", () => {
  const drive = new GateDrive(gate());
  const lanes = [
    { targetWaitMs: 50, running: 1 },
    { targetWaitMs: null, running: 1, ready: 3, oldestWaitMs: 9000 },
  ];

  drive.pass(1000, steady, { lanes });

  assert.match(drive.ask({ ...pressed }, { lanes }).reason, /growth may go to 6$/);
});

Deno.test("adaptiveCap gives a pool that it joins what it has", () => {
  const view = makeView({ live: 100, busy: 100, size: { min: 1, max: 200 } });

  assert.equal(gate()(view, 200).workers, Infinity);
});

Deno.test("adaptiveCap refuses a factor of 1 or less", () => {
  assert.deepEqual(faultsOf(adaptiveCap, { factor: 1 }), ["factor: Expected a factor above 1"]);
  assert.deepEqual(faultsOf(adaptiveCap, { factor: "x" }), ["factor: Expected a factor"]);
});
