import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { formatFault } from "../../src/contract/errors.ts";
import { USUAL_REDACT } from "../../src/config/redaction.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import {
  echo,
  errorOf,
  faultsOf,
  linesOf,
  options,
  pool,
  resolveFiles,
  resolveObject,
} from "./_bench.ts";

Deno.test("resolveConfig() fills in all defaults", async () => {
  const settings = await resolveObject({
    pools: { mail: { handler: "echo", size: { min: 0, max: 2 }, lanes: [{ name: "urgent" }] } },
  });

  const [mail] = settings.pools;
  assert.ok(mail !== undefined);
  assert.equal(settings.store.name, "nowhere");
  assert.equal(settings.admin, undefined);
  assert.deepEqual(settings.redact, [...USUAL_REDACT]);
  assert.deepEqual([...mail.handlers.keys()], [""]);
  assert.deepEqual(
    [mail.controller, mail.lanePolicy, mail.retirement, mail.admission].map(({ name }) => name),
    ["steady", "reserve", "gentle", "admit"],
  );
  assert.deepEqual(mail.controller.options, { perWorker: 10 });
  assert.deepEqual(mail.controller.given, {});
  assert.deepEqual(mail.caps, []);
  assert.equal(mail.signals.size, 0);
  const { tickMs, leaseMs, timeoutMs, drainMs, keep } = mail;
  assert.deepEqual({ tickMs, leaseMs, timeoutMs, drainMs }, {
    tickMs: 50,
    leaseMs: 30_000,
    timeoutMs: 60_000,
    drainMs: 30_000,
  });
  assert.deepEqual(keep, { done: 1000, dead: 10_000, forMs: 86_400_000 });
  assert.deepEqual(mail.lanes, [{
    name: "urgent",
    targetWaitMs: 50,
    startWithinMs: undefined,
    deadlineMs: undefined,
    maxDepth: Infinity,
    maxRunning: Infinity,
    maxRunningPerKey: Infinity,
    ratesPerKey: [],
    ttlMs: Infinity,
    attempts: 5,
    timeoutMs: undefined,
    backoff: { baseMs: 1000, factor: 2, maxMs: 60_000, jitter: 0.5 },
    onDead: undefined,
    then: undefined,
    dedupe: undefined,
    weight: 1,
    paused: false,
    expect: undefined,
  }]);
});

Deno.test("resolveConfig() keeps what is given, in order", async () => {
  const settings = await resolveObject({
    $schema: "./pools.schema.json",
    store: "nowhere",
    redact: ["email"],
    admin: { port: 0, allowedHosts: ["pools.internal"] },
    pools: {
      zulu: pool({
        lanes: [
          { name: "b", targetWaitMs: null, deadlineMs: 5, maxDepth: 6, maxRunning: 7, ttlMs: 8 },
          {
            name: "a",
            targetWaitMs: 9,
            backoff: { jitter: 0 },
            expect: { perSec: 2, serviceMs: 20 },
          },
        ],
        keep: { done: 0 },
        timeoutMs: Infinity,
      }),
      alpha: pool({ controller: { use: "steady", with: { targetWaitMs: 200 } } }),
    },
  });

  const [zulu, alpha] = settings.pools;
  assert.ok(zulu !== undefined && alpha !== undefined);
  assert.deepEqual(settings.pools.map(({ name }) => name), ["zulu", "alpha"]);
  assert.deepEqual(settings.redact, ["email"]);
  assert.deepEqual(settings.admin, {
    hostname: "127.0.0.1",
    port: 0,
    adminToken: undefined,
    viewerToken: undefined,
    allowedHosts: ["pools.internal"],
    basePath: "",
    trustedProxies: [],
    alerts: undefined,
  });
  assert.deepEqual(zulu.lanes.map(({ name, targetWaitMs }) => [name, targetWaitMs]), [
    ["b", null],
    ["a", 9],
  ]);
  assert.equal(zulu.lanes[0]?.maxRunning, 7);
  assert.deepEqual(zulu.lanes[1]?.backoff, { baseMs: 1000, factor: 2, maxMs: 60_000, jitter: 0 });
  assert.deepEqual(zulu.keep, { done: 0, dead: 10_000, forMs: 86_400_000 });
  assert.equal(zulu.timeoutMs, Infinity);
  assert.deepEqual(alpha.lanes.map(({ targetWaitMs }) => targetWaitMs), [200, 200]);
});

