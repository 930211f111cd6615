import assert from "node:assert/strict";
import type { Logger } from "../../src/contract/job.ts";
import { withPool } from "../_virtual.ts";

function recorder(): { readonly log: Logger; readonly warned: unknown[] } {
  const warned: unknown[] = [];
  const ignore = (): void => {};
  const log: Logger = {
    debug: ignore,
    info: ignore,
    warn: (message, fields) => warned.push([message, fields?.signal, fields?.error]),
    error: ignore,
  };
  return { log, warned };
}

Deno.test("A signal whose reading never settles is reported, and read again after 10 s", async () => {
  const { log, warned } = recorder();
  let reads = 0;
  const first = Promise.withResolvers<number>();
  const read = (): Promise<number> => ++reads === 1 ? first.promise : Promise.resolve(7);
  await withPool({ signals: { load: read } }, async ({ pool, clock }) => {
    await clock.advance(9_900);
    assert.deepEqual([reads, warned.length], [1, 0]);
    await clock.advance(1_000);

    assert.deepEqual(warned, [["A signal cannot be read", "load", "No answer within 10000 ms"]]);
    assert.deepEqual(pool.snapshot().signals["load"], { value: 7, stale: false });
    first.resolve(1000); // much too late: newer readings stand
    await clock.settle();
    assert.equal(pool.snapshot().signals["load"]?.value, 7);
  }, { log });
});

const ODD: readonly [string, () => unknown, string][] = [
  ["rejects at its first reading", () => Promise.reject(new Error("down")), "down"],
  ["throws undefined", () => {
    throw undefined;
  }, "Thrown: undefined"],
  ["answers a text", () => "7", 'Expected a finite number but received "7"'],
  ["answers NaN", () => NaN, "Expected a finite number but received NaN"],
  ["answers undefined", () => undefined, "Expected a finite number but received undefined"],
  ["resolves to what cannot be read", () =>
    Promise.resolve(
      new Proxy({}, {
        getPrototypeOf: () => {
          throw new Error("trap");
        },
      }),
    ), "Expected a finite number but received a value that cannot be read"],
];

for (const [name, read, error] of ODD) {
  Deno.test(`A signal that ${name} is stale, and reported once`, async () => {
    const { log, warned } = recorder();
    const signals = { load: read as () => number }; // the type forbids what it answers
    await withPool({ signals }, async ({ pool, clock }) => {
      await clock.advance(5_000);

      assert.deepEqual(warned, [["A signal cannot be read", "load", error]]);
      assert.deepEqual(pool.snapshot().signals["load"], { value: 0, stale: true });
    }, { log });
  });
}
