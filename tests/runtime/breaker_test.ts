import assert from "node:assert/strict";
import { Fatal, type Job, type JobContext, RetryLater } from "../../mod.ts";
import type { ConfigInput } from "../../src/config/input.ts";
import type { PoolEvent } from "../../src/contract/event.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { configOf, type PoolParts, type Virtual, withPool } from "../_virtual.ts";

/** What a receiver answers. */
type Answer = "take" | "fail" | "fatal" | "gone" | "refuse" | { readonly refuse: number };

interface Call {
  readonly atMs: number;
  readonly key: string | undefined;
  readonly payload: number;
}

interface Scene extends Virtual {
  readonly calls: readonly Call[];
  /** Enqueues this many jobs with their number as payload. */
  readonly add: (count: number, key?: string) => void;
  /** Calls of a key from one time to another, ms from the start. */
  readonly callsOf: (key: string, fromMs: number, toMs: number) => number;
  readonly config: (parts: PoolParts) => ConfigInput;
}

/** A pool whose receivers answer after 5 ms. */
async function withReceivers(
  answer: (call: Call) => Answer,
  test: (scene: Scene) => Promise<void>,
  parts: PoolParts = {},
): Promise<void> {
  const clock = new VirtualClock();
  const startMs = clock.nowMs();
  const calls: Call[] = [];
  const handler = async ({ payload, key }: Job, context: JobContext): Promise<void> => {
    const call = { atMs: clock.nowMs() - startMs, key, payload: Number(payload) };
    calls.push(call);
    const given = answer(call);
    await new Promise<void>((resolve) => clock.at(clock.nowMs() + 5, resolve));
    if (given === "take") return;
    if (given === "fail") throw new Error("no");
    if (given === "fatal") throw new Fatal("never");
    if (given === "gone") throw new Fatal("gone", { gone: true });
    const refuse = given === "refuse" ? undefined : given.refuse;
    context.overloaded(refuse);
    throw new RetryLater(refuse ?? 1000);
  };
  const base = {
    handler,
    size: { min: 4, max: 16 },
    lanes: [{ name: "only", maxRunningPerKey: 2, attempts: 1000 }],
    admission: "admit-all",
    ...parts,
  };
  await withPool(base, (virtual) =>
    test({
      ...virtual,
      calls,
      config: (more) => configOf({ ...base, ...more }),
      add: (count, key) => {
        for (let payload = 0; payload < count; payload++) {
          virtual.pool.post({ lane: "only", payload, ...(key === undefined ? {} : { key }) });
        }
      },
      callsOf: (key, fromMs, toMs) =>
        calls.filter((call) => call.key === key && call.atMs >= fromMs && call.atMs < toMs).length,
    }), { clock });
}

const began = (events: readonly PoolEvent[]) =>
  events.flatMap((event) => event.kind === "cooldown-began" ? [event] : []);
const ended = (events: readonly PoolEvent[]) =>
  events.flatMap((event) => event.kind === "cooldown-ended" ? [event] : []);

Deno.test("Failures in a row open the breaker if the config says so: few are tried, and all goes on by itself", async () => {
  const down = ({ atMs }: Call): Answer => atMs < 60_000 ? "fail" : "take";
  await withReceivers(down, async ({ clock, pool, add, calls, events }) => {
    add(300);
    await clock.advance(60_000);
    assert.ok(calls.length <= 10 + 16 + 10, `${calls.length} attempts in 60 s`);
    assert.equal(began(events)[0]?.cause, "failures");
    const codes = pool.diagnosis().map(({ code }) => code);
    assert.deepEqual(codes, ["failing", "receiver-refuses"]);
    assert.equal(pool.snapshot().breakers[0]?.cause, "failures");
    await clock.advance(120_000);
    assert.equal(pool.snapshot().totals.completions, 300);
    assert.equal(ended(events).at(-1)?.by, "success");
    assert.deepEqual(pool.snapshot().breakers, []);
  }, { cooldown: { failures: 10 } });
});

