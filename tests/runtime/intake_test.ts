import assert from "node:assert/strict";
import * as v from "valibot";
import type { NewJob } from "../../src/contract/job.ts";
import { defineHandler } from "../../src/contract/plugin.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { withPool } from "../_virtual.ts";

const CYCLE: Record<string, unknown> = {};
CYCLE["self"] = CYCLE;

const FAULTS: readonly [Partial<NewJob> | null, string][] = [
  [null, "Expected a job such as { lane, payload } but received null"],
  [{ lane: "hihg" }, 'No lane of pool "p" is named "hihg": did you mean "high"?'],
  [{ lane: "xyz" }, 'No lane of pool "p" is named "xyz": expected one of "high", "low"'],
  [{ type: "mail" }, 'Pool "p" has one handler: leave out the type "mail"'],
  [{ payload: () => 1 }, "The payload cannot be stored: it is a function; use a JSON value"],
  [
    { payload: { a: [1, { b: 1n }] } },
    "The payload at /a/1/b cannot be stored: it is a bigint; use a JSON value",
  ],
  [{ payload: NaN }, "The payload cannot be stored: it is NaN; use a finite number or null"],
  [
    { payload: { at: new Date(0) } },
    "The payload at /at cannot be stored: it is an object of class Date; use plain JSON, such as a string for a date",
  ],
  [
    { payload: CYCLE },
    "The payload at /self/self/self/self/self/self/self/self cannot be stored: it is nested deeper than 100; is there a cycle?",
  ],
  [{ delayMs: -1 }, "Expected delayMs >= 0 ms but received -1"],
  [
    { runAt: "2026-12-24" },
    "Expected runAt to be a time with its zone, such as 2026-12-24T18:00:00Z or 2026-12-24T19:00:00+01:00, but received 2026-12-24",
  ],
  [
    { runAt: "2026-12-24T18:00:00Z", delayMs: 0 },
    "Expected either delayMs or runAt: received both",
  ],
  [
    { runAt: "9999-12-24T18:00:00Z" },
    "Expected runAt to be at most 3153600000000 ms (100 years) but received 9999-12-24T18:00:00Z",
  ],
  [{ delayMs: NaN }, "Expected delayMs >= 0 ms but received NaN"],
  [
    { delayMs: 2 ** 53 },
    "Expected delayMs to be at most 3153600000000 ms (100 years) but received 9007199254740992",
  ],
  [
    { delayMs: Infinity },
    "Expected delayMs to be at most 3153600000000 ms (100 years) but received Infinity",
  ],
  [
    { ttlMs: 2 ** 53 },
    "Expected ttlMs to be at most 3153600000000 ms (100 years) but received 9007199254740992",
  ],
  [
    { ttlMs: Infinity },
    "Expected ttlMs to be at most 3153600000000 ms (100 years) but received Infinity",
  ],
  [{ ttlMs: NaN }, "Expected ttlMs >= 0 ms but received NaN"],
  [{ key: "" }, "Expected key to be a text of 1 to 1024 characters but received 0 characters"],
  [
    { dedupeKey: "x".repeat(2000) },
    "Expected dedupeKey to be a text of 1 to 1024 characters but received 2000 characters",
  ],
];

Deno.test("enqueue() and post() say what is wrong with a job, and store nothing", async () => {
  await withPool({}, async ({ pool }) => {
    for (const [fault, message] of FAULTS) {
      const job = fault === null ? fault : { lane: "high", payload: 1, ...fault };
      const given = job as NewJob; // wrong on purpose
      await assert.rejects(pool.enqueue(given), { message });
      assert.throws(() => pool.post(given), { message });
    }
    assert.equal(pool.snapshot().totals.arrivals, 0);
    assert.equal(pool.snapshot().totals.shed, 0);
  });
});

Deno.test("enqueueAll() answers each job by itself", async () => {
  await withPool({}, async ({ pool, clock }) => {
    const answers = await pool.enqueueAll([
      { lane: "high", payload: 1 },
      { lane: "none", payload: 2 },
      { lane: "low", payload: 3 },
    ]);
    await clock.settle();

    assert.ok(answers[1] instanceof TypeError);
    const ends = answers.map((answer) => answer instanceof Error ? answer.name : answer.done);
    assert.deepEqual(await Promise.all(ends), [
      { state: "done", result: "ok" },
      "TypeError",
      { state: "done", result: "ok" },
    ]);
  });
});

