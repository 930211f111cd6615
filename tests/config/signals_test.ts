import assert from "node:assert/strict";
import { faultsOf, pool, poolLines, resolveFiles, resolveObject } from "./_bench.ts";

const depth = (): number => 3;

Deno.test("findSignals() takes functions, their names and modules", async () => {
  const signals = { a: depth, b: { use: depth }, c: "depth", d: { use: "depth" } };

  const settings = await resolveObject({ pools: { mail: pool({ signals }) } }, {
    signals: { depth },
  });

  const found = settings.pools[0]?.signals;
  assert.deepEqual([...found?.keys() ?? []], ["a", "b", "c", "d"]);
  assert.ok([...found?.values() ?? []].every((reader) => reader === depth));
});

Deno.test("findSignals() loads a function of a module", async () => {
  const files = {
    "pools.json": JSON.stringify({
      pools: { mail: pool({ signals: { depth: { use: "./s.ts#depth" } } }) },
    }),
    "s.ts": "export const depth = () => 7;\nexport const text = 'x';",
  };

  const settings = await resolveFiles(files);

  assert.equal(await settings.pools[0]?.signals.get("depth")?.(), 7);
  const wrong = { ...files, "pools.json": files["pools.json"].replace("#depth", "#text") };
  const gone = { ...files, "pools.json": files["pools.json"].replace("#depth", "#dpth") };
  assert.deepEqual(
    [...await faultsOf(resolveFiles(wrong)), ...await faultsOf(resolveFiles(gone))].map((
      { message },
    ) => message),
    [
      'Expected a function that returns a number but "./s.ts#text" is "x"',
      'The module "./s.ts" does not export "dpth": did you mean "depth"?',
    ],
  );
});

Deno.test("findSignals() says what is wrong with a signal", async () => {
  const signals = JSON.parse(
    '{ "a": 3, "b": { "use": "dpth", "with": {} }, "constructor": "depth" }',
  );

  assert.deepEqual(await poolLines({ signals }, { signals: { depth } }), [
    '/signals/a: Expected { "use": … } with a function, its name or its module but received 3',
    '/signals/b/with: No key is named "with": expected "use"',
    '/signals/b/use: No signal is named "dpth": did you mean "depth"?',
    '/signals/constructor: The name "constructor" has a meaning of its own in JavaScript: choose another',
  ]);
  assert.deepEqual(await poolLines({ signals: { a: "depth" } }), [
    '/signals/a: No signal is named "depth": pass it in code, or name a module such as "./depth.ts"',
  ]);
});
