import assert from "node:assert/strict";
import { builtins, defaults } from "../../plugins/mod.ts";
import type { ConfigInput, PoolInput } from "../../src/config/input.ts";
import { diff, pathOf, poolOf } from "../../src/config/diff.ts";
import type { ConfigChange } from "../../src/contract/event.ts";
import { defineHandler } from "../../src/contract/plugin.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import type { Settings } from "../../src/config/settings.ts";

const handler = (): string => "ok";

const FULL = {
  handler,
  size: { min: 1, max: 8 },
  lanes: [{ name: "high", targetWaitMs: 20 }, { name: "low", maxDepth: 100 }],
  controller: { use: "age-scaler", with: { targetWaitMs: 40 } },
  caps: [
    { use: "fixed-cap", with: { workers: 6 } },
    { use: "db-pool-cap", with: { connections: 20 } },
  ],
} satisfies PoolInput;

async function settingsOf(
  parts: Partial<PoolInput>,
  top: Partial<ConfigInput> = {},
  env: (name: string) => string = (name) => `value-of-${name}-0123456789`,
): Promise<Settings> {
  const pool = { ...FULL, ...parts } as PoolInput; // a test may leave no handler beside its handlers
  return await resolveConfig({ pools: { "a/b": pool }, ...top }, { builtins, defaults, env });
}

/** Differences from `FULL`, as `change pointer from -> to`. */
async function changes(
  parts: Partial<PoolInput>,
  top: Partial<ConfigInput> = {},
): Promise<readonly string[]> {
  return diff(await settingsOf({}), await settingsOf(parts, top)).map(told);
}

function told({ change, pointer, from, to }: ConfigChange): string {
  return [change, pointer, JSON.stringify(from), JSON.stringify(to)].join(" ").trimEnd();
}

Deno.test("diff() finds nothing between a config and itself, read twice", async () => {
  assert.deepEqual(await changes({}), []);
});

Deno.test("diff() names the pools that use a downstream that bears another number", async () => {
  const of = (connections: number): Partial<ConfigInput> => ({
    downstreams: { db: { connections } },
  });
  const uses = { db: 2 };
  const from = await settingsOf({ uses }, of(20));

  assert.deepEqual(diff(from, await settingsOf({ uses }, of(20))), []);
  assert.deepEqual(diff(from, await settingsOf({ uses }, of(30))).map(told), [
    'changed /pools/a~1b/uses/db {"connections":20,"perWorker":2} {"connections":30,"perWorker":2}',
  ]);
  assert.deepEqual(diff(from, await settingsOf({ uses: { db: 1 } }, of(20))).map(told), [
    'changed /pools/a~1b/uses/db {"connections":20,"perWorker":2} {"connections":20,"perWorker":1}',
  ]);
  assert.deepEqual(diff(from, await settingsOf({}, of(20))).map(told), [
    'removed /pools/a~1b/uses/db {"connections":20,"perWorker":2}',
  ]);
});

Deno.test("diff() names slots with what stands in them", async () => {
  assert.deepEqual(
    await changes({
      controller: { use: "age-scaler", with: { targetWaitMs: 30 } },
      lanePolicy: "strict-priority",
      lanes: [FULL.lanes[0]!, { ...FULL.lanes[1]!, targetWaitMs: 40 }],
    }),
    [
      'changed /pools/a~1b/controller {"use":"age-scaler","with":{"targetWaitMs":40}} {"use":"age-scaler","with":{"targetWaitMs":30}}',
      'changed /pools/a~1b/lanePolicy "reserved-lane" "strict-priority"',
    ],
  );
});

Deno.test("diff() knows caps by what they are, not by where they stand", async () => {
  const [fixed, db] = FULL.caps;

  assert.deepEqual(await changes({ caps: [db!, fixed!] }), [
    "moved /pools/a~1b/caps/0 1 0",
    "moved /pools/a~1b/caps/1 0 1",
  ]);
  assert.deepEqual(await changes({ caps: [db!] }), [
    'removed /pools/a~1b/caps/0 {"use":"fixed-cap","with":{"workers":6},"scope":"process"}',
  ]);
  assert.deepEqual(await changes({ caps: [fixed!, { ...db!, scope: "process" }, fixed!] }), [
    'changed /pools/a~1b/caps/1 {"use":"db-pool-cap","with":{"connections":20},"scope":"cluster"} {"use":"db-pool-cap","with":{"connections":20},"scope":"process"}',
    'added /pools/a~1b/caps/2  {"use":"fixed-cap","with":{"workers":6},"scope":"process"}',
  ]);
});

