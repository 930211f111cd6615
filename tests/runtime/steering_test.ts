import assert from "node:assert/strict";
import type { Job } from "../../src/contract/job.ts";
import {
  defineAdmission,
  defineCap,
  defineController,
  defineLanePolicy,
  defineRetirement,
} from "../../src/contract/plugin.ts";
import type { PoolView } from "../../src/contract/view.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { sleeper, withPool } from "../_virtual.ts";

/** A controller that wants what a variable says. */
function wanting(wanted: () => number): ReturnType<typeof defineController> {
  return defineController({
    name: "wanting",
    create: () => () => ({ workers: wanted(), reason: "told so" }),
  });
}

Deno.test("Steering grows to what the controller wants, within size", async () => {
  let wanted = 3;
  const controller = wanting(() => wanted);
  await withPool({ controller, size: { min: 2, max: 5 } }, async ({ pool, clock }) => {
    await clock.advance(100);
    assert.equal(pool.snapshot().live, 3);

    wanted = 9.2;
    pool.post({ lane: "high", payload: 1 });
    await clock.advance(100);
    assert.equal(pool.snapshot().live, 5);
    assert.equal(pool.explain(1)[0]!.boundBy, "size.max");
    assert.match(
      pool.explain(1)[0]!.sentence,
      /^Grew from 3 to 5: wanting wants 10 \(told so\), but size.max is 5$/,
    );

    wanted = 0;
    pool.post({ lane: "high", payload: 1 });
    await clock.advance(100);
    assert.equal(pool.snapshot().live, 2);
    assert.equal(pool.explain(1)[0]!.boundBy, "size.min");
  });
});

Deno.test("A cap wins over the minimum, and the decision says so", async () => {
  const caps = [{ use: "fixed-cap", with: { workers: 1 } }] as const;
  await withPool({ caps, size: { min: 3, max: 5 } }, async ({ pool, clock }) => {
    await clock.advance(100);

    assert.equal(pool.snapshot().live, 1);
    assert.equal(pool.explain(1)[0]!.boundBy, "cap:fixed-cap");
  });
});

// G1
Deno.test("A retirement never interrupts a job, and growth takes it back first", async () => {
  const clock = new VirtualClock();
  let wanted = 4;
  const controller = wanting(() => wanted);
  const handler = sleeper(() => clock, 1000);
  await withPool({ controller, handler, size: { min: 1, max: 8 } }, async ({ pool, events }) => {
    for (let index = 0; index < 4; index++) pool.post({ lane: "high", payload: null });
    await clock.advance(100);
    const ids = pool.snapshot().workers.map((worker) => worker.id);

    wanted = 1;
    await clock.advance(500);
    const states = pool.snapshot().workers.map((worker) => worker.state).sort();
    assert.deepEqual(states, ["busy", "retiring", "retiring", "retiring"]);

    wanted = 3;
    await clock.advance(100);
    assert.equal(pool.snapshot().live, 3);
    await clock.advance(1000);
    assert.equal(pool.snapshot().totals.completions, 4);
    assert.equal(pool.snapshot().live, 3);
    assert.ok(pool.snapshot().workers.every((worker) => ids.includes(worker.id)));
    assert.equal(events.some((event) => event.kind === "job-failed"), false);
  }, { clock });
});

// A7
Deno.test("Workers on their way are counted: a slow start causes no second one", async () => {
  const clock = new VirtualClock();
  let opened = 0;
  const { defineHandler } = await import("../../src/contract/plugin.ts");
  const handler = defineHandler({
    start: () => {
      opened++;
      return new Promise<number>((resolve) => clock.at(clock.nowMs() + 150, () => resolve(1)));
    },
    run: () => new Promise<void>((resolve) => clock.at(clock.nowMs() + 5, resolve)),
  });
  const controller = wanting(() => 6);
  await withPool({ handler, controller, size: { min: 1, max: 20 } }, async ({ pool }) => {
    for (let index = 0; index < 100; index++) pool.post({ lane: "high", payload: index });
    await clock.advance(1000);

    assert.equal(opened, 6);
    assert.equal(pool.snapshot().totals.completions, 100);
  }, { clock });
});

Deno.test("An idle pool has no timer; a job wakes it", async () => {
  await withPool({ size: { min: 1, max: 4 } }, async ({ pool, clock }) => {
    pool.post({ lane: "high", payload: 1 });
    await clock.advance(200);
    assert.equal(clock.nextAtMs(), undefined);

    const job = await pool.enqueue({ lane: "high", payload: 1 });
    await clock.settle();
    assert.equal((await job.done).state, "done");
  });
});