Deno.test("Failures alone open no breaker by default, and Fatal never does", async () => {
  for (const answer of ["fail", "fatal"] as const) {
    const cooldown = answer === "fatal" ? { failures: 1 } : {};
    await withReceivers(() => answer, async ({ clock, add, events }) => {
      add(200);
      await clock.advance(2000);
      assert.deepEqual(began(events), []);
    }, { cooldown, lanes: [{ name: "only", attempts: 2 }] });
  }
});

Deno.test("Where half of the jobs fail no breaker opens to the others", async () => {
  const half = ({ payload }: Call): Answer => payload % 2 === 0 ? "fail" : "take";
  await withReceivers(half, async ({ clock, add, events, pool }) => {
    for (let second = 0; second < 60; second++) {
      add(40);
      await clock.advance(1000);
    }
    assert.deepEqual(began(events), []);
    assert.equal(pool.snapshot().totals.completions, 1200);
  }, { cooldown: { failures: 10 }, lanes: [{ name: "only", attempts: 3 }] });
});

Deno.test("A receiver that is gone is asked ever less often, and its jobs wait instead of being dead", async () => {
  let isBack = false;
  await withReceivers(
    () => isBack ? "take" : "gone",
    async ({ clock, pool, add, calls, events }) => {
      add(100);
      await clock.advance(2 * 3_600_000);
      assert.ok(calls.length <= 4 + 10, `${calls.length} calls in two hours`);
      assert.equal(began(events)[0]?.cause, "gone");
      assert.equal(pool.tally()[0]!.dead.fatal, 0);

      isBack = true;
      assert.equal(await pool.closeBreaker(), true);
      await clock.advance(1000);
      assert.ok(pool.snapshot().totals.completions > 80, "all that were not put off start at once");
      assert.equal(ended(events).at(-1)?.by, "hand");
      assert.equal(await pool.closeBreaker(), false, "it is closed");
      await clock.advance(2 * 3_600_000);
      assert.equal(pool.snapshot().totals.completions, 100);
    },
    { cooldown: { gone: true }, tickMs: 1000 },
  );
});

Deno.test("A job that says its receiver is gone is dead by default, and so is one that alone says so", async () => {
  const one = ({ payload }: Call): Answer => payload === 50 ? "gone" : "take";
  for (const cooldown of [{}, { gone: true }]) {
    await withReceivers(one, async ({ clock, pool, add }) => {
      add(100);
      await clock.advance(600_000);
      assert.equal(pool.snapshot().totals.completions, 99);
      assert.equal(pool.tally()[0]!.dead.fatal, 1);
    }, { cooldown, tickMs: 1000 });
  }
});

Deno.test("A breaker that was closed by hand opens again after as few calls as before", async () => {
  await withReceivers(() => ({ refuse: 60_000 }), async ({ clock, pool, add, calls, events }) => {
    add(100);
    await clock.advance(1000);
    const before = calls.length;
    await pool.closeBreaker();
    await clock.advance(1000);
    assert.ok(calls.length - before <= 3, `${calls.length - before}`);
    assert.equal(began(events).length, 2);
    assert.ok(pool.snapshot().holdUntilMs > clock.nowMs());
  });
});

const BY_KEY = { cooldown: { by: "key", failures: 10, gone: true } } as const;

for (const bad of ["refuse", { refuse: 20_000 }, "fail", "gone"] as const) {
  const name = JSON.stringify(bad);
  Deno.test(`With by: "key", a key whose receiver says ${name} is held, and all others go on`, async () => {
    const own = ({ key, atMs }: Call): Answer => key === "bad" && atMs < 60_000 ? bad : "take";
    await withReceivers(own, async ({ clock, pool, add, callsOf, events }) => {
      add(500, "bad");
      for (let key = 0; key < 50; key++) add(20, `good${key}`);
      await clock.advance(10_000);
      assert.equal(pool.snapshot().totals.completions, 1000, "the others are done");
      const { openKeys, breakers, holdUntilMs } = pool.snapshot();
      assert.deepEqual([openKeys, breakers.map(({ key }) => key), holdUntilMs], [1, ["bad"], 0]);
      assert.deepEqual(pool.diagnosis().map(({ code }) => code), ["receiver-refuses"]);
      await clock.advance(50_000);
      const calls = callsOf("bad", 0, 60_000);
      assert.ok(calls <= (bad === "fail" ? 20 : 12), `${calls} calls`);
      await clock.advance(130_000);
      assert.equal(pool.snapshot().totals.completions, 1500);
      assert.equal(pool.snapshot().openKeys, 0);
      assert.deepEqual([...new Set(began(events).map(({ key }) => key))], ["bad"]);
    }, BY_KEY);
  });
}