Deno.test("resolveConfig() shows ten faults at once, each with its place and what to do", async () => {
  const text = `{
  // The mail of a small shop.
  "pools": {
    "mail": {
      "handler": { "use": "./mail.ts#dliver" },
      "size": { "min": 2.5, "max": 8 },
      "lanes": [
        { "name": "urgent", "targetWait": 50 },
        { "name": "batch", "attempts": 0 },
        { "name": "batch" },
      ],
      "controller": "stedy",
      "lanePolicy": { "use": "reserve", "with": { "reserve": { "urgnt": 2 } } },
      "caps": [{ "use": "connections", "with": { "cuont": 20 } }, "npm:some-cap"],
      "isolation": "thread"
    }
  }
}`;
  const module = "export function deliver(): void {}";

  const faults = await faultsOf(resolveFiles({ "pools.json": text, "mail.ts": module }));

  const lines = faults.map((fault) => formatFault(fault).replace(/^.*pools\.json:/, ""));
  assert.deepEqual(lines, [
    '5:27 /pools/mail/handler/use: The module "./mail.ts" does not export "dliver": did you mean "deliver"?',
    "6:24 /pools/mail/size/min: Expected a whole number >= 0 but received 2.5",
    '8:29 /pools/mail/lanes/0/targetWait: No key is named "targetWait": did you mean "targetWaitMs"?',
    "9:40 /pools/mail/lanes/1/attempts: Expected a whole number >= 1 but received 0",
    '10:19 /pools/mail/lanes/2/name: Expected a name of its own but lane 1 is named "batch" too',
    '12:21 /pools/mail/controller: No controller is named "stedy": did you mean "steady"?',
    '13:73 /pools/mail/lanePolicy/with/reserve/urgnt: No lane is named "urgnt": did you mean "urgent"?',
    '14:48 /pools/mail/caps/0/with/count: "connections" needs the option "count" (number)',
    '14:50 /pools/mail/caps/0/with/cuont: "connections" has no option "cuont": did you mean "count"?',
    '14:67 /pools/mail/caps/1: A "npm:" module runs code from elsewhere: add "npm:some-cap" to "allowModules" to allow it',
    '15:7 /pools/mail/isolation: The key "isolation" is not supported yet: remove it until a later version supports it',
  ]);
});

