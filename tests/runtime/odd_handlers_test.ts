/**
 * Handlers that do what no handler should: nothing of it may reach further than their job.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { Job, Logger } from "../../src/job.ts";
import { start } from "../../mod.ts";
import { withPool } from "../_virtual.ts";

function recorder(): { readonly log: Logger; readonly warned: string[] } {
  const warned: string[] = [];
  const ignore = (): void => {};
  const warn = (message: string): void => void warned.push(message);
  return { log: { debug: ignore, info: ignore, warn, error: ignore }, warned };
}

const HOSTILE: readonly [string, () => unknown, string][] = [
  ["a message that throws", () =>
    Object.defineProperty(new Error("x"), "message", {
      get: () => {
        throw new Error("in getter");
      },
    }), "Thrown: a value that cannot be read"],
  ["a proxy that throws", () =>
    new Proxy({}, {
      getPrototypeOf: () => {
        throw new Error("in trap");
      },
      has: () => {
        throw new Error("in trap");
      },
    }), "Thrown: a value that cannot be read"],
  ["an object with a message", () => ({ code: 7, message: "grpc says no" }), "grpc says no"],
  ["a plain object", () => ({ code: 7 }), 'Thrown: {"code":7}'],
  ["undefined", () => undefined, "Thrown: undefined"],
  ["a symbol", () => Symbol("s"), "Thrown: Symbol(s)"],
  ["a frozen error", () => Object.freeze(new Error("frozen")), "frozen"],
  ["a very long message", () => "x".repeat(5000), `${"x".repeat(2000)}… (3000 more characters)`],
];

for (const [name, make, message] of HOSTILE) {
  Deno.test(`A handler that throws ${name} fails its attempt at once, and no more`, async () => {
    const handler = (): never => {
      throw make();
    };
    await withPool({ handler, lanes: [{ name: "high", attempts: 1 }] }, async ({ pool, clock }) => {
      const job = await pool.enqueue({ lane: "high", payload: 1 });
      await clock.settle();

      assert.deepEqual(await job.done, { state: "dead", reason: "attempts", error: message });
      assert.deepEqual(pool.snapshot().workers.map((worker) => worker.state), ["idle"]);
    });
  });
}

const CYCLE: { self?: unknown } = {};
CYCLE.self = CYCLE;

const RESULTS: readonly [unknown, string][] = [
  [
    { toJSON: () => 1 },
    "The result at /toJSON cannot be stored: it is a function; give a JSON value",
  ],
  [
    new Map([[1, 2]]),
    "The result cannot be stored: it is an object of class Map; give plain JSON, such as a string for a date",
  ],
  [10n, "The result cannot be stored: it is a bigint; give a JSON value"],
  [
    CYCLE,
    "The result at /self/self/self/self/self/self/self/self cannot be stored: it is nested deeper than 100; is there a cycle?",
  ],
  [
    Object.defineProperty({}, "a", {
      enumerable: true,
      get: () => {
        throw new Error("in getter");
      },
    }),
    "The result cannot be stored: it cannot be read; give plain JSON",
  ],
];

Deno.test("A result that is no JSON is left out with a warning: the job is done", async () => {
  for (const [result, message] of RESULTS) {
    const { log, warned } = recorder();
    await withPool({ handler: () => result }, async ({ pool, clock }) => {
      const job = await pool.enqueue({ lane: "high", payload: 1 });
      await clock.settle();

      assert.deepEqual(await job.done, { state: "done", result: undefined });
      assert.deepEqual(warned, [message]);
      JSON.stringify(await pool.list({ limit: 10 }));
    }, { log });
  }
});

Deno.test("A payload is stored as it was when enqueued, and each attempt gets it anew", async () => {
  const seen: unknown[] = [];
  const handler = (job: Job): void => {
    const payload = job.payload as { n: number; list: number[] }; // the test's own
    seen.push(structuredClone(payload));
    payload.n = -1;
    payload.list.push(9);
    throw new Error("again");
  };
  const lanes = [{ name: "high", attempts: 2, backoff: { baseMs: 1, maxMs: 1, jitter: 0 } }];
  await withPool({ handler, lanes }, async ({ pool, clock }) => {
    const payload = { n: 1, list: [1] };
    const job = await pool.enqueue({ lane: "high", payload });
    payload.n = 99;
    await clock.advance(100);

    assert.deepEqual(seen, [{ n: 1, list: [1] }, { n: 1, list: [1] }]);
    assert.deepEqual((await pool.find(job.id))?.payload, { n: 1, list: [1] });
  });
});

Deno.test("A handler cannot change the job it is given", async () => {
  const handler = (job: Job): void => {
    for (const key of ["id", "lane", "attempt"]) {
      assert.throws(() => (job as unknown as Record<string, unknown>)[key] = "changed", TypeError); // on purpose
    }
  };
  await withPool({ handler }, async ({ pool, clock }) => {
    const job = await pool.enqueue({ lane: "high", payload: "kept" });
    await clock.settle();

    assert.equal((await job.done).state, "done");
  });
});

Deno.test("Handlers that end at once leave timers and sockets their turn", async () => {
  let ended = 0;
  await using sluice = await start({
    pools: {
      p: {
        handler: () => ++ended,
        size: { min: 2, max: 2 },
        lanes: [{ name: "a" }],
        admission: "admit-all",
      },
    },
  });
  const jobs = 300_000;
  for (let index = 0; index < jobs; index++) sluice.post("p", { lane: "a", payload: index });
  await new Promise((resolve) => setTimeout(resolve, 1));

  assert.ok(ended < jobs, `${ended} jobs ran before a timer of 1 ms`);
});