Deno.test("diff() knows lanes by name, and tells what of them has changed", async () => {
  assert.deepEqual(
    await changes({
      lanes: [
        { name: "low", backoff: { baseMs: 1 }, targetWaitMs: null },
        { name: "new" },
        { name: "high", targetWaitMs: 20 },
      ],
    }),
    [
      "moved /pools/a~1b/lanes/0 1 0",
      "changed /pools/a~1b/lanes/0/targetWaitMs 40 null",
      "changed /pools/a~1b/lanes/0/maxDepth 100",
      'changed /pools/a~1b/lanes/0/backoff {"baseMs":1000,"factor":2,"maxMs":60000,"jitter":0.5} {"baseMs":1,"factor":2,"maxMs":60000,"jitter":0.5}',
      "added /pools/a~1b/lanes/1",
      "moved /pools/a~1b/lanes/2 0 2",
      'renewed /pools/a~1b/controller {"use":"age-scaler","with":{"targetWaitMs":40}} {"use":"age-scaler","with":{"targetWaitMs":40}}',
      'renewed /pools/a~1b/lanePolicy "reserved-lane" "reserved-lane"',
      'renewed /pools/a~1b/admission "shed-at-cap" "shed-at-cap"',
    ],
  );
});

Deno.test("diff() tells numbers, handlers and signals apart", async () => {
  const lag = (): number => 1;
  assert.deepEqual(
    await changes({
      handler: undefined,
      handlers: { mail: handler },
      size: { min: 2, max: 8 },
      tickMs: 10,
      leaseMs: 1_000,
      timeoutMs: Infinity,
      drainMs: 0,
      cooldown: { failures: 9 },
      keep: { done: 5 },
      signals: { lag },
    }),
    [
      'added /pools/a~1b/handlers/mail  "handler"',
      'removed /pools/a~1b/handler "handler"',
      "changed /pools/a~1b/size/min 1 2",
      "changed /pools/a~1b/cooldown/failures  9",
      'added /pools/a~1b/signals/lag  "lag"',
      "changed /pools/a~1b/tickMs 50 10",
      "changed /pools/a~1b/leaseMs 30000 1000",
      "changed /pools/a~1b/timeoutMs 60000",
      "changed /pools/a~1b/drainMs 30000 0",
      "changed /pools/a~1b/keep/done 1000 5",
    ],
  );
});

Deno.test("diff() tells another function or plugin of the same name, and the same one again", async () => {
  const one = defineHandler({ name: "mail", run: () => 1 });
  const other = defineHandler({ name: "mail", run: () => 2 });
  const of = async (from: PoolInput["handler"], to: PoolInput["handler"]): Promise<number> =>
    diff(await settingsOf({ handler: from }), await settingsOf({ handler: to })).length;

  assert.deepEqual([await of(one, one), await of(one, other)], [0, 1]);
  assert.deepEqual([await of(handler, handler), await of(handler, () => "ok")], [0, 1]);
});

Deno.test("diff() refuses another store and any change of the admin API, and shows no secret", async () => {
  const admin = { port: 0, tokens: { admin: { env: "ADMIN_TOKEN" } } };
  const before = await settingsOf({}, { admin });
  const secret = (name: string): string => `another-value-of-${name}-0123456789`;
  const after = await settingsOf({}, { admin: { ...admin, port: 81 } }, secret);
  const without = await settingsOf({});

  const found = diff(before, after);

  assert.deepEqual(found.map(told), [
    "changed /admin/port 0 81",
    "changed /admin/tokens/admin",
  ]);
  assert.deepEqual(diff(before, without).map(told), ["removed /admin"]);
  assert.ok(found.every(({ refused }) => refused));
  assert.doesNotMatch(JSON.stringify(found), /value-of/);
});

Deno.test("diff() sees that a secret has another value, though it reads the same", async () => {
  const http = { use: "http", with: { url: { env: "URL" } } };
  const at = (host: string): Promise<Settings> =>
    settingsOf({ handler: http }, {}, () => `http://${host}/`);

  const found = diff(await at("one"), await at("other"));

  assert.deepEqual(found.map(told), [
    'changed /pools/a~1b/handler {"use":"http","with":{"url":{"env":"URL"}}} {"use":"http","with":{"url":{"env":"URL"}}}',
  ]);
});

Deno.test("diff() tells added and removed pools and the redaction list", async () => {
  const small = { handler, size: { min: 0, max: 1 }, lanes: [{ name: "x" }] };

  const found = diff(
    await settingsOf({}, { redact: [] }),
    await settingsOf({}, { pools: { small }, redact: ["password"] }),
  );

  assert.deepEqual(found.map(told), [
    'changed /redact [] ["password"]',
    "added /pools/small",
    "removed /pools/a~1b",
  ]);
  assert.deepEqual(found.map(poolOf), ["", "small", "a/b"]);
  assert.deepEqual(pathOf({ ...found[0]!, pointer: "/pools/a~1b/lanes/0/name" }), [
    "pools",
    "a/b",
    "lanes",
    0,
    "name",
  ]);
});
