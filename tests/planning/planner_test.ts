import assert from "node:assert/strict";
import {
  createPlanner,
  type NamedCap,
  type Plan,
  type PlanBounds,
} from "../../src/planning/planner.ts";
import { makeView } from "../../src/testing/mod.ts";
import type { Limit } from "../../src/contract/strategy.ts";
import type { PoolView } from "../../src/contract/view.ts";

const VIEW = makeView({ live: 2, busy: 2, size: { min: 1, max: 10 } });
const BOUNDS: PlanBounds = {
  min: 1,
  max: 10,
  target: undefined,
  starting: 0,
  shares: undefined,
  startable: Infinity,
};

function capOf(
  name: string,
  answer: Partial<Limit>,
  scope: NamedCap["scope"] = "process",
): NamedCap {
  return { name, scope, run: () => ({ workers: Infinity, reason: name, ...answer }) };
}

function plan(
  workers: number,
  caps: readonly NamedCap[] = [],
  bounds: Partial<PlanBounds> = {},
  view: PoolView = VIEW,
): Plan {
  const controller = { name: "asking", run: () => ({ workers, reason: "because" }) };
  return createPlanner(controller, caps).plan(view, { ...BOUNDS, ...bounds });
}

Deno.test("planner takes the controller's count, rounded up, within bounds", () => {
  const cases: readonly [number, number, string][] = [
    [0, 1, "size.min"],
    [1, 1, "controller"],
    [3.2, 4, "controller"],
    [4 + 1e-12, 4, "controller"],
    [11, 10, "size.max"],
  ];
  for (const [workers, target, boundBy] of cases) {
    const made = plan(workers);
    assert.deepEqual([made.target, made.boundBy], [target, boundBy]);
  }
});

Deno.test("planner says 0 of no worker, not -0", () => {
  assert.equal(Object.is(plan(0, [], { min: 0 }).target, 0), true);
});

Deno.test("planner lets the tightest cap win, also over the minimum", () => {
  const caps = [
    capOf("wide", { workers: 8 }),
    capOf("tight", { workers: 5.9 }),
    capOf("next", { workers: 7 }),
  ];
  const made = plan(9, caps);
  assert.deepEqual([made.target, made.limit, made.boundBy], [5, 5, "cap:tight"]);

  const none = plan(9, [capOf("stop", { workers: 0 })], { min: 3 });
  assert.deepEqual([none.target, none.limit, none.boundBy], [0, 0, "cap:stop"]);
});

Deno.test("planner takes the lowest start rate and the earliest review", () => {
  const caps = [
    capOf("a", { startsPerSec: 50, reviewAtMs: 900 }),
    capOf("b", { startsPerSec: 20, reviewAtMs: 700 }),
  ];
  const made = plan(2, caps);

  assert.deepEqual([made.startsPerSec, made.reviewAtMs], [20, 700]);
  assert.equal(plan(2).startsPerSec, Infinity);
  assert.equal(plan(2).reviewAtMs, Infinity);
});

Deno.test("planner allows no growth beyond what the start rate lets start", () => {
  const caps = [capOf("rate", { startsPerSec: 20 })];

  const some = plan(9, caps, { startable: 3 });
  assert.deepEqual([some.target, some.boundBy], [5, "cap:rate"]);
  const none = plan(9, caps, { startable: 0, starting: 1 });
  assert.deepEqual([none.target, none.boundBy], [3, "cap:rate"]);
});

Deno.test("planner names the circuit breaker that lets some jobs start, where no rate does", () => {
  const few = plan(6, [], { startable: 0 });

  assert.deepEqual([few.target, few.boundBy], [2, "cooldown"]);
});

Deno.test("planner takes this process's part of a cluster cap, and says what it would use", () => {
  const asked: unknown[] = [];
  const slow = { starts: 5000, perMs: 10_000, burst: 9, lane: undefined };
  const shares: PlanBounds["shares"] = {
    workers: ({ name }, whole, wants) => {
      asked.push([name, whole, wants]);
      return 4;
    },
    starts: ({ key, limit }, room) => {
      asked.push([key, limit, room]);
      return 30;
    },
  };
  const caps = [
    capOf("all", { workers: 20.4, startsPerSec: 70, rates: [slow] }, "cluster"),
    capOf("here", { workers: 15, startsPerSec: 90 }),
    capOf("endless", { startsPerSec: Infinity }, "cluster"),
  ];
  const made = plan(99, caps, { shares, max: 99 });

  const perSec = { starts: 70, perMs: 1000 };
  assert.deepEqual(asked, [["all", 20, 99], ["all/1", perSec, 2], ["all/2", slow, 2]]);
  assert.deepEqual([made.limit, made.startsPerSec, made.rateCap], [4, 3, "cap:all"]);
  assert.deepEqual(made.rates, [
    { key: "all/1", limit: { starts: 30, perMs: 1000 }, by: "share" },
    { key: "all/2", limit: { ...slow, starts: 30 }, by: "share" },
    { key: "here/1", limit: { starts: 90, perMs: 1000 }, by: "whole" },
  ]);
  assert.equal(made.proposals[1]!.reason, "all: 4 of 20 here");
});

Deno.test("planner takes all of a cluster cap where nobody shares it", () => {
  const made = plan(99, [capOf("all", { workers: 5, startsPerSec: 70 }, "cluster")], { max: 99 });

  assert.deepEqual([made.limit, made.startsPerSec], [5, 70]);
  assert.equal(made.proposals[1]!.reason, "all");
});

