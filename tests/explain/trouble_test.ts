import assert from "node:assert/strict";
import { start } from "../../mod.ts";
import { type Finding, FINDING_CODES } from "../../src/explain/diagnose.ts";
import {
  TROUBLE_CODES,
  type TroubledPool,
  type TroubleFacts,
  troublesOf,
  worseFirst,
} from "../../src/explain/trouble.ts";
import type { Sample } from "../../src/planning/sample.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";

const AT_CAPACITY: Finding = {
  code: "at-capacity",
  lane: "urgent",
  saw: 'For 2 min 4 workers, all that cap "db" allows, were not enough',
  change: 'Raise cap "db" from 4 to 7',
  setting: "cap:db",
  numbers: { oldestWaitMs: 720_000, targetWaitMs: 1_000, share: 0.8, spanMs: 120_000 },
};
const FAILING: Finding = {
  code: "failing",
  lane: undefined,
  saw: "In 1 min 94 of 100 attempts failed",
  change: "Read the errors",
  numbers: { failures: 94, deferrals: 0, ended: 100, share: 0.94, spanMs: 120_000 },
};

Deno.test("troublesOf() says nothing of a pool that is well, of advice and of a lane paused by config", async () => {
  const advice: Finding = { ...FAILING, code: "fixed-would-do" };

  assert.deepEqual(await textsOf({}), []);
  assert.deepEqual(await textsOf({ diagnosis: [advice] }), []);
  assert.deepEqual(
    await textsOf(({ lanes }) => ({
      lanes: lanes.map((lane) => ({ ...lane, paused: true })),
    })),
    [],
  );
});

Deno.test("troublesOf() puts what hurts first, with since when, where it goes and what to do", async () => {
  const pool = await aPool({
    diagnosis: [AT_CAPACITY, FAILING],
    paused: true,
    catchUp: { text: "never catches up: 28/s come, 23/s go" },
  });

  const troubles = troublesOf(pool, {
    dead: { count: 412, lastAtMs: pool.nowMs - 1_000 },
    error: "ECONNREFUSED",
    pauses: [{ lane: undefined, atMs: pool.nowMs - 60_000, by: "ann" }],
  });

  assert.deepEqual(troubles, [
    {
      code: "failing",
      tone: "bad",
      lane: undefined,
      what: "94 % of attempts fail: ECONNREFUSED",
      forMs: 120_000,
      trend: "none failed in the last 10 s, 412 dead",
      next: "Fix the handler or what it calls: more workers or attempts will not help",
    },
    {
      code: "at-capacity",
      tone: "bad",
      lane: "urgent",
      what: 'The oldest job waits 12 min (target 1 s): bound by cap "db"',
      forMs: 120_000,
      trend: "never catches up: 28/s come, 23/s go",
      next: 'Raise cap "db" from 4 to 7',
    },
    {
      code: "paused",
      tone: "warn",
      lane: undefined,
      what: "Paused by ann: no job waits",
      forMs: 60_000,
      trend: "none came in the last 10 s",
      next: "Resume it",
    },
  ]);
});

Deno.test("Old dead letters are quiet, new ones are not, and a failing pool has them in its line", async () => {
  const nowMs = (await aPool({})).nowMs;
  const of = (agoMs: number | undefined): Promise<readonly string[]> =>
    textsOf({}, {
      dead: { count: 1_992, lastAtMs: agoMs === undefined ? undefined : nowMs - agoMs },
    });

  assert.deepEqual(await of(840_000), ["quiet: 1,992 dead, none new for 14 min"]);
  assert.deepEqual(await of(59_000), ["warn: 1,992 dead, the latest 59 s ago"]);
  assert.deepEqual(await of(undefined), ["quiet: 1,992 dead"]);
  assert.deepEqual(await textsOf({}, { dead: { count: 0 } }), []);
});

Deno.test("A lane that was paused and forgotten says how many jobs wait, and how many come", async () => {
  const [trouble] = troublesOf(
    await aPool(({ lanes }) => ({
      lanes: lanes.map((lane) => ({
        ...lane,
        paused: true,
        ready: 3,
        window: { ...lane.window, arrivalsPerSec: 2 },
      })),
    })),
  );

  assert.deepEqual([trouble?.tone, trouble?.lane], ["warn", "urgent"]);
  assert.deepEqual([trouble?.what, trouble?.trend], ["Paused: 3 jobs wait", "2.0/s more come"]);
});

