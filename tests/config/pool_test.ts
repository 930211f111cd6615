import assert from "node:assert/strict";
import { linesOf, pool, poolLines, resolveObject } from "./_bench.ts";

// The config of case B6: a fractional bound.
Deno.test("resolvePool() refuses sizes that are fractional, negative, zero or swapped", async () => {
  assert.deepEqual(await poolLines({ size: { min: 2.5, max: 3 } }), [
    "/size/min: Expected a whole number >= 0 but received 2.5",
  ]);
  assert.deepEqual(await poolLines({ size: { min: -1, max: 0 } }), [
    "/size/min: Expected a whole number >= 0 but received -1",
    "/size/max: Expected a whole number >= 1 but received 0",
  ]);
  assert.deepEqual(await poolLines({ size: { min: 9, max: 2 } }), [
    "/size/min: Expected at most max (2) but received 9",
  ]);
  assert.deepEqual(await poolLines({ size: { min: "2", max: Infinity } }), [
    '/size/min: Expected a whole number >= 0 but received "2"',
    "/size/max: Expected a whole number >= 1 but received Infinity",
    "/size/max: Expected a whole number <= 100000 but received Infinity",
  ]);
  assert.deepEqual(await poolLines({ size: { mim: 1 } }), [
    '/size/min: Expected the key "min" but it is missing: fewest workers in each process',
    '/size/max: Expected the key "max" but it is missing: most workers in each process',
    '/size/mim: No key is named "mim": did you mean "min"?',
  ]);
});

Deno.test("resolvePool() says which keys are missing", async () => {
  const lines = await linesOf({ pools: { mail: {}, sms: 3, fax: [1] } });

  assert.deepEqual(lines, [
    '/pools/mail/size: Expected the key "size" but it is missing: bounds of the worker count in each process',
    '/pools/mail/lanes: Expected the key "lanes" but it is missing: lanes, highest priority first',
    '/pools/mail/handler: Expected the key "handler" or "handlers" but both are missing: what a worker does for each job',
    "/pools/sms: Expected an object but received 3",
    "/pools/fax: Expected an object but received a list",
  ]);
});

Deno.test("resolvePool() wants at least one lane, each with a name of its own", async () => {
  const wanted = "Expected a list of lanes, at least one but received";
  assert.deepEqual(await poolLines({ lanes: [] }), [`/lanes: ${wanted} an empty list`]);
  assert.deepEqual(await poolLines({ lanes: { urgent: {} } }), [`/lanes: ${wanted} an object`]);
  assert.deepEqual(await poolLines({ lanes: ["urgent", {}, { name: "" }] }), [
    '/lanes/0: Expected an object but received "urgent"',
    '/lanes/1/name: Expected the key "name" but it is missing: name, unique within the pool',
    '/lanes/2/name: Expected a text that is not empty but received ""',
  ]);
  assert.deepEqual(await poolLines({ lanes: [{ name: "a" }, { name: "b" }, { name: "a" }] }), [
    '/lanes/2/name: Expected a name of its own but lane 0 is named "a" too',
  ]);
});

Deno.test("resolvePool() refuses lane figures out of range, each with its range", async () => {
  const lane = {
    name: "a",
    targetWaitMs: 0,
    startWithinMs: -1,
    deadlineMs: "5",
    maxDepth: 0,
    maxRunning: 1.5,
    maxRunningPerKey: -1,
    ratesPerKey: [{ calls: 0.5, perMs: 999, burst: 101 }, 3],
    ttlMs: NaN,
    attempts: 0,
    timeoutMs: "1s",
    backoff: { baseMs: -1, factor: 0.5, maxMs: true, jitter: 1.5, forMs: 0 },
    dedupe: { mode: "debounce", waitMs: 0, maxMs: 1e13 },
    weight: 0,
    paused: "no",
    expect: { perSec: -1, serviceMs: 0 },
  };

  const lines = await poolLines({ lanes: [lane] });

  assert.deepEqual(lines.map((line) => line.replace("/lanes/0/", "")), [
    "targetWaitMs: Expected a number > 0, or null but received 0",
    "startWithinMs: Expected a number >= 0 but received -1",
    'deadlineMs: Expected a number > 0 but received "5"',
    "maxDepth: Expected a whole number >= 1 but received 0",
    "maxRunning: Expected a whole number >= 1 but received 1.5",
    "maxRunningPerKey: Expected a whole number >= 1 but received -1",
    "ratesPerKey/0/calls: Expected a whole number >= 1 but received 0.5",
    "ratesPerKey/0/perMs: Expected a number from 1000 to 86400000 but received 999",
    "ratesPerKey/0/burst: Expected a whole number <= 100 but received 101",
    "ratesPerKey/1: Expected an object but received 3",
    "ttlMs: Expected a number > 0 but received NaN",
    "attempts: Expected a whole number >= 1 but received 0",
    'timeoutMs: Expected a number > 0 but received "1s"',
    "backoff/baseMs: Expected a number >= 0 but received -1",
    "backoff/factor: Expected a number >= 1 but received 0.5",
    "backoff/maxMs: Expected a number >= 0 but received true",
    "backoff/jitter: Expected a number from 0 to 1 but received 1.5",
    "backoff/forMs: Expected a number > 0 but received 0",
    "dedupe/waitMs: Expected a number from 1 to 3153600000000 but received 0",
    "dedupe/maxMs: Expected a number from 1 to 3153600000000 but received 10000000000000",
    "weight: Expected a number > 0 but received 0",
    'paused: Expected true or false but received "no"',
    "expect/perSec: Expected a number >= 0 but received -1",
    "expect/serviceMs: Expected a number > 0 but received 0",
  ]);
});