Deno.test("resolveConfig() takes a path, a URL and a URL as text", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const path = join(folder, "pools.json");
    await Deno.writeTextFile(path, JSON.stringify({ pools: { mail: pool() } }));

    for (const source of [path, pathToFileURL(path), pathToFileURL(path).href]) {
      const settings = await resolveConfig(source, options);
      assert.deepEqual(settings.pools.map(({ name }) => name), ["mail"]);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("resolveConfig() says that a file cannot be read, and keeps the cause", async () => {
  const error = await errorOf(resolveConfig("/nowhere/pools.json", options));

  assert.match(
    error.message,
    /^\/nowhere\/pools\.json Cannot read the config: no such file$/,
  );
  assert.ok(error.cause instanceof Deno.errors.NotFound);
});

Deno.test("resolveConfig() refuses a source that is no file", async () => {
  const error = await errorOf(resolveConfig(new URL("https://example.com/pools.json"), options));

  assert.match(error.message, /Cannot read the config: .*file/);
});

Deno.test("resolveConfig() names faults of the top", async () => {
  const lines = await linesOf({
    pool: {},
    downstreams: [],
    redact: "email",
    allowModules: [1],
    pools: {},
    admin: { port: 70_000, hostname: "", tokens: { viewer: { env: "V" } }, host: "x" },
  });

  assert.deepEqual(lines, [
    '/admin/hostname: Expected a text that is not empty but received ""',
    "/admin/port: Expected a whole number from 0 to 65535 but received 70000",
    '/admin/tokens/admin: Expected the key "admin" but it is missing: may read and write; at least 16 characters',
    "/downstreams: Expected downstreams by name but received an empty list",
    "/pools: Expected pools by name, at least one but received an empty object",
    "/allowModules/0: Expected a text that is not empty but received 1",
    '/redact: Expected a list of texts but received "email"',
    '/admin/host: No key is named "host": expected one of "hostname", "port", "tokens", "allowedHosts", "basePath", "trustedProxies", "alerts"',
    '/pool: No key is named "pool": did you mean "pools"?',
    '/admin/tokens/viewer: The environment variable "V" is not set: set it before the start',
  ]);
});

Deno.test("resolveConfig() wants an object with pools", async () => {
  assert.deepEqual(await linesOf({}), [
    '/pools: Expected the key "pools" but it is missing: pools by name',
  ]);
  assert.deepEqual(await linesOf(null), ["Expected an object but received null"]);
  assert.deepEqual(await linesOf([]), ["Expected an object but received an empty list"]);
});

const admin = { tokens: { admin: { env: "ADMIN" }, viewer: { env: "VIEWER" } } };

Deno.test("resolveConfig() reads admin tokens from the environment and shows only their names", async () => {
  const env = (name: string): string => `${name}-0123456789abcdef`;

  const settings = await resolveObject({ admin, pools: { mail: pool() } }, { env });

  assert.equal(settings.admin?.adminToken, "ADMIN-0123456789abcdef");
  assert.equal(settings.admin?.viewerToken, "VIEWER-0123456789abcdef");
  assert.deepEqual(settings.shown, { admin, pools: { mail: pool() } });
});

Deno.test("resolveConfig() refuses tokens that are literal, unset, short or the same", async () => {
  const pools = { mail: pool() };
  const literal = { tokens: { admin: "hunter2-hunter2-hunter2" } };

  assert.deepEqual(await linesOf({ admin: literal, pools }), [
    '/admin/tokens/admin: Expected { "env": "NAME" } but received a literal: secrets do not belong in a config',
  ]);
  assert.deepEqual(await linesOf({ admin, pools }), [
    '/admin/tokens/admin: The environment variable "ADMIN" is not set: set it before the start',
    '/admin/tokens/viewer: The environment variable "VIEWER" is not set: set it before the start',
  ]);
  assert.deepEqual(await linesOf({ admin, pools }, { env: (name) => `${name}-short` }), [
    '/admin/tokens/admin: Expected a token of at least 16 characters but the environment variable "ADMIN" has a shorter one',
    '/admin/tokens/viewer: Expected a token of at least 16 characters but the environment variable "VIEWER" has a shorter one',
  ]);
  assert.deepEqual(await linesOf({ admin, pools }, { env: () => "0123456789abcdef" }), [
    "/admin/tokens/viewer: Expected a token of its own but it is the admin token: a viewer could write",
  ]);
});

Deno.test("resolveConfig() refuses tokens that no header can carry", async () => {
  for (const token of ["0123456789abcdef\n", "0123456 89abcdef", "0123456789abcdefß"]) {
    const lines = await linesOf(
      { admin: { tokens: { admin: { env: "ADMIN" } } }, pools: { mail: pool() } },
      { env: () => token },
    );

    assert.deepEqual(lines, [
      '/admin/tokens/admin: Expected a token of visible ASCII characters but the environment variable "ADMIN" has others, such as a space or a trailing line break: a header cannot carry it',
    ]);
  }
});

Deno.test("resolveConfig() refuses an address that others reach, without a token", async () => {
  const linesAt = (hostname: string, tokens?: unknown) =>
    linesOf(
      { admin: { hostname, ...(tokens === undefined ? {} : { tokens }) }, pools: { mail: pool() } },
      { env: () => "0123456789abcdef" },
    );

  for (const hostname of ["0.0.0.0", "::", "10.0.0.1", "example.com"]) {
    assert.deepEqual(await linesAt(hostname), [
      `/admin/hostname: Expected a loopback address such as 127.0.0.1 but received "${hostname}": without a token others could write, set admin.tokens`,
    ]);
  }
  const allowed = { admin: { hostname: "127.0.0.2" }, pools: { mail: pool() } };
  assert.equal((await resolveObject(allowed)).admin?.hostname, "127.0.0.2");
  const named = { admin: { hostname: "localhost" }, pools: { mail: pool() } };
  assert.equal((await resolveObject(named)).admin?.hostname, "localhost");
  const guarded = { hostname: "0.0.0.0", tokens: { admin: { env: "ADMIN" } } };
  const settings = await resolveObject({ admin: guarded, pools: { mail: pool() } }, {
    env: () => "0123456789abcdef",
  });
  assert.equal(settings.admin?.hostname, "0.0.0.0");
});

Deno.test("resolveConfig() refuses names of pools that no address holds, and control characters in any name", async () => {
  for (const name of [".", ".."]) {
    assert.deepEqual(await linesOf({ pools: { [name]: pool() } }), [
      `/pools/${name}: Expected a name that is valid in a URL but received "${name}": choose another`,
    ]);
  }
  assert.deepEqual(
    await linesOf({ pools: { "a\x1b[31m": pool({ lanes: [{ name: "b\u0007" }] }) } }),
    [
      '/pools/a\x1b[31m: Expected a name without control characters but received "a\\u001b[31m"',
      '/pools/a\x1b[31m/lanes/0/name: Expected a name without control characters but received "b\\u0007"',
    ],
  );
});

Deno.test("resolveConfig() shows plugins and functions of a config in code by name", async () => {
  const settings = await resolveObject({
    pools: { mail: pool({ handlers: { a: echo, b: function run() {} }, handler: undefined }) },
  });

  assert.deepEqual(settings.shown, {
    pools: {
      mail: {
        handlers: { a: "echo", b: "run" },
        size: { min: 1, max: 4 },
        lanes: [{ name: "urgent" }, { name: "batch" }],
      },
    },
  });
});
