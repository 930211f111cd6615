import assert from "node:assert/strict";
import { type JobContext, RetryLater, start } from "../../mod.ts";
import type { ConfigInput } from "../../src/config/input.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { configOf, type PoolParts, type Virtual, withPool } from "../_virtual.ts";

/** What the receiver answers a job: it takes it; refuses it and names a time, or none; or the handler defers it. */
type Answer = "take" | "fail" | "defer" | { readonly refuse: number | undefined };

interface Scene extends Virtual {
  /** When the receiver was called, ms from the start. */
  readonly calls: number[];
  /** Enqueues this many jobs with their number as payload. */
  readonly add: (count: number, ttlMs?: number) => void;
  /** Calls from one time to another, ms from the start. */
  readonly callsIn: (fromMs: number, toMs: number) => number;
  readonly config: (parts: PoolParts) => ConfigInput;
}

const FIVE_MS = 5;

/** A pool whose receiver answers after 5 ms, or as long as `tookMs` says. */
async function withReceiver(
  answer: (atMs: number, payload: number) => Answer,
  test: (scene: Scene) => Promise<void>,
  { tookMs = () => FIVE_MS, ...parts }: PoolParts & {
    readonly tookMs?: (answer: Answer, payload: number) => number;
  } = {},
): Promise<void> {
  const clock = new VirtualClock();
  const startMs = clock.nowMs();
  const calls: number[] = [];
  const handler = async (job: { payload: unknown }, context: JobContext): Promise<void> => {
    const atMs = clock.nowMs() - startMs;
    calls.push(atMs);
    const given = answer(atMs, Number(job.payload));
    await new Promise<void>((resolve) =>
      clock.at(clock.nowMs() + tookMs(given, Number(job.payload)), resolve)
    );
    if (given === "take") return;
    if (given === "fail") throw new Error("no");
    if (given === "defer") throw new RetryLater(1000);
    context.overloaded(given.refuse);
    throw new RetryLater(given.refuse ?? 1000);
  };
  const base = {
    handler,
    size: { min: 2, max: 32 },
    lanes: [{ name: "only" }],
    admission: "admit-all",
    timeoutMs: 3_600_000,
    ...parts,
  };
  await withPool(base, (virtual) =>
    test({
      ...virtual,
      calls,
      config: (more) => configOf({ ...base, ...more }),
      add: (count, ttlMs) => {
        for (let payload = 0; payload < count; payload++) {
          virtual.pool.post({ lane: "only", payload, ...(ttlMs === undefined ? {} : { ttlMs }) });
        }
      },
      callsIn: (fromMs, toMs) => calls.filter((atMs) => atMs >= fromMs && atMs < toMs).length,
    }), { clock });
}

const downUntil = (untilMs: number, refuse?: number) => (atMs: number): Answer =>
  atMs < untilMs ? { refuse } : "take";

// B7
Deno.test("A receiver that refuses without a time is asked ever less often, and all goes on after one probe", async () => {
  await withReceiver(downUntil(60_000), async ({ clock, pool, add, callsIn, calls }) => {
    add(300);
    await clock.advance(60_000);
    assert.ok(callsIn(0, 10_000) <= 10, `${callsIn(0, 10_000)} calls in the first 10 s`);
    assert.ok(callsIn(10_000, 60_000) <= 4, `${callsIn(10_000, 60_000)} in the next 50`);
    await clock.advance(75_000);
    const first = calls.find((atMs) => atMs >= 60_000) ?? NaN;
    assert.ok(first <= 60_000 + 72_000);
    assert.equal(pool.snapshot().totals.completions, 300);
    assert.ok(calls.at(-1)! - first <= 10_000, "what was put off is spread by seconds");
  });
});

// B7
Deno.test("A receiver that names a time is left alone until then, by 20,000 jobs too", async () => {
  const lanes = [{ name: "only" }];
  await withReceiver(downUntil(60_000, 60_000), async ({ clock, add, callsIn, pool }) => {
    add(20_000);
    await clock.advance(60_000);
    assert.ok(callsIn(0, 60_000) <= 32, `${callsIn(0, 60_000)} calls`);
    await clock.advance(20_000);
    assert.equal(pool.snapshot().totals.completions, 20_000);
  }, { lanes });
});