Deno.test("resolvePool() refuses startWithinMs in a lane that has a target", async () => {
  const message =
    'Expected "targetWaitMs": null beside it but received 50: a lane has one of the two';
  const lines = (lane: object) => poolLines({ lanes: [{ name: "a", ...lane }] });

  assert.deepEqual(await lines({ startWithinMs: 0, targetWaitMs: 50 }), [
    `/lanes/0/startWithinMs: ${message}`,
  ]);
  assert.deepEqual(await lines({ startWithinMs: 0 }), [
    `/lanes/0/startWithinMs: ${message.replace("received 50", "it is missing")}`,
  ]);
});

Deno.test("resolvePool() refuses pool figures out of range, each with its range", async () => {
  const lines = await poolLines({
    tickMs: 0,
    leaseMs: -5,
    timeoutMs: 0,
    drainMs: -1,
    keep: { done: 0.5, dead: -1, forMs: 0 },
    cooldown: { by: "lane", gone: "yes" },
    caps: "open",
    signals: [],
  });

  assert.deepEqual(lines, [
    '/caps: Expected a list of caps but received "open"',
    '/cooldown/by: Expected "pool" or "key" but received "lane"',
    '/cooldown/gone: Expected true or false but received "yes"',
    "/signals: Expected signals by name but received an empty list",
    "/tickMs: Expected a number >= 1 but received 0",
    "/leaseMs: Expected a number >= 1 but received -5",
    "/timeoutMs: Expected a number > 0 but received 0",
    "/drainMs: Expected a number >= 0 but received -1",
    "/keep/done: Expected a whole number >= 0 but received 0.5",
    "/keep/dead: Expected a whole number >= 0 but received -1",
    "/keep/forMs: Expected a number > 0 but received 0",
  ]);
});

Deno.test("resolvePool() wants times by the types that there are", async () => {
  const lanes = [{ name: "a" }];
  const handlers = { send: "echo", count: "echo" };
  const given = { lanes, timeoutMsByType: { sned: 5, count: -1 } };

  assert.deepEqual(await poolLines({ ...given, handler: undefined, handlers }), [
    "/timeoutMsByType/count: Expected a number > 0 but received -1",
    '/timeoutMsByType/sned: No handler takes jobs of type "sned": did you mean "send"?',
  ]);
  assert.deepEqual(await poolLines({ lanes, timeoutMsByType: { send: 5 } }), [
    "/timeoutMsByType/send: The pool has one handler and no types: set its timeoutMs",
  ]);
});

Deno.test("resolvePool() takes waits that are listed or computed, not both", async () => {
  const lines = (backoff: object) => poolLines({ lanes: [{ name: "a", backoff }] });

  assert.deepEqual(await lines({ delaysMs: [] }), [
    "/lanes/0/backoff/delaysMs: Expected at least one wait",
  ]);
  assert.deepEqual(await lines({ delaysMs: [-1] }), [
    "/lanes/0/backoff/delaysMs/0: Expected a number >= 0 but received -1",
  ]);
  assert.deepEqual(await lines({ delaysMs: [5], baseMs: 1, factor: 3 }), [
    "/lanes/0/backoff/baseMs: Expected either delaysMs or baseMs but received both: waits are listed or computed",
    "/lanes/0/backoff/factor: Expected either delaysMs or factor but received both: waits are listed or computed",
  ]);
});