Deno.test("Jobs that wait for their keys say how many more they are than a minute ago", async () => {
  const finding: Finding = {
    ...AT_CAPACITY,
    code: "key-bound",
    numbers: { blocked: 900, oldestBlockedMs: 60_000, running: 1 },
  };
  const pool = await aPool(({ lanes }) => ({
    diagnosis: [finding],
    lanes: lanes.map((lane) => ({ ...lane, blocked: 900 })),
  }));
  const before = (blocked: number): Sample =>
    ({ lanes: [{ name: "urgent", blocked }] }) as unknown as Sample; // all that is looked at

  const trendSince = (blocked: number): string | undefined =>
    troublesOf(pool, { before: before(blocked) })[0]?.trend;

  assert.equal(trendSince(100), "800 more than a minute ago");
  assert.equal(trendSince(1_000), "100 fewer than a minute ago");
  assert.equal(trendSince(900), "no more than a minute ago");
});

Deno.test("While the event loop is blocked most of the time, no bound is blamed for what waits", async () => {
  const blocked = (blockedMs: number): Finding => ({
    ...AT_CAPACITY,
    code: "loop-blocked",
    lane: undefined,
    numbers: { longestMs: 700, blockedMs, spanMs: 60_000, forMs: 90_000 },
  });
  const linesAt = async (blockedMs: number): Promise<number> =>
    (await textsOf({ diagnosis: [blocked(blockedMs), AT_CAPACITY] })).length;

  assert.deepEqual([await linesAt(30_000), await linesAt(6_000)], [1, 2]);
  const tones = [60_000, 6_000, 900].map(async (ms) =>
    (await textsOf({ diagnosis: [blocked(ms)] }))[0]?.split(":")[0]
  );
  assert.deepEqual(await Promise.all(tones), ["bad", "bad", "quiet"]);
});

Deno.test("A drained pool has one line: nothing else matters until the restart", async () => {
  assert.deepEqual(await textsOf({ stopped: true, diagnosis: [FAILING], paused: true }), [
    "bad: It was drained: it runs nothing until the process restarts",
  ]);
});

Deno.test("What else holds a pool has a line each", async () => {
  const texts = await textsOf(({ nowMs }) => ({
    stale: true,
    degraded: true,
    workers: [{ id: "w1", state: "stuck", startedAtMs: 0, sinceMs: 0, jobsDone: 0 }],
    override: { max: 2, untilMs: nowMs + 60_000 },
    drain: { sinceMs: nowMs, untilMs: nowMs + 10_000, durable: true },
  }));

  assert.deepEqual(texts, [
    "bad: The store cannot be read: counts are the last known ones",
    "bad: 1 worker is stuck: its handler ignores its abort",
    "bad: A strategy fails: its last valid answer stays in use",
    "warn: Draining for 0 ms: no job runs; none waits",
    "warn: Bounds overridden for 1 min more: max 2",
  ]);
});

Deno.test("Every finding has a line that is shorter than a sentence, and a place in the order", async () => {
  for (const code of FINDING_CODES) {
    const finding: Finding = { ...AT_CAPACITY, code };
    const [text = ""] = await textsOf({ diagnosis: [finding] });

    assert.equal(text === "", code === "fixed-would-do", code);
    assert.doesNotMatch(text, /NaN|undefined|Infinity|For 2 min/, code);
    assert.ok(TROUBLE_CODES.includes(code));
  }
});

Deno.test("worseFirst() orders by tone, by kind, and then the one that lasts longest", () => {
  const one = {
    code: "failing",
    tone: "bad",
    lane: undefined,
    what: "",
    forMs: 1,
    trend: "",
    next: "",
  } as const;

  assert.ok(worseFirst({ ...one, tone: "warn" }, one) > 0);
  assert.ok(worseFirst({ ...one, code: "at-capacity" }, one) > 0);
  assert.ok(worseFirst(one, { ...one, forMs: 60_000 }) > 0);
  assert.equal(worseFirst(one, { ...one, forMs: 2 }), 0);
});

type Change = Partial<TroubledPool> | ((pool: TroubledPool) => Partial<TroubledPool>);

async function aPool(change: Change): Promise<TroubledPool> {
  const clock = new VirtualClock();
  await using sluice = await start({
    pools: {
      mail: { handler: () => "sent", size: { min: 1, max: 4 }, lanes: [{ name: "urgent" }] },
    },
  }, { clock, seed: 1 });
  await clock.advance(100);
  const handle = sluice.pool("mail");
  const pool = { ...handle.snapshot(), diagnosis: handle.diagnosis() };
  return { ...pool, ...(typeof change === "function" ? change(pool) : change) };
}

async function textsOf(change: Change, facts: TroubleFacts = {}): Promise<readonly string[]> {
  return troublesOf(await aPool(change), facts).map(({ tone, what, trend }) =>
    `${tone}: ${[what, trend].filter((part) => part !== "").join(", ")}`
  );
}
