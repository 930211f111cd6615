import assert from "node:assert/strict";
import type { PoolEvent } from "../../../src/contract/event.ts";
import { happeningsOf } from "../../../src/admin/http/happening.ts";

const P = { pool: "p" };

Deno.test("happeningsOf() takes what is done to a pool, not what jobs do, nor breakers of single keys", () => {
  const cooled = { kind: "cooldown-ended", atMs: 1, ...P, forMs: 1, by: "success" } as const;
  const act = { kind: "audit", atMs: 1, ...P, who: "x" } as const;
  const shows = (event: PoolEvent): boolean => happeningsOf([event]).length === 1;

  assert.equal(shows({ kind: "paused", atMs: 1, ...P, lane: undefined }), true);
  assert.equal(shows({ ...cooled, key: undefined }), true);
  assert.equal(shows({ ...cooled, key: "tenant" }), false);
  assert.equal(shows({ ...act, action: "pause" }), true);
  assert.equal(shows({ ...act, action: "retry jobs done" }), true);
  assert.equal(shows({ ...act, action: "retry" }), false);
  assert.equal(shows({ kind: "job-cancelled", atMs: 1, ...P, lane: "l", id: "1" }), false);
});

Deno.test("happeningsOf() says who did it, once, and what the system did by itself", () => {
  const events: readonly PoolEvent[] = [
    { kind: "override-set", atMs: 10, ...P },
    {
      kind: "audit",
      atMs: 11,
      ...P,
      who: "ann",
      action: "override",
      after: { max: 2, untilMs: 9 },
    },
    {
      kind: "cooldown-began",
      atMs: 20,
      ...P,
      key: undefined,
      cause: "failures",
      count: 3,
      untilMs: 9,
    },
    { kind: "cooldown-ended", atMs: 30, ...P, key: undefined, forMs: 10, by: "success" },
    { kind: "override-ended", atMs: 5_000, ...P },
    { kind: "audit", atMs: 9_000, ...P, who: "ann", action: "pause", target: "low" },
    { kind: "reloaded", atMs: 20_000, ...P, changes: [] },
    { kind: "clock-stepped", atMs: 30_000, pool: "", byMs: -1_500 },
  ];

  assert.deepEqual(happeningsOf(events).map(({ tone, text }) => `${tone}: ${text}`), [
    "person: Override max 2, by ann",
    'trouble: The receiver says "not now": no job starts',
    "system: The receiver takes jobs again after 10 ms",
    "system: The override has ended: the bounds are the config's again",
    "person: Pause of lane low, by ann",
    "person: The config was reloaded: 0 changes",
    "system: The wall clock was changed, or the machine slept: due times and schedules follow it",
  ]);
});
