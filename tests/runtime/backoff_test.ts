import assert from "node:assert/strict";
import type { LaneInput } from "../../src/config/input.ts";
import { type Virtual, withPool } from "../_virtual.ts";

type Backoff = NonNullable<LaneInput["backoff"]>;

function failing(backoff: Backoff, test: (virtual: Virtual) => Promise<void>): Promise<void> {
  const handler = (): never => {
    throw new Error("down");
  };
  return withPool({ handler, lanes: [{ name: "high", backoff: { jitter: 0, ...backoff } }] }, test);
}

/** When the attempts of a job started, ms after it was enqueued, and why it is dead. */
async function fate({ pool, clock, events }: Virtual): Promise<readonly unknown[]> {
  const fromMs = clock.nowMs();
  const handle = await pool.enqueue({ lane: "high", payload: 1 });
  await clock.advance(100_000);
  const { state, reason } = (await pool.find(handle.id))!;
  const starts = events.flatMap((event) =>
    event.kind === "job-started" ? [event.atMs - fromMs] : []
  );
  return [...starts, state, reason];
}

Deno.test("waits between attempts are as listed, and there is one attempt more", async () => {
  await failing({ delaysMs: [500, 2000, 7000] }, async (virtual) => {
    assert.deepEqual(await fate(virtual), [0, 500, 2500, 9500, "dead", "attempts"]);
  });
});

Deno.test("waits grow by their factor", async () => {
  await failing({ baseMs: 100, factor: 3 }, async (virtual) => {
    assert.deepEqual(await fate(virtual), [0, 100, 400, 1300, 4000, "dead", "attempts"]);
  });
});

Deno.test("retries end with the time that a back-off allows, however many attempts are left", async () => {
  await failing({ baseMs: 1000, forMs: 10_000 }, async (virtual) => {
    assert.deepEqual(await fate(virtual), [0, 1000, 3000, 7000, "dead", "attempts"]);
  });
});

Deno.test("a revive begins the time of a back-off again", async () => {
  await failing({ delaysMs: [1000], forMs: 2500 }, async (virtual) => {
    const { pool, clock } = virtual;
    assert.deepEqual(await fate(virtual), [0, 1000, 2000, "dead", "attempts"]);
    const [dead] = (await pool.list({ state: "dead", limit: 1 })).jobs;
    await pool.change(dead!.id, "revive");
    await clock.advance(1500);
    assert.equal((await pool.find(dead!.id))?.state, "delayed");
    await clock.advance(5000);
    assert.equal((await pool.find(dead!.id))?.state, "dead");
  });
});