Deno.test("enqueue() refuses a payload that does not fit the handler's schema", async () => {
  const handler = defineHandler({
    payload: v.object({ to: v.string(), copies: v.optional(v.number(), 1) }),
    run: ({ payload }) => `${payload.to} x${payload.copies}`,
  });
  await withPool({ handler }, async ({ pool, clock }) => {
    await assert.rejects(pool.enqueue({ lane: "high", payload: { to: 5 } }), {
      name: "PayloadError",
      message:
        "The payload does not fit its handler: to: Invalid type: Expected string but received 5",
    });
    const job = await pool.enqueue({ lane: "high", payload: { to: "you" } });
    await clock.settle();
    assert.equal((await job.done).result, "you x1");
  });
});

Deno.test("A pool with several handlers runs each job by its type", async () => {
  const handlers = { mail: () => "mailed", sms: () => "texted" };
  await withPool({ handler: undefined, handlers } as never, async ({ pool, clock }) => {
    await assert.rejects(pool.enqueue({ lane: "high", payload: 1 }), {
      message: 'Pool "p" has several handlers: set a type, one of "mail", "sms"',
    });
    await assert.rejects(pool.enqueue({ lane: "high", type: "mial", payload: 1 }), {
      message: 'No handler of pool "p" is named "mial": did you mean "mail"?',
    });
    const jobs = await Promise.all(
      ["mail", "sms"].map((type) => pool.enqueue({ lane: "high", type, payload: 1 })),
    );
    await clock.settle();
    const results = await Promise.all(jobs.map(async (job) => (await job.done).result));
    assert.deepEqual(results, ["mailed", "texted"]);
  });
});

Deno.test("A job with the dedupeKey of one that has not ended is a duplicate of it", async () => {
  await withPool({}, async ({ pool, clock }) => {
    await pool.pause();
    const first = await pool.enqueue({ lane: "high", payload: 1, dedupeKey: "order 7" });
    const second = await pool.enqueue({ lane: "low", payload: 2, dedupeKey: "order 7" });
    assert.deepEqual([second.duplicate, second.id], [true, first.id]);

    await pool.resume();
    await clock.settle();
    assert.deepEqual(await second.done, { state: "done", result: "ok" });
    const third = await pool.enqueue({ lane: "high", payload: 3, dedupeKey: "order 7" });
    assert.equal(third.duplicate, false);
  });
});

Deno.test("Jobs enqueued in one go are not shed for the time that their own enqueueing takes", async () => {
  const clock = new VirtualClock();
  let nowMs = clock.nowMs();
  const slow = { nowMs: () => nowMs, at: clock.at.bind(clock) }; // each reading takes a ms, as on a busy machine
  const parts = { handler: () => new Promise<void>(() => {}), size: { min: 1, max: 1 } };
  await withPool({ ...parts, drainMs: 1 }, async ({ pool }) => {
    for (let index = 0; index < 5000; index++) {
      nowMs++;
      pool.post({ lane: "high", payload: index });
    }

    assert.equal(pool.snapshot().totals.shed, 0);
    await Promise.resolve();
  }, { clock: Object.assign(clock, slow) });
});

Deno.test("A job with runAt starts at that time, and at once if it is past", async () => {
  await withPool({}, async ({ pool, clock, events }) => {
    const fromMs = clock.nowMs();
    const runAt = (ms: number) => new Date(fromMs + ms).toISOString();
    await pool.enqueue({ lane: "high", payload: 1, runAt: runAt(5000) });
    await pool.enqueue({ lane: "high", payload: 2, runAt: runAt(-5000) });
    await clock.advance(10_000);

    const started = events.flatMap((event) =>
      event.kind === "job-started" ? [event.atMs - fromMs] : []
    );
    assert.deepEqual(started, [0, 5000]);
  });
});