Deno.test("resolvePool() wants the times of a dedupe mode, and no other", async () => {
  const lines = (dedupe: object) => poolLines({ lanes: [{ name: "a", dedupe }] });
  const at = "/lanes/0/dedupe";

  assert.deepEqual(await lines({ mode: "latest" }), [
    `${at}/mode: Expected one of "until-end", "until-start", "window", "replace", "debounce" but received "latest"`,
  ]);
  assert.deepEqual(await lines({ mode: "replace", windowMs: 5 }), [
    `${at}/windowMs: Expected no windowMs with the mode "replace"`,
  ]);
  assert.deepEqual(await lines({ mode: "window" }), [
    `${at}/windowMs: Expected windowMs with the mode "window" but it is missing`,
  ]);
  assert.deepEqual(await lines({ mode: "debounce", waitMs: 5 }), [
    `${at}/maxMs: Expected maxMs with the mode "debounce" but it is missing`,
  ]);
  assert.deepEqual(await lines({ mode: "debounce", waitMs: 5, maxMs: 4 }), [
    `${at}/maxMs: Expected at least waitMs (5) but received 4`,
  ]);
});

Deno.test("resolvePool() refuses a first wait that is longer than the longest", async () => {
  assert.deepEqual(await poolLines({ lanes: [{ name: "a", backoff: { baseMs: 10, maxMs: 5 } }] }), [
    "/lanes/0/backoff/maxMs: Expected at least baseMs (10) but received 5",
  ]);
  assert.deepEqual(await poolLines({ lanes: [{ name: "a", backoff: { maxMs: 1e15 } }] }), [
    "/lanes/0/backoff/maxMs: Expected a wait to be at most 3153600000000 ms (100 years) but received 1000000000000000",
  ]);
  assert.deepEqual(await poolLines({ lanes: [{ name: "a", backoff: { baseMs: 90_000 } }] }), [
    "/lanes/0/backoff/baseMs: Expected at most maxMs (60000) but received 90000",
  ]);
  assert.deepEqual(await poolLines({ cooldown: { minMs: 10, maxMs: 5 } }), [
    "/cooldown/maxMs: Expected at least minMs (10) but received 5",
  ]);
  assert.deepEqual(await poolLines({ cooldown: { after: 0, minMs: 0, failures: 1.5 } }), [
    "/cooldown/after: Expected a whole number >= 1 but received 0",
    "/cooldown/minMs: Expected a number > 0 but received 0",
    "/cooldown/failures: Expected a whole number >= 1 but received 1.5",
  ]);
  assert.deepEqual(await poolLines({ cooldown: { failuers: 9, minMS: 10 } }), [
    '/cooldown/failuers: No key is named "failuers": did you mean "failures"?',
    '/cooldown/minMS: No key is named "minMS": did you mean "minMs"?',
  ]);
});

Deno.test("resolvePool() refuses a ttlMs over 100 years, but for the Infinity of code", async () => {
  assert.deepEqual(await poolLines({ lanes: [{ name: "a", ttlMs: 3_153_600_000_001 }] }), [
    "/lanes/0/ttlMs: Expected a wait to be at most 3153600000000 ms (100 years) but received 3153600000001",
  ]);
  for (const ttlMs of [3_153_600_000_000, Infinity]) {
    const { pools } = await resolveObject({
      pools: { p: pool({ lanes: [{ name: "a", ttlMs }] }) },
    });
    assert.equal(pools[0]?.lanes[0]?.ttlMs, ttlMs);
  }
});

Deno.test("resolvePool() says of keys to come that they come later", async () => {
  const later = (key: string): string =>
    `${key}: The key "${
      key.split("/").at(-1)
    }" is not supported yet: remove it until a later version supports it`;
  const ofPool = ["isolation", "maxPauseMs"];
  const ofLane = ["minShare", "fairness", "preemptible", "order"];
  const lane = { name: "a", ...Object.fromEntries(ofLane.map((key) => [key, 1])) };

  const lines = await poolLines({
    ...Object.fromEntries(ofPool.map((key) => [key, 1])),
    lanes: [lane],
  });

  assert.deepEqual(
    lines.toSorted(),
    [
      ...ofPool.map((key) => later(`/${key}`)),
      ...ofLane.map((key) => later(`/lanes/0/${key}`)),
    ].toSorted(),
  );
});

Deno.test("resolvePool() wants one of handler and handlers", async () => {
  assert.deepEqual(await poolLines({ handlers: { a: "echo" } }), [
    '/handlers: Expected either "handler" or "handlers" but received both: remove one',
  ]);
  assert.deepEqual(await poolLines({ handler: undefined, handlers: {} }), [
    "/handlers: Expected handlers by job type, at least one but received an empty object",
  ]);

  const settings = await resolveObject({
    pools: { mail: pool({ handler: undefined, handlers: { a: "echo", b: { use: "echo" } } }) },
  });

  assert.deepEqual([...settings.pools[0]?.handlers.keys() ?? []], ["a", "b"]);
});