Deno.test("A strategy that throws or answers nonsense leaves the last plan standing", async () => {
  const answers: (() => number)[] = [
    () => 3,
    () => {
      throw new Error("broken");
    },
    () => NaN,
    () => -1,
    () => Infinity,
  ];
  let current = 0;
  const controller = wanting(() => answers[current]!());
  await withPool({ controller, size: { min: 1, max: 5 } }, async ({ pool, clock, events }) => {
    await clock.advance(100);
    for (current = 1; current < answers.length; current++) {
      pool.post({ lane: "high", payload: 1 });
      await clock.advance(100);
      assert.equal(pool.snapshot().live, 3);
      assert.equal(pool.snapshot().degraded, true);
    }
    current = 0;
    pool.post({ lane: "high", payload: 1 });
    await clock.advance(100);

    assert.equal(pool.snapshot().degraded, false);
    const told = events.filter((event) =>
      event.kind === "plugin-failed" || event.kind === "plugin-recovered"
    );
    assert.deepEqual(told.map((event) => [event.kind, "error" in event ? event.error : ""]), [
      ["plugin-failed", "broken"],
      ["plugin-recovered", ""],
    ]);
  });
});

Deno.test("A lane policy that fails falls back to list order", async () => {
  const order: string[] = [];
  const handler = (job: Job): void => void order.push(job.lane);
  const other = { name: "nowhere", index: 7 };
  const lanePolicy = defineLanePolicy({
    name: "lost",
    create: () => (view) => ({ ...view.lanes[0]!, ...other }),
  });
  await withPool({ handler, lanePolicy }, async ({ pool, clock, events }) => {
    pool.post({ lane: "low", payload: 1 });
    pool.post({ lane: "high", payload: 2 });
    await clock.settle();

    assert.deepEqual(order, ["high", "low"]);
    const failed = events.find((event) => event.kind === "plugin-failed");
    assert.equal(failed?.error, 'Expected one of the eligible lanes but received "nowhere"');
  });
});

Deno.test("A retirement that names an unknown worker fails and lets nobody go", async () => {
  const retirement = defineRetirement({ name: "wild", create: () => () => ["w99"] });
  await withPool({ retirement }, async ({ pool, clock, events }) => {
    await clock.advance(100);

    assert.equal(pool.snapshot().live, 1);
    const failed = events.find((event) => event.kind === "plugin-failed");
    assert.equal(failed?.error, 'No worker has the id "w99"');
  });
});

Deno.test("A retirement that names everyone stops at the minimum", async () => {
  const retirement = defineRetirement({
    name: "greedy",
    create: () => (view) => view.workers.map((worker) => worker.id),
  });
  const controller = wanting(() => 4);
  await withPool({ retirement, controller, size: { min: 2, max: 4 } }, async ({ pool, clock }) => {
    await clock.advance(25);

    assert.equal(pool.snapshot().live, 2);
  });
});

Deno.test("An admission that throws admits, and the pool is degraded", async () => {
  const admission = defineAdmission({
    name: "moody",
    create: () => ({
      submit: () => {
        throw new Error("no mood");
      },
    }),
  });
  await withPool({ admission }, async ({ pool, clock }) => {
    const job = await pool.enqueue({ lane: "high", payload: 1 });
    await clock.settle();

    assert.equal((await job.done).state, "done");
    assert.equal(pool.snapshot().degraded, true);
  });
});

// G3, C10
Deno.test("A start rate holds in every half-open second, from a cold start and across edges", async () => {
  const clock = new VirtualClock();
  const starts: number[] = [];
  const handler = (): Promise<void> => {
    starts.push(clock.nowMs());
    return new Promise((resolve) => clock.at(clock.nowMs() + 20, resolve));
  };
  const caps = [{
    use: "api-rate-cap",
    with: { callsPerSec: 30, serviceMs: 20, headroom: 0 },
  }] as const;
  await withPool(
    { handler, caps, admission: "admit-all", size: { min: 1, max: 50 } },
    async ({ pool }) => {
      for (let index = 0; index < 40; index++) pool.post({ lane: "high", payload: index });
      await clock.advance(900);
      for (let index = 0; index < 200; index++) pool.post({ lane: "high", payload: index });
      await clock.advance(6000);

      assert.ok(starts.length >= 180, `${starts.length}`);
      for (let index = 30; index < starts.length; index++) {
        assert.ok(starts[index]! - starts[index - 30]! >= 1000);
      }
      assert.equal(pool.snapshot().limit, 2); // ceil(30 x 0.02 x 1.5) + 1
      assert.equal(pool.snapshot().live, 2);
      assert.equal(pool.snapshot().rateBound, true);
    },
    { clock },
  );
});

