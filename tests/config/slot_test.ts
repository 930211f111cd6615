import assert from "node:assert/strict";
import * as v from "valibot";
import { OptionError } from "../../src/contract/errors.ts";
import {
  defineController,
  defineHandler,
  defineLanePolicy,
  defineStore,
  use,
} from "../../src/contract/plugin.ts";
import type { Bound } from "../../src/contract/plugin.ts";
import {
  connections,
  context,
  echo,
  errorOf,
  linesOf,
  pool,
  poolLines,
  post,
  reserve,
  resolveObject,
  steady,
} from "./_bench.ts";

Deno.test("resolveSlot() takes a name, a name with options, a plugin and a pair made by use()", async () => {
  const spelled = { use: "steady", with: { perWorker: 3 } };
  for (
    const [controller, given, options] of [
      ["steady", {}, { perWorker: 10 }],
      [{ use: "steady" }, {}, { perWorker: 10 }],
      [spelled, { perWorker: 3 }, { perWorker: 3 }],
      [steady, {}, { perWorker: 10 }],
      [use(steady, { perWorker: 4 }), { perWorker: 4 }, { perWorker: 4 }],
      [{ use: steady }, {}, { perWorker: 10 }],
    ]
  ) {
    const settings = await resolveObject({ pools: { mail: pool({ controller }) } });
    const bound = settings.pools[0]?.controller;
    assert.deepEqual([bound?.name, bound?.given, bound?.options], ["steady", given, options]);
  }
});

Deno.test("resolveSlot() takes plain functions as handlers, and names them", async () => {
  function deliver(): string {
    return "sent";
  }
  const handlers = { a: deliver, b: { use: "given" }, c: "plugin", d: () => 1 };
  const plugins = { given: deliver, plugin: echo };

  const settings = await resolveObject(
    { pools: { mail: pool({ handler: undefined, handlers }) } },
    { plugins },
  );

  const bounds = [...settings.pools[0]?.handlers.values() ?? []];
  assert.deepEqual(bounds.map(({ name }) => name), ["deliver", "given", "echo", "d"]);
  assert.equal(bounds[0]?.create(context).run(job, jobContext), "sent");
});

Deno.test("resolveSlot() prefers a plugin given in code to a built-in of the same name", async () => {
  const own = defineController({
    name: "own",
    create: () => () => ({ workers: 1, reason: "one" }),
  });

  const settings = await resolveObject({ pools: { mail: pool() } }, { plugins: { steady: own } });

  assert.equal(settings.pools[0]?.controller.name, "own");
});

Deno.test("resolveSlot() says what an unknown name may have meant, or what there is", async () => {
  assert.deepEqual(await poolLines({ controller: { use: "steddy" } }), [
    '/controller/use: No controller is named "steddy": did you mean "steady"?',
  ]);
  assert.deepEqual(await poolLines({ caps: ["whatever"] }), [
    '/caps/0: No cap is named "whatever": expected one of "connections", "open"',
  ]);
  assert.deepEqual(await poolLines({ handler: "mial" }, { plugins: { mail: () => {} } }), [
    '/handler: No handler is named "mial": did you mean "mail"?',
  ]);
  assert.deepEqual(await poolLines({ handler: "toString" }, { builtins: [echo], plugins: {} }), [
    '/store: No store is named "nowhere"',
    '/handler: No handler is named "toString": expected "echo"',
    '/controller: No controller is named "steady"',
    '/lanePolicy: No lane-policy is named "reserve"',
    '/retirement: No retirement is named "gentle"',
    '/admission: No admission is named "admit"',
  ]);
});

Deno.test("resolveSlot() refuses plugins of another kind", async () => {
  assert.deepEqual(await poolLines({ controller: "connections" }), [
    '/controller: Expected a controller but "connections" is a cap: there is "steady"',
  ]);
  assert.deepEqual(await poolLines({ admission: { use: reserve } }), [
    '/admission/use: Expected an admission but "reserve" is a lane-policy',
  ]);
  assert.deepEqual(await poolLines({ retirement: "mine" }, { plugins: { mine: steady } }), [
    '/retirement: Expected a retirement but "mine" is a controller',
  ]);
});

Deno.test("resolveSlot() refuses what is neither a name nor a plugin", async () => {
  assert.deepEqual(await poolLines({ controller: 3, handler: { use: null }, caps: [{}] }), [
    '/handler/use: Expected a name, { "use", "with" } or a function (job, context) or a plugin made by defineHandler but received null',
    '/controller: Expected a name, { "use", "with" } or a plugin made by defineController but received 3',
    '/caps/0/use: Expected the key "use" but it is missing: it names the cap',
  ]);
  const notPlugin = JSON.parse('{ "x": 3 }');
  assert.deepEqual(await poolLines({ lanePolicy: "x" }, { plugins: notPlugin }), [
    '/lanePolicy: Expected a plugin made by defineLanePolicy but "x" is 3',
  ]);
});