Deno.test("resolvePool() refuses names that JavaScript has a use for", async () => {
  const pools = JSON.parse(`{
    "constructor": ${JSON.stringify(pool())},
    "__proto__": ${JSON.stringify(pool({ lanes: [{ name: "prototype" }] }))},
    "": ${JSON.stringify(pool({ handler: undefined, handlers: { "": "echo" } }))}
  }`);

  const reserved = "has a meaning of its own in JavaScript: choose another";
  assert.deepEqual(await linesOf({ pools }), [
    `/pools/constructor: The name "constructor" ${reserved}`,
    `/pools/__proto__: The name "__proto__" ${reserved}`,
    `/pools/__proto__/lanes/0/name: The name "prototype" ${reserved}`,
    "/pools/: Expected a name that is not empty",
    "/pools//handlers/: Expected a name that is not empty",
  ]);
});

Deno.test("resolvePool() takes a cap's scope from its slot, else from the cap", async () => {
  const caps = [
    "open",
    { use: "connections", with: { count: 3 } },
    { use: "open", scope: "cluster" },
    { use: "connections", with: { count: 3 }, scope: "process" },
  ];

  const settings = await resolveObject({ pools: { mail: pool({ caps }) } });

  assert.deepEqual(settings.pools[0]?.caps.map(({ bound, scope }) => [bound.name, scope]), [
    ["open", "process"],
    ["connections", "cluster"],
    ["open", "cluster"],
    ["connections", "process"],
  ]);
  assert.deepEqual(await poolLines({ caps: [{ use: "open", scope: "world" }] }), [
    '/caps/0/scope: Expected "cluster" or "process" but received "world"',
  ]);
});

Deno.test("resolvePool() takes how often a process reports about a cluster cap, and refuses nonsense", async () => {
  const caps = [{ use: "open", scope: "cluster" }, { use: "open", scope: "cluster", reportMs: 5 }];

  const settings = await resolveObject({ pools: { mail: pool({ caps }) } });

  assert.deepEqual(settings.pools[0]?.caps.map(({ reportMs }) => reportMs), [50, 5]);
  assert.deepEqual(
    await poolLines({
      caps: [
        { use: "open", reportMs: 5 },
        { use: "open", scope: "cluster", reportMs: 0 },
        { use: "open", scope: "cluster", reportMs: "often" },
      ],
    }),
    [
      '/caps/0/reportMs: Expected no reportMs beside "scope": "process": nothing is reported, so remove it',
      "/caps/1/reportMs: Expected a number >= 1 but received 0",
      '/caps/2/reportMs: Expected a number >= 1 but received "often"',
    ],
  );
});

Deno.test("resolvePool() tries factories though the least size is wrong", async () => {
  const lanePolicy = { use: "reserve", with: { reserve: { urgent: 4 } } };

  assert.deepEqual(await poolLines({ size: { min: 0.5, max: 4 }, lanePolicy }), [
    "/size/min: Expected a whole number >= 0 but received 0.5",
    "/lanePolicy/with/reserve/urgent: Expected less than size.max (4) but received 4",
  ]);
});

Deno.test("resolvePool() does not try factories with a wrong greatest size or nameless lanes", async () => {
  const lanePolicy = { use: "reserve", with: { reserve: { urgent: 4 } } };

  assert.deepEqual(await poolLines({ size: { min: 0, max: 3.5 }, lanePolicy }), [
    "/size/max: Expected a whole number >= 1 but received 3.5",
  ]);
  assert.deepEqual(await poolLines({ lanes: [{ nam: "urgent" }], lanePolicy }), [
    '/lanes/0/name: Expected the key "name" but it is missing: name, unique within the pool',
    '/lanes/0/nam: No key is named "nam": did you mean "name"?',
  ]);
});

Deno.test("resolvePool() tries factories beside a lane whose name is empty: it hides no other fault", async () => {
  const lanePolicy = { use: "reserve", with: { reserve: { urgent: 4 } } };

  const lines = await poolLines({ lanes: [{ name: "urgent" }, { name: "" }], lanePolicy });

  assert.equal(lines[0], '/lanes/1/name: Expected a text that is not empty but received ""');
  assert.match(lines[1] ?? "", /^\/lanePolicy\/with\/reserve/);
});

Deno.test("resolvePool() checks the controller of a shadow like any slot", async () => {
  const lanes = [{ name: "a" }];

  assert.deepEqual(await poolLines({ lanes, shadow: { controller: "stedy" } }), [
    '/shadow/controller: No controller is named "stedy": did you mean "steady"?',
  ]);
  assert.deepEqual(await poolLines({ lanes, shadow: {} }), [
    '/shadow/controller: Expected the key "controller" but it is missing: how many workers would it have?',
  ]);
  assert.deepEqual(await poolLines({ lanes, shadow: { controler: "fixed" } }), [
    '/shadow/controller: Expected the key "controller" but it is missing: how many workers would it have?',
    '/shadow/controler: No key is named "controler": did you mean "controller"?',
  ]);
  assert.deepEqual(await poolLines({ lanes, shadow: "fixed" }), [
    '/shadow: Expected an object but received "fixed"',
  ]);
});
