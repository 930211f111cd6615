import assert from "node:assert/strict";
import * as fc from "fast-check";
import { Routes, unreachedRoutes } from "../../src/config/routes.ts";
import type { RouteSettings } from "../../src/config/settings.ts";
import { pool, poolLines, resolveObject } from "./_bench.ts";

const lanes = [{ name: "vip" }, { name: "rest" }];

Deno.test("resolvePool() fills in what a route leaves out", async () => {
  const routes = [{ if: { key: "vip-*" }, lane: "vip" }, { lane: "rest" }];
  const settings = await resolveObject({ pools: { mail: pool({ lanes, routes }) } });

  assert.deepEqual(settings.pools[0]!.routes, [
    { if: { key: "vip-*" }, lane: "vip" },
    { if: {}, lane: "rest" },
  ]);
});

Deno.test("resolvePool() says what is wrong with a route, and where", async () => {
  const routes = [
    { lane: "vpi" },
    { if: { type: "mail" }, lane: "vip" },
    { if: { key: "" }, lane: "vip" },
    { if: { keys: "a" }, lane: "vip" },
    { if: { key: "a" } },
    "vip",
  ];

  assert.deepEqual(await poolLines({ lanes, routes }), [
    '/routes/0/lane: No lane is named "vpi": did you mean "vip"?',
    "/routes/1/if/type: Expected no type but the pool has one handler: remove it",
    '/routes/2/if/key: Expected a text that is not empty but received ""',
    '/routes/3/if/keys: No key is named "keys": did you mean "key"?',
    '/routes/4/lane: Expected the key "lane" but it is missing: lane that it goes to',
    '/routes/5: Expected an object but received "vip"',
  ]);
});

Deno.test("resolvePool() refuses a route whose type no handler has", async () => {
  const handlers = { mail: () => 1, sms: () => 1 };
  const routes = [
    { if: { type: "mial" }, lane: "vip" },
    { if: { type: "fax-*" }, lane: "vip" },
    { if: { type: "m*" }, lane: "vip" },
  ];

  assert.deepEqual(await poolLines({ lanes, handler: undefined, handlers, routes }), [
    '/routes/0/if/type: No handler fits "mial": did you mean "mail"?',
    '/routes/1/if/type: No handler fits "fax-*": expected one of "mail", "sms"',
  ]);
});

Deno.test("Routes take the first that fits, by type and key, and say what fits none", () => {
  const routes = new Routes([
    { if: { type: "m*", key: "a" }, lane: "both" },
    { if: { key: "*" }, lane: "keyed" },
    { if: { type: "sms" }, lane: "sms" },
  ]);
  const laneOf = (type?: string, key?: string) => routes.laneOf({ type, key });

  assert.equal(laneOf("mail", "a"), "both");
  assert.equal(laneOf("sms", "a"), "keyed");
  assert.equal(laneOf("sms"), "sms");
  assert.equal(laneOf("mail"), undefined);
  assert.equal(laneOf(), undefined);
  const lanes = ["both", "sms"];
  assert.equal(
    routes.faultOf({ type: "mail" }, lanes),
    'No route fits a job of type "mail" without a key: name its lane, one of "both", "sms"',
  );
  assert.equal(
    routes.faultOf({ key: "x" }, lanes),
    'No route fits a job with the key "x": name its lane, one of "both", "sms"',
  );
});

Deno.test("unreachedRoutes() names a route exactly if no job comes to it", () => {
  const text = fc.constantFrom("a", "b", "*", "a*", "*b", "a*b", "*a*");
  const route = fc.record({ type: text, key: text }, { requiredKeys: [] })
    .map((given): RouteSettings => ({ if: given, lane: "x" }));
  const types = ["a", "b", "ab"];
  const keys = [undefined, "", "a", "b", "aa", "ab", "bb", "xax", "x", "axb", "ax", "xb", "xaxb"];

  fc.assert(
    fc.property(fc.array(route, { maxLength: 4 }), (routes) => {
      const reached = new Set(
        types.flatMap((type) =>
          keys.map((key) =>
            routes.findIndex((_, index) =>
              new Routes(routes.slice(index, index + 1)).laneOf({ type, key }) !== undefined
            )
          )
        ),
      );
      const fits = (index: number) =>
        types.some((type) =>
          new Routes([{ if: { type: routes[index]?.if.type }, lane: "x" }]).laneOf({ type }) !==
            undefined
        );
      const unreached = [...routes.keys()].filter((index) => !reached.has(index) && fits(index));

      assert.deepEqual(unreachedRoutes(routes, types).map(({ index }) => index), unreached);
    }),
    { numRuns: 500 },
  );
});
