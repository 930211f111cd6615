/**
 * Strategies, hooks and stores that answer anything: the pool goes on, and says once what is wrong.
 *
 * @module
 */

import assert from "node:assert/strict";
import { start } from "../../mod.ts";
import { MemoryStore } from "../../stores/memory/mod.ts";
import type { PoolEvent } from "../../src/contract/event.ts";
import type { Job, Logger } from "../../src/contract/job.ts";
import {
  defineAdmission,
  defineCap,
  defineController,
  defineHandler,
  defineLanePolicy,
  defineRetirement,
  defineStore,
  type Plugin,
} from "../../src/contract/plugin.ts";
import type { StandardSchema } from "../../src/contract/standard_schema.ts";
import type { Queue, QueueOptions } from "../../src/contract/store.ts";
import type { PoolView } from "../../src/contract/view.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { configOf, type PoolParts, withPool } from "../_virtual.ts";

function broken(): never {
  throw new Error("in getter");
}

/** What no plugin of any kind may answer, by what a message calls it. Made again for each question. */
const ODD: readonly [string, () => unknown][] = [
  ["a promise: it has to answer at once", () => Promise.resolve({ admit: true })],
  ["a promise: it has to answer at once", () => Promise.reject(new Error("too late"))],
  ["5", () => 5],
  ["NaN", () => NaN],
  ['"high"', () => "high"],
  ["null", () => null],
  ["true", () => true],
  ["Symbol(s)", () => Symbol("s")],
  ["a function", () => () => ({ admit: true })],
  ["an object without fields", () => ({})],
  ["an object with wrong, fields", () => ({ wrong: 1, fields: 2 })],
  ["a list of 2", () => [NaN, undefined]],
  ["in getter", () => ({
    get admit(): boolean {
      return broken();
    },
    get workers(): number {
      return broken();
    },
    get name(): string {
      return broken();
    },
    get index(): number {
      return broken();
    },
  })],
  ["Thrown: undefined", () => {
    throw undefined;
  }],
  ["Thrown: a value that cannot be read", () => {
    throw {
      get message(): string {
        return broken();
      },
    };
  }],
];

// Each has to be answered by what no kind takes: `undefined` is a policy's word for nobody.
const ODDER: typeof ODD = [...ODD, ["undefined", () => undefined]];

function faultsIn(events: readonly PoolEvent[]): readonly string[] {
  return events.flatMap((event) => event.kind === "plugin-failed" ? [event.error] : []);
}

type Answers = (answer: () => unknown) => PoolParts;

// The kinds' types forbid what is answered here.
const KINDS: Readonly<Record<string, readonly [Answers, typeof ODD]>> = {
  "An admission": [(answer) => ({
    admission: defineAdmission({ name: "odd", create: () => ({ submit: answer as never }) }),
  }), ODDER],
  "An admission with take": [(answer) => ({
    admission: defineAdmission({
      name: "odd",
      create: () => ({ submit: () => ({ admit: true }), take: answer as never }),
    }),
  }), ODDER.filter(([name]) => name !== "true")],
  "A controller": [(answer) => ({
    controller: defineController({ name: "odd", create: () => answer as never }),
  }), ODDER],
  "A cap": [(answer) => ({
    caps: [defineCap({ name: "odd", create: () => answer as never })],
  }), ODDER],
  "A lane policy": [(answer) => ({
    lanePolicy: defineLanePolicy({ name: "odd", create: () => answer as never }),
  }), ODD],
  "A retirement": [(answer) => ({
    retirement: defineRetirement({ name: "odd", create: () => answer as never }),
  }), ODDER],
};

