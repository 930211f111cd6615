import assert from "node:assert/strict";
import { linesOf, pool, resolveObject } from "./_bench.ts";

const LANES = [{ name: "a" }, { name: "b" }];

Deno.test("onDead and then of a pool hold for its lanes, but for the one that they name, and one with its own", async () => {
  const there = { pool: "care", lane: "b", type: "note" };
  const here = { pool: "p", lane: "b" };
  const { pools: [p] } = await resolveObject({
    pools: {
      p: pool({
        onDead: here,
        then: { pool: "care", lane: "a", type: "note" },
        lanes: [{ name: "a" }, { name: "b" }, { name: "c", onDead: there }],
      }),
      care: pool({ handler: undefined, handlers: { note: "echo" }, lanes: LANES }),
    },
  });
  assert.deepEqual(p!.lanes.map(({ onDead }) => onDead), [here, undefined, there]);
  assert.deepEqual(p!.lanes.map(({ then }) => then?.pool), ["care", "care", "care"]);
});

Deno.test("onDead and then name a pool, a lane and a type that there are", async () => {
  const lines = await linesOf({
    pools: {
      p: pool({
        onDead: { pool: "car", lane: "a" },
        lanes: [
          { name: "a", onDead: { pool: "care", lane: "c" } },
          { name: "b", then: { pool: "care", lane: "a", type: "nota" } },
          { name: "c", then: { pool: "p", lane: "a", type: "x" } },
          { name: "d", then: { pool: "care", type: "note" } },
        ],
      }),
      care: pool({ handler: undefined, handlers: { note: "echo" }, lanes: LANES }),
    },
  });
  assert.deepEqual(lines, [
    '/pools/p/lanes/3/then/lane: Expected the key "lane" but it is missing: lane that the job goes to',
    '/pools/p/onDead/pool: No pool is named "car": did you mean "care"?',
    '/pools/p/lanes/0/onDead/lane: No lane is named "c": expected one of "a", "b"',
    '/pools/p/lanes/0/onDead/type: Expected the key "type" but it is missing: one of "note"',
    '/pools/p/lanes/1/then/type: No handler is named "nota": did you mean "note"?',
    "/pools/p/lanes/2/then/type: Expected no type but the pool has one handler: remove it",
  ]);
});

Deno.test("no lane may lead back to itself, by however many others", async () => {
  const self = await linesOf({
    pools: { p: pool({ lanes: [{ name: "a", onDead: { pool: "p", lane: "a" } }] }) },
  });
  assert.deepEqual(self, [
    '/pools/p/lanes/0/onDead: Expected a lane that does not lead back but received "p/a" → "p/a"',
  ]);
  const ring = await linesOf({
    pools: {
      p: pool({ onDead: { pool: "q", lane: "b" }, lanes: LANES }),
      q: pool({ lanes: [{ name: "a" }, { name: "b", then: { pool: "p", lane: "b" } }] }),
    },
  });
  assert.deepEqual(ring, [
    '/pools/p/onDead: Expected a lane that does not lead back but received "p/b" → "q/b" → "p/b"',
  ]);
  const settings = await resolveObject({
    pools: { p: pool({ onDead: { pool: "q", lane: "b" } }), q: pool({ lanes: LANES }) },
  });
  assert.equal(settings.pools.length, 2);
});