Deno.test("resolveSlot() refuses keys that a slot does not have", async () => {
  assert.deepEqual(await poolLines({ controller: { use: "steady", options: {}, wiht: {} } }), [
    '/controller/options: No key is named "options": expected one of "use", "with"',
    '/controller/wiht: No key is named "wiht": did you mean "with"?',
  ]);
  assert.deepEqual(await poolLines({ controller: { use: "steady", scope: "process" } }), [
    '/controller/scope: No key is named "scope": expected one of "use", "with"',
  ]);
});

Deno.test("resolveSlot() says of all options what is wrong with them", async () => {
  const controller = { use: "steady", with: { perWorkr: 1, target: 2, targetWaitMs: "3" } };
  assert.deepEqual(await poolLines({ controller }), [
    '/controller/with/targetWaitMs: Expected number but received "3"',
    '/controller/with/perWorkr: "steady" has no option "perWorkr": did you mean "perWorker"?',
    '/controller/with/target: "steady" has no option "target": expected one of "perWorker", "targetWaitMs"',
  ]);
  assert.deepEqual(await poolLines({ caps: ["connections", { use: "open", with: { a: 1 } }] }), [
    '/caps/0/with/count: "connections" needs the option "count" (number)',
    '/caps/1/with: "open" takes no options',
  ]);
  assert.deepEqual(await poolLines({ controller: use(steady, { perWorker: 2.5 }) }), [
    "/controller/with/perWorker: Expected integer but received 2.5",
  ]);
  assert.deepEqual(await poolLines({ caps: [use(connections, { count: 0 })] }), [
    "/caps/0/with/count: Expected a value >= 1 but received 0",
  ]);
  assert.deepEqual(
    await poolLines({
      controller: { use: "steady", with: [] },
      caps: [{ use: "connections", with: 3 }],
    }),
    [
      "/controller/with: Expected an object but received an empty list",
      "/caps/0/with: Expected an object but received 3",
    ],
  );
});

Deno.test("resolveSlot() takes messages of other validators as they are", async () => {
  const options = {
    "~standard": {
      version: 1,
      vendor: "mine",
      validate: () => ({ issues: [{ message: "Expected blue", path: [{ key: "color" }] }] }),
    },
  } as const;
  const colored = defineController({
    name: "colored",
    options,
    create: () => () => ({ workers: 0, reason: "" }),
  });

  assert.deepEqual(await poolLines({ controller: "colored" }, { plugins: { colored } }), [
    "/controller/with/color: Expected blue",
  ]);
});

Deno.test("resolveSlot() says that a schema cannot be asked", async () => {
  const options = v.pipeAsync(v.object({}), v.checkAsync(() => Promise.resolve(true)));
  const slow = defineController({
    name: "slow",
    options,
    create: () => () => ({ workers: 0, reason: "" }),
  });

  assert.deepEqual(await poolLines({ controller: "slow" }, { plugins: { slow } }), [
    '/controller/with: The options of "slow" cannot be checked: The options schema of "slow" is asynchronous: use one that answers at once',
  ]);
});

Deno.test("resolveSlot() hears from a factory which option does not fit the pool", async () => {
  const lanePolicy = { use: "reserve", with: { reserve: { urgnt: 1 } } };
  assert.deepEqual(await poolLines({ lanePolicy }), [
    '/lanePolicy/with/reserve/urgnt: No lane is named "urgnt": did you mean "urgent"?',
  ]);
  assert.deepEqual(await poolLines({ lanePolicy: use(reserve, { reserve: { elsewhere: 1 } }) }), [
    '/lanePolicy/with/reserve/elsewhere: No lane is named "elsewhere"',
  ]);
  const listing = defineLanePolicy({
    name: "listing",
    create: (_options, { lanes }) => {
      throw new OptionError(
        ["batc"],
        `No lane is named "batc": the pool has "${lanes.join('", "')}"`,
      );
    },
  });
  assert.deepEqual(await poolLines({ lanePolicy: listing }), [
    '/lanePolicy/with/batc: No lane is named "batc": the pool has "urgent", "batch", did you mean "batch"?',
  ]);
});

Deno.test("resolveSlot() names the plugin whose factory throws, and keeps the cause", async () => {
  const thrown = new Error("out of luck");
  const broken = defineController({
    name: "broken",
    create: () => {
      throw thrown;
    },
  });

  const error = await errorOf(resolveObject({ pools: { mail: pool({ controller: broken }) } }));

  assert.equal(
    error.message,
    '/pools/mail/controller/with: The controller "broken" could not be made: out of luck',
  );
  assert.equal(error.cause, thrown);
  assert.equal(error.faults[0]?.cause, thrown);
});