Deno.test("While a key is held its jobs are not leased one by one: those that have its slots alone", async () => {
  const own = ({ key }: Call): Answer => key === "bad" ? { refuse: 60_000 } : "take";
  await withReceivers(own, async ({ clock, pool, add, events }) => {
    add(5000, "bad");
    add(100, "good");
    await clock.advance(59_000);
    const deferred = events.filter(({ kind }) => kind === "job-deferred").length;
    assert.ok(deferred <= 8, `${deferred} jobs were put off in a minute`);
    assert.equal(pool.snapshot().totals.completions, 100);
    assert.ok(pool.snapshot().lanes[0]!.blocked >= 4990);
    assert.equal(pool.snapshot().lanes[0]!.ready, 0);
  }, BY_KEY);
});

Deno.test("Without maxRunningPerKey, and without a key, jobs of a held key are put off one by one, and none is lost", async () => {
  const own = ({ key, atMs }: Call): Answer => key === "good" || atMs > 30_000 ? "take" : "refuse";
  await withReceivers(own, async ({ clock, pool, add, calls }) => {
    add(200, "bad");
    add(200);
    add(200, "good");
    await clock.advance(30_000);
    const refused = calls.filter(({ key, atMs }) => key !== "good" && atMs < 30_000).length;
    assert.ok(refused <= 2 * (16 + 10), `${refused} calls`);
    assert.equal(pool.snapshot().totals.completions, 200);
    assert.deepEqual(pool.snapshot().breakers.map(({ key }) => key).sort(), ["", "bad"]);
    await clock.advance(120_000);
    assert.equal(pool.snapshot().totals.completions, 600);
  }, { ...BY_KEY, lanes: [{ name: "only" }] });
});

Deno.test("A refused job that comes late by its own word does not hold its key up", async () => {
  const own = ({ payload }: Call): Answer => payload === 0 ? { refuse: 3_600_000 } : "take";
  await withReceivers(own, async ({ clock, pool, add }) => {
    add(50, "k");
    await clock.advance(130_000);
    assert.equal(pool.snapshot().totals.completions, 49);
  }, { cooldown: { by: "key", after: 1 }, lanes: [{ name: "only", maxRunningPerKey: 1 }] });
});

Deno.test("A key's breaker is closed by hand: its jobs start within maxMs", async () => {
  let isBack = false;
  const own = (): Answer => isBack ? "take" : "gone";
  await withReceivers(own, async ({ clock, pool, add }) => {
    add(20, "k");
    await clock.advance(3_000_000);
    isBack = true;
    assert.equal(await pool.closeBreaker("other"), false);
    assert.equal(await pool.closeBreaker(), false);
    assert.equal(await pool.closeBreaker("k"), true);
    await clock.advance(60_000);
    assert.equal(pool.snapshot().totals.completions, 20);
  }, { ...BY_KEY, tickMs: 1000 });
});

