/**
 * Handlers that do what no handler should: nothing of it may reach further than their job.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { Job, Logger } from "../../src/contract/job.ts";
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
    "The result at /toJSON cannot be stored: it is a function; use a JSON value",
  ],
  [
    new Map([[1, 2]]),
    "The result cannot be stored: it is an object of class Map; use plain JSON, such as a string for a date",
  ],
  [10n, "The result cannot be stored: it is a bigint; use a JSON value"],
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
    "The result cannot be stored: it cannot be read; use plain JSON",
  ],
];

const TOO_LARGE = "and at most 60000 are kept; store it elsewhere and return its address";

const MORE_RESULTS: readonly [unknown, string][] = [
  [() => 1, "The result cannot be stored: it is a function; use a JSON value"],
  [Symbol("s"), "The result cannot be stored: it is a symbol; use a JSON value"],
  [NaN, "The result cannot be stored: it is NaN; use a finite number or null"],
  [
    new Date(0),
    "The result cannot be stored: it is an object of class Date; use plain JSON, such as a string for a date",
  ],
  ["x".repeat(59_999), `The result cannot be stored: it has 60001 bytes as JSON, ${TOO_LARGE}`],
  [["漢".repeat(20_000)], `The result cannot be stored: it has 60004 bytes as JSON, ${TOO_LARGE}`],
];

/** What a handler returns, and what is kept. */
const KEPT: readonly [unknown, unknown][] = [
  [undefined, undefined],
  [null, null],
  ["", ""],
  [{ a: undefined, b: [undefined, 1] }, { b: [null, 1] }],
  ["x".repeat(59_998), "x".repeat(59_998)],
  ["漢".repeat(19_999), "漢".repeat(19_999)],
];

for (const use of ["memory", "deno-kv"]) {
  const store = use === "memory" ? { use } : { use, with: { path: ":memory:" } };

  Deno.test(`A result that is no JSON, or too large, is left out: the job says why, on ${use}`, async () => {
    for (const [result, message] of [...RESULTS, ...MORE_RESULTS]) {
      const { log, warned } = recorder();
      const pools = {
        p: { handler: () => result, size: { min: 1, max: 1 }, lanes: [{ name: "a" }] },
      };
      await using sluice = await start({ store, pools }, { log });
      const job = await sluice.enqueue("p", { lane: "a", payload: 1 });

      const outcome = { state: "done", result: undefined, resultError: message };
      assert.deepEqual(await job.done, outcome);
      const { state, result: kept, resultError } = (await sluice.pool("p").find(job.id))!;
      assert.deepEqual({ state, result: kept, resultError }, outcome);
      assert.deepEqual(warned, [message]);
      JSON.stringify(await sluice.pool("p").list({ limit: 10 }));
    }
  });

  Deno.test(`A result is kept as JSON says it, on ${use}`, async () => {
    for (const [result, kept] of KEPT) {
      const { log, warned } = recorder();
      const pools = {
        p: { handler: () => result, size: { min: 1, max: 1 }, lanes: [{ name: "a" }] },
      };
      await using sluice = await start({ store, pools }, { log });
      const job = await sluice.enqueue("p", { lane: "a", payload: "p".repeat(49_000) });

      assert.deepEqual(await job.done, { state: "done", result: kept });
      const record = await sluice.pool("p").find(job.id);
      assert.deepEqual([record?.result, record?.resultError], [kept, undefined]);
      assert.equal(record?.payload, "p".repeat(49_000));
      assert.deepEqual(warned, []);
    }
  });
}

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
