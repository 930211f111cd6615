/**
 * When a pool that is behind catches up, on real pools in virtual time.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { PoolSnapshot } from "../../src/runtime/handles.ts";
import { whyOf } from "../../src/explain/reason.ts";
import { played, type Scenario } from "./diagnose/_load.ts";

/** Jobs of 200 ms: two workers do 10 a second. */
const POOL: Scenario["pool"] = {
  size: { min: 2, max: 2 },
  lanes: [{ name: "low", targetWaitMs: 500 }],
  admission: "admit-all",
};

async function shown(scenario: Partial<Scenario>): Promise<PoolSnapshot> {
  let snapshot: PoolSnapshot | undefined;
  await played({ pool: POOL, streams: [], forMs: 60_000, ...scenario }, ({ pool }) => {
    snapshot = pool.snapshot();
  });
  return snapshot!;
}

function stream(perSec: number): Scenario["streams"] {
  return [{ lane: "low", perSec, serviceMs: 200 }];
}

Deno.test("a pool says in how long it catches up, and is right", async () => {
  const { catchUp } = await shown({ backlog: 1500, streams: stream(5) });
  const inMs = catchUp!.inMs!;

  const done = await shown({ backlog: 1500, streams: stream(5), forMs: 60_000 + inMs + 5_000 });
  const soon = await shown({ backlog: 1500, streams: stream(5), forMs: 60_000 + 0.8 * inMs });

  assert.match(catchUp!.text, /^catches up in (3 min 5\d s|4 min( \d s)?)$/);
  assert.equal(done.catchUp, undefined);
  assert.notEqual(soon.catchUp, undefined);
});

Deno.test("a pool says that it never catches up, what comes and goes, and how many workers would do", async () => {
  const { catchUp, ...pool } = await shown({ streams: stream(14) });

  assert.equal(
    catchUp?.text,
    "never catches up: 14/s come, 10/s go, 4 workers would be enough",
  );
  assert.equal(catchUp.workers, 4);
  assert.match(whyOf({ ...pool, catchUp }), /\. It never catches up: 14\/s come, 10\/s go, /);
  const enough = await shown({ pool: { ...POOL, size: { min: 4, max: 4 } }, streams: stream(14) });
  assert.equal(enough.catchUp, undefined);
});

Deno.test("a pool that rejects what it cannot do counts that as what comes", async () => {
  const { catchUp } = await shown({
    pool: { ...POOL, admission: "shed-at-cap" },
    streams: stream(14),
  });

  assert.match(catchUp?.text ?? "", /^never catches up: 14\/s come, 10\/s go, 4 workers would/);
});

Deno.test("a pool names no workers where they are not what is missing, and no time where nobody knows", async () => {
  const lanes = [{ name: "low", targetWaitMs: 500, maxRunning: 1 }];
  const bound = await shown({ pool: { ...POOL, lanes }, streams: stream(14) });
  const even = await shown({ backlog: 500, streams: stream(10) });
  const young = await shown({ backlog: 500, forMs: 3_000 });
  const paused = await shown({
    pool: { ...POOL, lanes: [{ name: "low", targetWaitMs: 500, paused: true }] },
    streams: stream(10),
  });
  const well = await shown({ streams: stream(5) });

  assert.equal(bound.catchUp?.text, "never catches up: 14/s come, 5/s go");
  assert.equal(
    even.catchUp?.text,
    "may or may not catch up: about as many jobs come as go, 10/s",
  );
  assert.equal(young.catchUp?.text, "may or may not catch up: too little has been seen yet");
  assert.equal(paused.catchUp, undefined);
  assert.equal(well.catchUp, undefined);
});
