import assert from "node:assert/strict";
import { builtins, defaults } from "../../plugins/mod.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import { linesOf, options as bench, pool } from "./_bench.ts";

/** Names of the caps that a pool of the built-ins comes to. */
async function capsOf(parts: Readonly<Record<string, unknown>>): Promise<readonly string[]> {
  const base = { handler: "sleep", size: { min: 1, max: 8 }, lanes: [{ name: "a" }] };
  const settings = await resolveConfig({ pools: { mail: { ...base, ...parts } } } as never, { // a config as a file may hold it
    builtins,
    defaults,
  });
  return settings.pools[0]!.caps.map(({ bound }) => bound.name);
}

Deno.test("resolveCaps() adds adaptive-cap after the caps of a pool that may grow", async () => {
  const caps = [{ use: "fixed-cap", with: { workers: 4 } }];

  assert.deepEqual(await capsOf({}), ["adaptive-cap"]);
  assert.deepEqual(await capsOf({ caps, adaptive: true }), ["fixed-cap", "adaptive-cap"]);
});

Deno.test("resolveCaps() adds none where adaptive is false, the size is one, or the controller fixed", async () => {
  assert.deepEqual(await capsOf({ adaptive: false }), []);
  assert.deepEqual(await capsOf({ size: { min: 4, max: 4 } }), []);
  assert.deepEqual(await capsOf({ controller: { use: "fixed", with: { workers: 3 } } }), []);
});

Deno.test("resolveCaps() lets a pool name adaptive-cap itself, where and as it wants it", async () => {
  const own = { use: "adaptive-cap", with: { probe: false } };
  const caps = [own, { use: "fixed-cap", with: { workers: 4 } }];

  assert.deepEqual(await capsOf({ caps }), ["adaptive-cap", "fixed-cap"]);
  assert.deepEqual(await capsOf({ caps: [own], adaptive: false }), ["adaptive-cap"]);
});

Deno.test("resolveCaps() adds nothing where the defaults have no such cap", async () => {
  const settings = await resolveConfig({ pools: { mail: pool() } } as never, bench); // as a file may hold it

  assert.deepEqual(settings.pools[0]!.caps, []);
});

Deno.test("resolveCaps() wants true or false for adaptive", async () => {
  assert.deepEqual(await linesOf({ pools: { mail: pool({ adaptive: "no" }) } }), [
    '/pools/mail/adaptive: Expected true or false but received "no"',
  ]);
});