Deno.test("A time longer than maxMs is asked about after maxMs, then twice as late, and jobs keep their own", async () => {
  const hours = 2 * 3_600_000;
  await withReceiver(() => ({ refuse: hours }), async ({ clock, add, calls, events }) => {
    add(100);
    await clock.advance(hours - 1000);
    const first = calls.filter((atMs) => atMs > 1000);

    assert.ok(first.length <= 8, `${first.length} probes in two hours`);
    assert.ok(first[0]! >= 60_000 && first[1]! - first[0]! >= 120_000);
    for (const event of events) {
      if (event.kind === "job-deferred") assert.ok(event.retryInMs >= hours);
    }
  }, { tickMs: 10_000 });
});

for (const answer of ["defer", "fail"] as const) {
  Deno.test(`A job that ${answer}s by itself closes no pool`, async () => {
    await withReceiver(() => answer, async ({ clock, add, events, pool }) => {
      add(200);
      await clock.advance(500);

      assert.equal(pool.snapshot().totals.starts, 200);
      assert.equal(pool.snapshot().holdUntilMs, 0);
      assert.ok(events.every(({ kind }) => kind !== "cooldown-began"));
    }, { lanes: [{ name: "only", attempts: 1 }] });
  });
}

Deno.test("overloaded() without a deferral is no refusal", async () => {
  const clock = new VirtualClock();
  const handler = (_: unknown, context: JobContext): void => context.overloaded();
  const pools = { p: { handler, size: { min: 2, max: 2 }, lanes: [{ name: "only" }] } };
  const sluice = await start({ pools }, { clock });
  for (let count = 0; count < 20; count++) sluice.pool("p").post({ lane: "only", payload: 0 });
  await clock.advance(10);

  assert.equal(sluice.pool("p").snapshot().totals.completions, 20);
  assert.equal(sluice.pool("p").snapshot().holdUntilMs, 0);
  await sluice.stop();
});

// B7: a default must do no harm
for (const workers of [1, 2, 8, 32]) {
  Deno.test(`A receiver that refuses every other job closes no pool of ${workers} to the rest`, async () => {
    const done = async (cooldown: false | undefined): Promise<number> => {
      let completions = 0;
      const own = (_: number, payload: number): Answer =>
        payload % 2 === 1 ? { refuse: payload % 4 === 1 ? 30_000 : undefined } : "take";
      await withReceiver(own, async ({ clock, pool, add, events }) => {
        for (let second = 0; second < 60; second++) {
          add(40, 20_000);
          await clock.advance(1000);
        }
        completions = pool.snapshot().totals.completions;
        assert.ok(events.every(({ kind }) => kind !== "cooldown-began"));
      }, { size: { min: workers, max: workers }, ...(cooldown === false ? { cooldown } : {}) });
      return completions;
    };

    assert.equal(await done(undefined), await done(false));
  });
}

Deno.test("A success beside the first refusals opens the pool again at once", async () => {
  const own = (_: number, payload: number): Answer => payload < 6 ? { refuse: undefined } : "take";
  const tookMs = (answer: Answer): number => answer === "take" ? 50 : 1;
  await withReceiver(own, async ({ clock, add, pool }) => {
    add(8);
    await clock.advance(30);
    assert.ok(pool.snapshot().holdUntilMs > clock.nowMs());
    await clock.advance(30);
    assert.equal(pool.snapshot().holdUntilMs, 0);
  }, { size: { min: 8, max: 8 }, tookMs });
});

Deno.test("Long jobs that began before it close and open nothing, and a probe need not end to be heard", async () => {
  const down = downUntil(20_000);
  const tookMs = (answer: Answer): number => answer === "take" ? 600_000 : 5;
  const own = (atMs: number, payload: number): Answer =>
    payload < 4 && atMs < 100 ? "take" : down(atMs);
  await withReceiver(own, async ({ clock, add, callsIn, pool }) => {
    add(60);
    await clock.advance(20_000);
    assert.ok(callsIn(100, 20_000) <= 10, `${callsIn(100, 20_000)}`);
    await clock.advance(40_000 + 10_000);
    assert.equal(pool.snapshot().busy, 32); // all its workers, long before the first probe ends
    await clock.advance(1_200_000);
  }, { tookMs, size: { min: 32, max: 32 } });
});