for (const [kind, [parts, odd]] of Object.entries(KINDS)) {
  for (const [name, answer] of odd) {
    Deno.test(`${kind} that answers ${name} changes nothing, and is reported once`, async () => {
      const unhandled: unknown[] = [];
      const hear = (event: PromiseRejectionEvent): void => {
        event.preventDefault();
        unhandled.push(event.reason);
      };
      addEventListener("unhandledrejection", hear);
      await withPool(parts(answer), async ({ pool, clock, events }) => {
        await clock.advance(100);
        const jobs = [1, 2, 3].map((payload) => pool.enqueue({ lane: "high", payload }));
        await clock.advance(1000);

        const ends = await Promise.all(jobs.map(async (job) => (await (await job).done).state));
        assert.deepEqual(ends, ["done", "done", "done"]);
        assert.equal(pool.snapshot().degraded, true);
        const faults = faultsIn(events);
        assert.equal(faults.length, 1, faults.join("; "));
        assert.ok(!/NaN ms|undefined ms|\[object/.test(faults[0]!), faults[0]);
        const isRead = name === "in getter" && /take$|retirement/.test(kind); // of its fields, none is read
        if (!isRead && name !== "a list of 2") assert.ok(faults[0]!.includes(name), faults[0]);
      });
      await new Promise((resolve) => setTimeout(resolve));
      removeEventListener("unhandledrejection", hear);
      assert.deepEqual(unhandled, []);
    });
  }
}

const REFUSALS: readonly [string, object][] = [
  ["Expected Verdict retryAfterMs to be 0 to 3153600000000 ms but received undefined", {}],
  ["but received NaN", { reason: "no", retryAfterMs: NaN }],
  ["but received -1", { reason: "no", retryAfterMs: -1 }],
  ["but received Infinity", { reason: "no", retryAfterMs: Infinity }],
  ['but received "5"', { reason: "no", retryAfterMs: "5" }],
  ["Expected Verdict reason to be a text but received undefined", { retryAfterMs: 5 }],
  ["Expected Verdict reason to be a text but received an object", { reason: {}, retryAfterMs: 5 }],
];

for (const [fault, refusal] of REFUSALS) {
  Deno.test(`An admission that refuses with ${JSON.stringify(refusal)} has admitted: ${fault}`, async () => {
    const verdict = { admit: false, ...refusal };
    const admission = defineAdmission({
      name: "odd",
      create: () => ({ submit: () => verdict as never }), // the type forbids it
    });
    await withPool({ admission }, async ({ pool, clock, events }) => {
      const job = await pool.enqueue({ lane: "high", payload: 1 });
      await clock.advance(100);

      assert.equal((await job.done).state, "done");
      assert.ok(faultsIn(events)[0]?.includes(fault), faultsIn(events)[0]);
    });
  });
}

Deno.test("Two plugins of one name are told apart: one that works does not end the other's fault", async () => {
  const controller = defineController({
    name: "mine",
    create: () => ({ target }) => ({ workers: target, reason: "as it is" }),
  });
  const admission = defineAdmission({
    name: "mine",
    create: () => ({ submit: () => 5 as never }), // the type forbids it
  });
  await withPool({ controller, admission }, async ({ pool, clock, events }) => {
    for (let index = 0; index < 5; index++) {
      pool.post({ lane: "high", payload: index });
      await clock.advance(500);
    }

    assert.equal(faultsIn(events).length, 1);
    assert.equal(pool.snapshot().degraded, true);
  });
});

const VANDALS: Readonly<
  Record<string, (view: { -readonly [Field in keyof PoolView]: unknown }) => void>
> = {
  "empties the lanes": (view) => void ((view.lanes as unknown[]).length = 0),
  "sorts the lanes": (view) => void (view.lanes as unknown[]).reverse(),
  "drops the workers": (view) => void (view.workers as unknown[]).pop(),
  "pauses a lane": (view) => void ((view.lanes as { paused: boolean }[])[0]!.paused = true),
  "moves a lane": (view) => void ((view.lanes as { index: number }[])[0]!.index = 7),
  "sets the target": (view) => void (view.target = 0),
  "sets the time": (view) => void (view.nowMs = 0),
  "sets the limit": (view) => void (view.limit = 0),
  "sets the size": (view) => void ((view.size as { max: number }).max = 0),
  "adds a field": (view) => void ((view as { memory?: number }).memory = 1),
  "adds a signal": (view) => void ((view.signals as { more?: number }).more = 1),
};

for (const [name, harm] of Object.entries(VANDALS)) {
  Deno.test(`A controller that ${name} fails, and harms nobody else`, async () => {
    const controller = defineController({
      name: "vandal",
      create: () => (view) => {
        harm(view);
        return { workers: 1, reason: "one" };
      },
    });
    await withPool({ controller }, async ({ pool, clock, events }) => {
      await clock.advance(100);
      const job = await pool.enqueue({ lane: "low", payload: 1 });
      await clock.advance(1000);

      assert.equal((await job.done).state, "done");
      assert.deepEqual(pool.snapshot().lanes.map((lane) => [lane.name, lane.index, lane.paused]), [
        ["high", 0, false],
        ["low", 1, false],
      ]);
      assert.equal(pool.snapshot().live, 1);
      assert.equal(faultsIn(events).length, 1);
    });
  });
}

Deno.test("A lane policy that takes lanes out of its list still serves all of them", async () => {
  const lanePolicy = defineLanePolicy({
    name: "popper",
    create: () => (_view, eligible) => (eligible as unknown as typeof eligible[number][]).pop(),
  });
  const served: string[] = [];
  const handler = ({ lane }: Job): void => void served.push(lane);
  await withPool({ lanePolicy, handler, size: { min: 2, max: 2 } }, async ({ pool, clock }) => {
    for (const lane of ["high", "low", "high", "low"]) pool.post({ lane, payload: 1 });
    await clock.advance(1000);

    assert.deepEqual(served.sort(), ["high", "high", "low", "low"]);
  });
});

Deno.test("A thenable that answers twice ends one attempt", async () => {
  const twice = (): unknown => ({
    then: (done: (value: unknown) => void) => {
      done("first");
      done("second");
    },
  });
  await withPool({ handler: twice, size: { min: 1, max: 1 } }, async ({ pool, clock }) => {
    const jobs = await pool.enqueueAll([1, 2, 3].map((payload) => ({ lane: "high", payload })));
    await clock.advance(100);

    for (const job of jobs) {
      assert.ok(!(job instanceof Error));
      assert.deepEqual(await job.done, { state: "done", result: "first" });
    }
    assert.equal(pool.snapshot().totals.completions, 3);
  });
});

const SCHEMAS: readonly [string, () => unknown, RegExp][] = [
  ["throws", broken, /^PayloadError: The payload schema failed: in getter$/],
  [
    "rejects",
    () => Promise.reject(new Error("late")),
    /^PayloadError: The payload schema is asynch/,
  ],
  ["answers undefined", () => undefined, /^PayloadError: The payload schema failed: /],
  ["has issues that are none", () => ({ issues: 5 }), /^PayloadError: The payload schema failed: /],
];

for (const [name, validate, fault] of SCHEMAS) {
  Deno.test(`A payload schema that ${name} turns the job away, and is no end of the pool`, async () => {
    let isOdd = false;
    const good = (value: unknown): unknown => ({ value });
    const payload = {
      "~standard": {
        version: 1,
        vendor: "odd",
        validate: (value: unknown) => isOdd ? validate() : good(value),
      },
    } as unknown as StandardSchema; // the type forbids what it answers
    const handler = defineHandler({ run: () => "ok", payload });
    await withPool({ handler }, async ({ pool, clock }) => {
      await pool.pause();
      const taken = await pool.enqueue({ lane: "high", payload: 1 });
      isOdd = true;
      await assert.rejects(pool.enqueue({ lane: "high", payload: 1 }), fault);
      await pool.resume();
      await clock.advance(100);

      const end = await taken.done;
      assert.equal(end.state === "dead" && end.reason, "payload");
    });
  });
}

Deno.test("An observer that rejects is logged, and ends nothing", async () => {
  const errors: unknown[] = [];
  const ignore = (): void => {};
  const log: Logger = {
    debug: ignore,
    info: ignore,
    warn: ignore,
    error: (message, fields) => errors.push([message, fields?.error]),
  };
  await withPool({}, async ({ sluice, pool, clock }) => {
    const stop = sluice.observe(() => Promise.reject(new Error("hook down")));
    pool.post({ lane: "high", payload: 1 });
    await clock.advance(100);
    stop();

    assert.equal(pool.snapshot().totals.completions, 1);
    assert.deepEqual(errors[0], ["An observer threw", "hook down"]);
  }, { log });
});

type Hostile = { [Call in keyof Queue]?: () => unknown };

/** A store in memory whose calls answer as they are set to, as long as `isOdd` says so. */
function oddStore(answers: Hostile, isOdd: () => boolean): Plugin<"store"> {
  class OddStore extends MemoryStore {
    override open(options: QueueOptions): ReturnType<MemoryStore["open"]> {
      const queue = super.open(options);
      return new Proxy(queue, {
        get: (_target, name) => {
          const odd = answers[name as keyof Queue];
          const real: unknown = Reflect.get(queue, name, queue);
          if (typeof real !== "function") return real;
          return (...given: unknown[]) =>
            odd !== undefined && isOdd() ? odd() : real.apply(queue, given);
        },
      });
    }
  }
  return defineStore({ name: "odd", create: () => new OddStore() });
}

const STORE_ODD: readonly [string, () => unknown][] = [
  ["undefined", () => undefined],
  ["null", () => null],
  ["5", () => 5],
  ["a text", () => "none"],
  ["an object", () => ({})],
  ["a list of nothing", () => [undefined, null, NaN]],
  ["a promise of undefined", () => Promise.resolve(undefined)],
  ["a promise of odd things", () => Promise.resolve([{ id: 5 }, null])],
  ["a rejection", () => Promise.reject(new Error("disk"))],
  ["a throw of undefined", () => {
    throw undefined;
  }],
];

for (const call of ["count", "lease", "settle", "renew", "add"] as const) {
  for (const [name, answer] of STORE_ODD) {
    Deno.test(`A store whose ${call} answers ${name} for a while stops no pool, and loses no job`, async () => {
      const clock = new VirtualClock();
      const events: PoolEvent[] = [];
      let isOdd = call === "renew"; // a pool that is alone renews once
      const store = oddStore({ [call]: answer }, () => isOdd);
      const ran: unknown[] = [];
      const handler = ({ payload }: Job): void => void ran.push(payload);
      const sluice = await start({ ...configOf({ handler }), store }, {
        clock,
        seed: 1,
        observer: (event) => void events.push(event),
      });
      const pool = sluice.pool("p");
      await clock.advance(100);
      isOdd = true;
      const first = pool.enqueue({ lane: "high", payload: 1, delayMs: 50 }).then(
        () => "taken",
        (thrown) => thrown.name,
      );
      await clock.advance(20_000);
      isOdd = false;
      const [second] = await Promise.all([
        pool.enqueue({ lane: "high", payload: 2 }),
        clock.advance(60_000),
      ]);

      assert.equal((await second.done).state, "done");
      assert.equal(await first, call === "add" ? "StoreError" : "taken");
      assert.deepEqual(ran, call === "add" ? [2] : [1, 2]);
      assert.equal(pool.snapshot().stale, false);
      const failed = events.filter(({ kind }) => kind === "store-failed").length;
      assert.ok(call === "add" || failed > 0, "nobody said so");
      const stopping = sluice.stop();
      await clock.advance(60_000);
      await stopping;
    });
  }
}
