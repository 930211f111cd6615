import assert from "node:assert/strict";
import { start } from "../../mod.ts";
import type { ConfigInput } from "../../src/config/input.ts";

const ODD: readonly unknown[] = [
  undefined,
  null,
  true,
  -1,
  0.5,
  NaN,
  5,
  "banana",
  "",
  [],
  {},
  () => 1,
  10n,
];

/** What a runtime says of a mistake of ours. */
const OURS = /Cannot (read|destructure|convert)|is not (a function|iterable)/;

for (const store of ["memory", { use: "deno-kv", with: { path: ":memory:" } }]) {
  const where = typeof store === "string" ? store : store.use;

  Deno.test(`no method of a pool or a system takes what it cannot use, on ${where}`, async () => {
    const config = {
      store,
      pools: { p: { handler: () => 1, size: { min: 0, max: 4 }, lanes: [{ name: "a" }] } },
    };
    // Called as code without types would.
    // deno-lint-ignore no-explicit-any
    const sluice: any = await start(config as ConfigInput);
    const pool = sluice.pool("p");
    const { id, done } = await pool.enqueue({ lane: "a" });
    await done;
    const calls: Readonly<
      Record<string, readonly [call: (odd: unknown) => unknown, fits: readonly unknown[]]>
    > = {
      "sluice.pool": [(odd) => sluice.pool(odd), []],
      "sluice.enqueue": [(odd) => sluice.enqueue("p", odd), []],
      "sluice.post": [(odd) => sluice.post("p", odd), []],
      "sluice.find": [(odd) => sluice.find(odd), ["banana", ""]],
      "sluice.observe": [(odd) => sluice.observe(odd), [ODD[11]]],
      "sluice.audit": [(odd) => sluice.audit(odd), []],
      "sluice.slice": [(odd) => sluice.slice(odd), [0.5, 5]],
      "sluice.reload config": [(odd) => sluice.reload(odd), [undefined]],
      "sluice.reload options": [(odd) => sluice.reload(undefined, odd), [undefined, ODD[10]]],
      "sluice.reload dryRun": [
        (odd) => sluice.reload(undefined, { dryRun: odd }),
        [undefined, true],
      ],
      "pool.explain": [(odd) => pool.explain(odd), [undefined, 5]],
      "pool.enqueue": [(odd) => pool.enqueue(odd), []],
      "pool.run": [(odd) => pool.run(odd), []],
      "pool.run options": [(odd) => pool.run({ lane: "a" }, odd), [undefined, ODD[10]]],
      "pool.run signal": [(odd) => pool.run({ lane: "a" }, { signal: odd }), [undefined]],
      "pool.enqueueAll": [(odd) => pool.enqueueAll(odd), [ODD[9]]],
      "pool.pause": [(odd) => pool.pause(odd), [undefined]],
      "pool.resume": [(odd) => pool.resume(odd), [undefined]],
      "pool.override": [(odd) => pool.override(odd, 1000), []],
      "pool.override min": [(odd) => pool.override({ max: 4, min: odd }, 1000), [undefined]],
      "pool.override time": [(odd) => pool.override({ max: 4 }, odd), [0.5, 5]],
      "pool.find": [(odd) => pool.find(odd), ["banana", ""]],
      "pool.list": [(odd) => pool.list(odd), []],
      "pool.list state": [(odd) => pool.list({ limit: 1, state: odd }), [undefined]],
      "pool.list lane": [(odd) => pool.list({ limit: 1, lane: odd }), [undefined, "banana", ""]],
      "pool.list order": [(odd) => pool.list({ limit: 1, order: odd }), [undefined]],
      "pool.list limit": [(odd) => pool.list({ limit: odd }), [5]],
      "pool.list cursor": [
        (odd) => pool.list({ limit: 1, cursor: odd }),
        [undefined, "banana", ""],
      ],
      "pool.change": [(odd) => pool.change(id, odd), []],
      "pool.change id": [(odd) => pool.change(odd, "cancel"), ["banana", ""]],
      "pool.drain": [(odd) => pool.drain(odd), [undefined, 0.5, 5]],
    };
    try {
      for (const [name, [call, fits]] of Object.entries(calls)) {
        for (const odd of ODD) {
          if (fits.includes(odd)) continue;
          const what = `${name}(${typeof odd} ${String(odd)})`;
          const thrown = await Promise.try(() => call(odd)).then(() => undefined, (error) => error);
          assert.ok(
            thrown instanceof TypeError || thrown instanceof RangeError,
            `${what}: ${thrown}`,
          );
          assert.ok(
            !OURS.test(thrown.message.replace("Cannot read the config", "")),
            `${what}: ${thrown}`,
          );
        }
      }
      assert.equal((await pool.find(id)).state, "done");
    } finally {
      await sluice.stop();
    }
  });
}

Deno.test("pool.change() names the changes that there are", async () => {
  await using sluice = await start({
    pools: { p: { handler: () => 1, size: { min: 0, max: 1 }, lanes: [{ name: "a" }] } },
  });
  const job = await sluice.enqueue("p", { lane: "a", payload: 1 });

  await assert.rejects(
    // @ts-expect-error There is no such change.
    () => sluice.pool("p").change(job.id, "banana"),
    {
      name: "TypeError",
      message: 'Expected one of "cancel", "revive", "remove" but received "banana"',
    },
  );
});