// B7: a default must do no harm
Deno.test("A pool whose receiver is well does the same with a cool-down as without", async () => {
  const kinds = async (cooldown: false | undefined): Promise<readonly string[]> => {
    let seen: readonly string[] = [];
    const own = (_: number, payload: number): Answer =>
      payload % 17 === 0 ? "fail" : payload % 11 === 0 ? "defer" : "take";
    await withReceiver(own, async ({ clock, add, events }) => {
      for (let round = 0; round < 20; round++) {
        add(100);
        await clock.advance(70);
      }
      await clock.advance(5000);
      seen = events.map(({ kind, atMs }) => `${kind} ${atMs}`);
    }, cooldown === false ? { cooldown } : {});
    return seen;
  };

  assert.deepEqual(await kinds(undefined), await kinds(false));
});

Deno.test("A pool that cools down does not grow, and view, decision and finding say why", async () => {
  await withReceiver(downUntil(1e9), async ({ clock, add, pool }) => {
    add(300);
    await clock.advance(100);
    const { live } = pool.snapshot();
    await clock.advance(20_000);
    const { live: later, rateBound, holdUntilMs } = pool.snapshot();

    assert.ok(later <= live && later <= 4, `${later} workers`);
    assert.equal(rateBound, true);
    assert.ok(holdUntilMs > clock.nowMs());
    const { latest, sentence } = pool.explain(1)[0]!;
    assert.match(latest ?? sentence, /not now/);
    const codes = pool.diagnosis().map(({ code }) => code);
    assert.deepEqual(codes, ["receiver-refuses"]);
  });
});

Deno.test("Who is turned away while a pool cools down is told to come back after it", async () => {
  const lanes = [{ name: "only", maxDepth: 50 }];
  await withReceiver(() => ({ refuse: 60_000 }), async ({ clock, add, pool }) => {
    add(50);
    await clock.advance(1000);
    const leftMs = pool.snapshot().holdUntilMs - clock.nowMs();
    assert.ok(leftMs > 50_000);
    assert.throws(
      () => add(10),
      (thrown: { retryAfterMs: number }) => thrown.retryAfterMs >= leftMs,
    );
  }, { lanes });
});

Deno.test("ttlMs ends jobs that a cool-down holds", async () => {
  await withReceiver(() => ({ refuse: 60_000 }), async ({ clock, add, pool }) => {
    add(40, 10_000);
    await clock.advance(120_000);

    assert.equal(pool.tally()[0]!.dead.expired, 40);
  });
});

Deno.test("A stop, a drain and a slice do not wait for a cool-down", async () => {
  await withReceiver(() => ({ refuse: 60_000 }), async ({ clock, add, sluice, pool }) => {
    add(40);
    await clock.advance(1000);
    const sliced = sluice.slice(30_000);
    await clock.advance(200);
    await sliced;
    const drained = pool.drain();
    await clock.advance(0);
    await drained;
    assert.equal(pool.snapshot().stopped, true);
  });
});

Deno.test("A reload keeps a cool-down, and one that switches it off ends it", async () => {
  await withReceiver(
    () => ({ refuse: 60_000 }),
    async ({ clock, add, sluice, pool, config, callsIn, events }) => {
      add(40);
      await clock.advance(1000);
      const { holdUntilMs } = pool.snapshot();
      await sluice.reload(config({ tickMs: 100 }));
      assert.equal(pool.snapshot().holdUntilMs, holdUntilMs);
      await sluice.reload(config({ cooldown: { maxMs: 5000 } }));
      assert.equal(pool.snapshot().holdUntilMs, clock.nowMs() + 5000);
      await sluice.reload(config({ cooldown: false }));
      await clock.advance(100);

      assert.equal(pool.snapshot().holdUntilMs, 0);
      assert.equal(callsIn(1000, 2000), 36);
      assert.deepEqual(
        events.filter(({ kind }) => kind.startsWith("cooldown")).map(({ kind }) => kind),
        ["cooldown-began", "cooldown-ended"],
      );
    },
  );
});
