/**
 * A job run as a call: `pool.run`.
 *
 * @module
 */

import assert from "node:assert/strict";
import {
  Fatal,
  type PoolHandle,
  RejectedError,
  type Sluice,
  start,
  StoreError,
} from "../../mod.ts";
import { JobError } from "../../src/contract/thrown.ts";

class Down extends Error {}

const LANE = { name: "all", attempts: 3, backoff: { baseMs: 1, jitter: 0 } };

const WAYS: Readonly<Record<string, () => unknown>> = {
  works: () => ({ twice: 2 }),
  nothing: () => {},
  fails: () => {
    throw new Down("the mail server is down");
  },
  fatal: () => {
    throw new Fatal("no such address");
  },
  large: () => "x".repeat(100_000),
};

async function failure(ran: Promise<unknown>): Promise<JobError> {
  const thrown = await ran.then(() => assert.fail("it ended with a result"), (error) => error);
  assert.ok(thrown instanceof JobError, String(thrown));
  return thrown;
}

/** A job that runs until its signal aborts, and one that waits behind it. */
async function busy(pool: PoolHandle): Promise<{ readonly first: AbortController }> {
  const first = new AbortController();
  void pool.run({ lane: "all", type: "stay", payload: null }, { signal: first.signal })
    .catch(() => {});
  while (pool.counts().running === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  return { first };
}

for (const store of ["memory", { use: "deno-kv", with: { path: ":memory:" } }]) {
  const where = typeof store === "string" ? store : store.use;
  const system = (): Promise<Sluice> =>
    start({
      store,
      pools: {
        p: {
          handlers: {
            ...WAYS,
            stay: (_job, { signal }) =>
              new Promise((_, reject) =>
                signal.addEventListener("abort", () => reject(signal.reason), { once: true })
              ),
          },
          size: { min: 1, max: 1 },
          lanes: [LANE, { name: "full", maxDepth: 1, paused: true }],
        },
      },
    });

  Deno.test(`run() answers what the handler returned, on ${where}`, async () => {
    await using sluice = await system();

    const job = { lane: "all", payload: null };
    assert.deepEqual(await sluice.run("p", { ...job, type: "works" }), { twice: 2 });
    assert.equal(await sluice.pool("p").run({ ...job, type: "nothing" }), undefined);
    const many = Array.from({ length: 1000 }, () => sluice.run("p", { ...job, type: "works" }));
    assert.equal((await Promise.all(many)).length, 1000);
  });

  Deno.test(`run() throws what its job died of, on ${where}`, async () => {
    await using sluice = await system();
    const pool = sluice.pool("p");
    const job = { lane: "all", payload: null };

    const [failed, fatal, large] = await Promise.all(
      ["fails", "fatal", "large"].map((type) => failure(pool.run({ ...job, type }))),
    );

    assert.deepEqual([failed!.state, failed!.reason, failed!.attempts], ["dead", "attempts", 3]);
    assert.ok(failed!.cause instanceof Down);
    assert.equal(
      failed!.message,
      `The job "${failed!.id}" is dead after 3 attempts, reason attempts: the mail server is down`,
    );
    assert.equal((await pool.find(failed!.id))?.state, "dead");
    assert.deepEqual([fatal!.state, fatal!.reason, fatal!.attempts], ["dead", "fatal", 1]);
    assert.ok(fatal!.cause instanceof Fatal);
    assert.deepEqual([large!.state, large!.attempts, large!.cause], ["done", 1, undefined]);
    assert.match(large!.message, /is done, but: The result cannot be stored: it has 100002 bytes/);
  });

  Deno.test(`run() throws as enqueue() does what is not taken, on ${where}`, async () => {
    await using sluice = await system();
    const pool = sluice.pool("p");

    await assert.rejects(pool.run({ lane: "al", type: "works", payload: 1 }), TypeError);
    await assert.rejects(sluice.run("q", { lane: "all", payload: 1 }), /No pool is named "q"/);
    pool.post({ lane: "full", type: "works", payload: 1 });
    await assert.rejects(
      pool.run({ lane: "full", type: "works", payload: 1 }),
      (thrown) => thrown instanceof RejectedError || thrown instanceof StoreError,
    );
  });

  Deno.test(`run() that is given up cancels its job, waiting or running, on ${where}`, async () => {
    await using sluice = await system();
    const pool = sluice.pool("p");
    const { first } = await busy(pool);
    const waiting = new AbortController();
    const job = { lane: "all", type: "works", payload: null };
    const ran = pool.run({ ...job, dedupeKey: "one" }, { signal: waiting.signal });
    const shared = pool.run({ ...job, dedupeKey: "two" });
    const other = new AbortController();
    const again = pool.run({ ...job, dedupeKey: "two" }, { signal: other.signal });
    await pool.enqueue({ ...job, delayMs: 60_000 }); // all before are stored

    waiting.abort("not wanted");
    other.abort("nor this");
    await assert.rejects(ran, (reason) => reason === "not wanted");
    await assert.rejects(again, (reason) => reason === "nor this");
    await assert.rejects(pool.run(job, { signal: AbortSignal.abort("never") }), (reason) => {
      return reason === "never";
    });
    const cancelled = () => pool.list({ state: "cancelled", limit: 1 });
    while ((await cancelled()).jobs.length === 0) await new Promise((go) => setTimeout(go, 5));
    first.abort("enough");

    assert.deepEqual(await shared, { twice: 2 }); // a duplicate does not cancel it
    const { jobs } = await pool.list({ limit: 10 });
    assert.deepEqual(jobs.map(({ type, state }) => `${type} ${state}`).sort(), [
      "stay cancelled",
      "works cancelled",
      "works delayed",
      "works done",
    ]);
  });

  Deno.test(`run() says that a job was cancelled, or that the pool stopped, on ${where}`, async () => {
    const sluice = await system();
    const pool = sluice.pool("p");
    await busy(pool);
    const job = { lane: "all", type: "works", payload: null };
    const cancelled = failure(pool.run(job));
    const unfinished = failure(pool.run({ ...job, delayMs: 60_000 }));
    await pool.enqueue({ ...job, delayMs: 60_000 }); // both before are stored
    const { jobs } = await pool.list({ state: "ready", limit: 1 });

    await pool.change(jobs[0]!.id, "cancel");
    const { state, attempts, cause, message } = await cancelled;
    await pool.drain(0);
    await sluice.stop();

    assert.deepEqual([state, attempts, cause], ["cancelled", 0, undefined]);
    assert.equal(message, `The job "${jobs[0]!.id}" was cancelled`);
    assert.equal((await unfinished).state, "unfinished");
  });
}