Deno.test("planner keeps a failing cap's last limit, and allows no growth before its first", () => {
  let answer: () => Limit = () => {
    throw new Error("not yet");
  };
  const cap: NamedCap = { name: "moody", scope: "process", run: () => answer() };
  const planner = createPlanner({ name: "asking", run: () => ({ workers: 9, reason: "" }) }, [cap]);
  const view = makeView({ live: 2, target: 2 });

  const first = planner.plan(view, BOUNDS);
  assert.deepEqual([first.target, first.failures], [2, [{ plugin: "moody", error: "not yet" }]]);
  answer = () => ({ workers: 6, reason: "six" });
  assert.equal(planner.plan(view, BOUNDS).target, 6);
  for (const workers of [NaN, -1]) {
    answer = () => ({ workers, reason: "nonsense" });
    const made = planner.plan(view, BOUNDS);
    assert.equal(made.target, 6);
    assert.equal(made.failures[0]?.error, `Expected Limit workers >= 0 but received ${workers}`);
  }
  answer = () => ({ workers: 6, reason: "", startsPerSec: NaN });
  assert.equal(
    planner.plan(view, BOUNDS).failures[0]?.error,
    "Expected Limit startsPerSec >= 0 but received NaN",
  );
});

Deno.test("planner says what is wrong with a proposal", () => {
  const cases: readonly [unknown, string][] = [
    [undefined, "Expected a Proposal but received undefined"],
    [{ workers: "3" }, 'Expected Proposal workers >= 0 but received "3"'],
    [{ workers: 1, reviewAtMs: NaN }, "Expected Proposal reviewAtMs to be a time but received NaN"],
    [{ workers: Infinity }, "Expected Proposal workers to be finite but received Infinity"],
  ];
  for (const [answer, message] of cases) {
    const run = () => answer as { workers: number; reason: string }; // nonsense on purpose
    const made = createPlanner({ name: "odd", run }, []).plan(VIEW, BOUNDS);

    assert.deepEqual(made.failures, [{ plugin: "odd", error: message }]);
    assert.equal(made.target, VIEW.target);
  }
});

Deno.test("planner has one worker as long as a job could start, whatever the controller wants", () => {
  const view = (lane: Parameters<typeof makeView>[0]) => makeView({ live: 0, ...lane });
  const bounds = { min: 0 };

  const ready = plan(0, [], bounds, view({ lanes: [{ ready: 0 }, { ready: 3 }] }));
  assert.deepEqual([ready.target, ready.boundBy], [1, "work"]);
  for (
    const lanes of [
      [{ ready: 0, blocked: 5 }],
      [{ ready: 3, paused: true }],
      [{ ready: 3, running: 2, maxRunning: 2 }],
    ]
  ) {
    assert.equal(plan(0, [], bounds, view({ lanes })).target, 0);
  }
  assert.equal(plan(0, [], { min: 0, target: 0 }, view({ lanes: [{ ready: 3 }] })).target, 0);
  const capped = plan(0, [capOf("none", { workers: 0 })], bounds, view({ lanes: [{ ready: 3 }] }));
  assert.deepEqual([capped.target, capped.boundBy], [0, "cap:none"]);
});

Deno.test("planner says what is wrong with a rate, and keeps the last", () => {
  const cases: readonly [unknown, string][] = [
    [{}, "Expected Limit rates to be a list but received an object without fields"],
    [[null], "Expected starts of a rate to be >= 0 but received undefined"],
    [[{ starts: -1, perMs: 1000 }], "Expected starts of a rate to be >= 0 but received -1"],
    [
      [{ starts: 1, perMs: 999 }],
      "Expected perMs of a rate to be 1000 to 86400000 but received 999",
    ],
    [
      [{ starts: 1, perMs: 1000, burst: 0 }],
      "Expected burst of a rate to be >= 1 but received 0",
    ],
  ];
  for (const [rates, error] of cases) {
    let answer: unknown = { workers: 1, reason: "", rates: [{ starts: 2, perMs: 5000 }] };
    const cap: NamedCap = { name: "odd", scope: "process", run: () => answer as Limit };
    const planner = createPlanner({ name: "asking", run: () => ({ workers: 9, reason: "" }) }, [
      cap,
    ]);
    planner.plan(VIEW, BOUNDS);
    answer = { workers: 1, reason: "", rates };
    const made = planner.plan(VIEW, BOUNDS);

    assert.equal(made.failures[0]?.error, error);
    assert.equal(made.rates[0]?.limit.starts, 2);
  }
});

Deno.test("planner leaves a long window to a ledger, unless pools share it or its scope is one process", () => {
  const slow = [{ starts: 2, perMs: 3_600_000 }];
  const shared = { downstream: "api", what: "rates", connections: Infinity, each: 1 } as const;
  const shares = { workers: () => 9, starts: () => 1 };
  const heldBy = (cap: NamedCap): unknown => plan(2, [cap], { shares }).rates.map(({ by }) => by);

  assert.deepEqual(heldBy(capOf("day", { rates: slow }, "cluster")), ["ledger"]);
  assert.deepEqual(heldBy(capOf("day", { startsPerSec: 0.01 }, "cluster")), ["ledger"]);
  assert.deepEqual(heldBy(capOf("day", { rates: slow })), ["whole"]);
  assert.deepEqual(heldBy({ ...capOf("day", { rates: slow }, "cluster"), shared }), ["share"]);
});