Deno.test("A rate that holds jobs back forbids growth, and the decision names the cap", async () => {
  const clock = new VirtualClock();
  const brake = defineCap({
    name: "brake",
    create: () => () => ({ workers: 10, startsPerSec: 5, reason: "5 a second" }),
  });
  const parts = { caps: [brake], handler: sleeper(() => clock, 10), size: { min: 2, max: 10 } };
  const controller = defineController({ // the built-in ones do not ask for more then
    name: "eager",
    create: () => ({ rateBound, target }) => ({ workers: rateBound ? 10 : target, reason: "more" }),
  });
  await withPool({ ...parts, controller, admission: "admit-all" }, async ({ pool }) => {
    for (let index = 0; index < 100; index++) pool.post({ lane: "high", payload: null });
    await clock.advance(3000);

    assert.ok(pool.snapshot().live <= 5, `${pool.snapshot().live}`); // as many as the rate lets start at once
    assert.ok(pool.explain(10).some((decision) => decision.boundBy === "cap:brake"));
    const { starts } = pool.snapshot().totals;
    assert.ok(starts >= 15 && starts <= 20, `${starts}`);
  }, { clock });
});

Deno.test("Signals are read before each tick; one that fails is stale", async () => {
  let reading: () => number = () => 3;
  const seen: PoolView["signals"][] = [];
  const controller = defineController({
    name: "watching",
    create: () => (view) => {
      seen.push(view.signals);
      return { workers: view.signals.slots?.value ?? 0, reason: "as many as slots" };
    },
  });
  const parts = { controller, signals: { slots: { use: "slots" } }, size: { min: 1, max: 9 } };
  await withPool(parts, async ({ pool, clock }) => {
    await clock.advance(100);
    assert.equal(pool.snapshot().live, 3);

    reading = () => {
      throw new Error("gone");
    };
    await clock.advance(100);
    assert.deepEqual(seen.at(-1), { slots: { value: 3, stale: true } });
    assert.equal(pool.snapshot().live, 3);
  }, { signals: { slots: () => reading() } });
});

// B2
Deno.test("One waiting job at a time never drives the pool to its maximum", async () => {
  const clock = new VirtualClock();
  const parts = { handler: sleeper(() => clock, 100), size: { min: 1, max: 500 } };
  await withPool(parts, async ({ pool }) => {
    let peak = 0;
    for (let step = 0; step < 300; step++) {
      if (pool.snapshot().lanes[0]!.ready === 0) pool.post({ lane: "high", payload: null });
      await clock.advance(10);
      peak = Math.max(peak, pool.snapshot().live);
    }

    assert.ok(peak <= 12, `${peak}`);
  }, { clock });
});

Deno.test("A review between two ticks leaves the grid of ticks alone", async () => {
  const asked: number[] = [];
  const clock = new VirtualClock();
  const began = clock.nowMs();
  const controller = defineController({
    name: "eager",
    create: () => (view) => {
      asked.push(view.nowMs - began);
      const review = view.nowMs - began < 1000 ? { reviewAtMs: view.nowMs + 7 } : {};
      return { workers: 2, reason: "always two", ...review };
    },
  });
  const parts = { controller, handler: sleeper(() => clock, 5000), size: { min: 1, max: 4 } };
  await withPool(parts, async ({ pool }) => {
    pool.post({ lane: "high", payload: null });
    await clock.advance(1300);

    const late = asked.filter((atMs) => atMs > 1010);
    assert.deepEqual(late, [1050, 1100, 1150, 1200, 1250, 1300]);
  }, { clock });
});

Deno.test("A decision that is repeated says why it still stands", async () => {
  await withPool({ size: { min: 1, max: 4 } }, async ({ pool, clock }) => {
    await clock.advance(20);
    const first = pool.explain(1)[0]!;
    assert.equal(first.latest, undefined);
    await pool.pause("low");
    pool.post({ lane: "low", payload: 1 });
    pool.override({ min: 1 }, 1000);
    await clock.advance(200);

    const { sentence, latest, untilMs, atMs } = pool.explain(1)[0]!;
    assert.equal(sentence, first.sentence);
    assert.match(latest ?? "", /1 blocked/);
    assert.ok(untilMs > atMs);
  });
});

Deno.test("A tick at the instant of an arrival sees no wait that an idle worker ends at once", async () => {
  const clock = new VirtualClock();
  const parts = { handler: sleeper(() => clock, 20), size: { min: 2, max: 9 } };
  await withPool(parts, async ({ pool }) => {
    for (let step = 0; step < 200; step++) {
      clock.at(clock.nowMs() + 50, () => {
        pool.post({ lane: "high", payload: null });
        pool.post({ lane: "low", payload: null });
      });
      await clock.advance(50);
    }

    assert.equal(pool.snapshot().scaleEvents, 0);
    assert.equal(pool.snapshot().live, 2);
  }, { clock });
});