Deno.test("Who is turned away is told when its own key starts again", async () => {
  const own = ({ key }: Call): Answer => key === "bad" ? { refuse: 40_000 } : "take";
  const lanes = [{ name: "only", maxDepth: 50, maxRunningPerKey: 1 }];
  await withReceivers(own, async ({ clock, add, pool }) => {
    add(50, "bad");
    await clock.advance(1000);
    const untilMs = pool.snapshot().breakers[0]!.untilMs;
    assert.ok(untilMs - clock.nowMs() > 30_000);
    const hint = (key: string): number => {
      try {
        add(1, key);
      } catch (thrown) {
        return (thrown as { retryAfterMs: number }).retryAfterMs;
      }
      return NaN;
    };
    assert.ok(hint("bad") >= untilMs - clock.nowMs());
    assert.ok(hint("good") < 30_000);
  }, { ...BY_KEY, lanes });
});

Deno.test("A reload to another kind of breaker, and to none, lets all start", async () => {
  for (const cooldown of [{ by: "pool" }, false] as const) {
    let isBack = false;
    const own = (): Answer => isBack ? "take" : { refuse: 30_000 };
    await withReceivers(own, async ({ clock, add, sluice, pool, config, events }) => {
      add(20, "a");
      add(20, "b");
      await clock.advance(1000);
      assert.equal(pool.snapshot().openKeys, 2);
      isBack = true;
      await sluice.reload(config({ cooldown }));
      assert.deepEqual([pool.snapshot().openKeys, pool.snapshot().breakers], [0, []]);
      assert.deepEqual(ended(events).map(({ by }) => by), ["reload", "reload"]);
      await clock.advance(40_000);
      assert.equal(pool.snapshot().totals.completions, 40);
    }, BY_KEY);
  }
});

Deno.test("Of more bad keys than ten thousand some have no breaker, and none holds the others", async () => {
  const own = ({ key }: Call): Answer => Number(key) < 10_050 ? { refuse: 600_000 } : "take";
  await withReceivers(own, async ({ clock, pool }) => {
    for (let key = 0; key < 10_100; key++) {
      pool.post({ lane: "only", payload: 0, key: String(key) });
    }
    await clock.advance(3000);
    assert.equal(pool.snapshot().openKeys, 10_000);
    assert.equal(pool.snapshot().breakers.length, 100);
    assert.equal(pool.snapshot().totals.completions, 50);
  }, { cooldown: { by: "key", after: 1 }, tickMs: 1000, size: { min: 50, max: 50 } });
});

// What waits in a store is due by the wall clock, a breaker by one that nobody sets.
for (const byMs of [-3_600_000, 3_600_000]) {
  Deno.test(`Jobs that a breaker puts off are not late after the wall clock was set by ${byMs} ms`, async () => {
    for (const cooldown of [{}, { by: "key" }] as const) {
      const down = ({ atMs }: Call): Answer => atMs < 10_000 ? "refuse" : "take";
      await withReceivers(down, async ({ clock, pool, add, calls }) => {
        clock.stepWall(byMs);
        add(50, "k");
        await clock.advance(40_000);
        assert.ok(calls.length <= 50 + 12, `${calls.length} calls`);
        assert.equal(pool.snapshot().totals.completions, 50);
      }, { cooldown });
    }
  });
}

Deno.test("A key whose jobs are gone is not shown as held forever", async () => {
  await withReceivers(() => ({ refuse: 10_000 }), async ({ clock, pool, add, events }) => {
    add(10, "k");
    await clock.advance(1000);
    const { jobs } = await pool.list({ limit: 20 });
    for (const { id } of jobs) await pool.change(id, "cancel");
    assert.equal(pool.snapshot().openKeys, 1);
    await clock.advance(140_000);
    const { openKeys, breakers } = pool.snapshot();
    assert.deepEqual([openKeys, breakers, ended(events).at(-1)?.by], [0, [], "unused"]);
  }, BY_KEY);
});

Deno.test("Jobs of a held key before others cost those no time, in a lane without a limit too", async () => {
  const own = ({ key }: Call): Answer => key === "bad" ? { refuse: 30_000 } : "take";
  await withReceivers(own, async ({ clock, pool, add }) => {
    add(5000, "bad");
    add(100, "good");
    await clock.advance(500);
    assert.equal(pool.snapshot().totals.completions, 100);
  }, { ...BY_KEY, lanes: [{ name: "only" }] });
});