Deno.test("resolveSlot() makes no store and no handler while it checks", async () => {
  const made: string[] = [];
  const store = defineStore({ name: "s", create: () => fail(made, "store") });
  const handler = defineHandler({ name: "h", create: () => fail(made, "handler") });

  const settings = await resolveObject({ store, pools: { mail: pool({ handler }) } });

  assert.deepEqual(made, []);
  const bound = settings.pools[0]?.handlers.get("");
  assert.throws(() => bound?.create(context), {
    name: "TypeError",
    message: '/pools/mail/handler: The handler "h" could not be made: no handler',
  });
  assert.throws(() => settings.store.create(context), {
    message: '/store: The store "s" could not be made: no store',
  });
});

Deno.test("resolveSlot() explains a store that fails to open later", async () => {
  const store = defineStore({ name: "s", create: () => Promise.reject(new Error("locked")) });
  const settings = await resolveObject({ store, pools: { mail: pool() } });

  await assert.rejects(async () => await settings.store.create(context), {
    message: '/store: The store "s" could not be made: locked',
  });
});

const secretly = {
  use: "post",
  with: { url: { env: "URL" }, headers: { authorization: { env: "KEY" } } },
};

Deno.test("resolveSlot() puts secrets into options and shows their names only", async () => {
  const env = (name: string): string => name === "URL" ? "https://example.com" : "Bearer s3cret";

  const settings = await resolveObject({ pools: { mail: pool({ handler: secretly }) } }, { env });

  const bound: Bound | undefined = settings.pools[0]?.handlers.get("");
  assert.deepEqual(bound?.options, {
    url: "https://example.com",
    headers: { authorization: "Bearer s3cret" },
  });
  assert.deepEqual(bound?.given, secretly.with);
  assert.ok(!JSON.stringify(settings.shown).includes("s3cret"));
});

Deno.test("resolveSlot() never prints a secret in a fault, nor keeps it as cause", async () => {
  const leak = defineController({
    name: "leak",
    options: v.strictObject({ key: v.string() }),
    create: ({ key }) => {
      throw new Error(`Bad key "${key}"`);
    },
  });
  const controller = use(leak, JSON.parse('{ "key": { "env": "KEY" } }'));
  const config = { pools: { mail: pool({ controller, handler: secretly }) } };

  const error = await errorOf(resolveObject(config, { env: () => "s3cret" }));

  assert.deepEqual(error.message.split("\n"), [
    '/pools/mail/handler/with/url: Expected "https:" but received "***"',
    '/pools/mail/controller/with: The controller "leak" could not be made: Bad key "***"',
  ]);
  assert.equal(error.cause, undefined);
});

Deno.test("resolveSlot() hides secrets that are long, or that JSON writes otherwise", async () => {
  const handler = { use: "post", with: { url: { env: "URL" } } };
  for (const secret of ["s3cret".repeat(20), 's3"cret\n$&', "5"]) {
    const lines = await poolLines({ handler }, { env: () => secret });

    assert.deepEqual(lines, ['/handler/with/url: Expected "https:" but received "***"']);
  }
});

Deno.test("resolveSlot() reads each variable that is named, and no other", async () => {
  const asked: string[] = [];
  const config = { pools: { mail: pool({ handler: secretly }) } };

  const lines = await linesOf(config, { env: (name) => void asked.push(name) });

  assert.deepEqual(lines, [
    '/pools/mail/handler/with/url: The environment variable "URL" is not set: set it before the start',
    '/pools/mail/handler/with/headers/authorization: The environment variable "KEY" is not set: set it before the start',
  ]);
  assert.deepEqual(asked, ["URL", "KEY"]);
});

Deno.test("resolveSlot() has options that compare as JSON, whatever they hold", async () => {
  const loose = defineController({
    name: "loose",
    options: v.looseObject({}),
    create: () => () => ({ workers: 0, reason: "" }),
  });
  const given = {
    at: new Date(0),
    run: function named() {},
    most: Infinity,
    big: 3n,
    plugin: post,
  };

  const settings = await resolveObject({
    pools: { mail: pool({ controller: { use: loose, with: given } }) },
  });

  assert.deepEqual(settings.pools[0]?.controller.given, {
    at: "[object Date]",
    run: "named",
    most: "Infinity",
    big: "3",
    plugin: "post",
  });
});

Deno.test("resolveSlot() refuses options that contain themselves", async () => {
  const circle: Record<string, unknown> = {};
  circle.inner = [circle];

  assert.deepEqual(await poolLines({ controller: { use: "steady", with: circle } }), [
    "/controller/with/inner/0: Expected JSON but received a value that contains itself",
  ]);
});

function fail(made: string[], what: string): never {
  made.push(what);
  throw new Error(`no ${what}`);
}

const job = { id: "1", lane: "urgent", type: "", payload: 1, createdAtMs: 0, attempt: 1 };
const jobContext = {
  signal: new AbortController().signal,
  fence: 1,
  idempotencyKey: "1",
  resource: undefined,
  log: context.log,
  progress: () => Promise.resolve(),
  overloaded: () => {},
  used: () => {},
};
