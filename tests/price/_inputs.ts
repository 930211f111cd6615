/**
 * Hostile inputs of any size: what a caller, a config file or a command line may hold.
 *
 * @module
 */

/** Makes an input of size `n`. */
export type Make<T> = (n: number) => T;

/** A text of this many names, each other than the rest. */
function named<T>(n: number, value: (index: number) => T): Readonly<Record<string, T>> {
  return Object.fromEntries(
    Array.from({ length: n }, (_, index) => [`name${index}`, value(index)]),
  );
}

function times<T>(n: number, value: (index: number) => T): readonly T[] {
  return Array.from({ length: n }, (_, index) => value(index));
}

/** Lists in lists. As text: nothing that recurses could write it. */
export function deepText(n: number): string {
  return "[".repeat(n) + "]".repeat(n);
}

/** JSON texts that any route may be sent. */
export const BODIES: Readonly<Record<string, Make<string>>> = {
  keys: (n) => JSON.stringify(named(n, (index) => index)),
  "keys of a config": (n) => JSON.stringify({ config: named(n, () => ({})) }),
  "pools of a config": (n) => JSON.stringify({ config: { pools: named(n, () => ({})) } }),
  "lists in lists": deepText,
  "objects in objects": (n) => '{"a":'.repeat(n) + "1" + "}".repeat(n),
  "a deep config": (n) => `{"config":${'{"pools":'.repeat(n)}1${"}".repeat(n)}}`,
  "a deep payload": (n) => `{"lane":"urgent","type":"a","payload":${deepText(n)}}`,
  "a long text": (n) => JSON.stringify("x".repeat(10 * n)),
  "a long lane": (n) => JSON.stringify({ lane: "x".repeat(10 * n) }),
  "a long key": (n) => JSON.stringify({ ["x".repeat(10 * n)]: 1 }),
  "a long match": (n) => JSON.stringify({ retry: true, match: "x".repeat(10 * n) }),
  "a long dedupeKey": (n) => JSON.stringify({ lane: "urgent", dedupeKey: "x".repeat(10 * n) }),
  "a list": (n) => JSON.stringify(times(n, (index) => index)),
  "a list of jobs": (n) => JSON.stringify(times(n, () => ({ lane: "x" }))),
  blanks: (n) => " ".repeat(10 * n),
  "no JSON": (n) => "x".repeat(10 * n),
  quotes: (n) => '"'.repeat(n),
};

/** Bodies of odd types. */
export const ODD_BODIES: readonly string[] = [
  "null",
  "true",
  "0",
  "-0",
  "1e999",
  "1e-999",
  '""',
  "[]",
  "{}",
  "[null]",
  "[[]]",
  '{"lane":null}',
  '{"lane":["urgent"]}',
  '{"lane":{}}',
  '{"lane":"urgent","payload":{"__proto__":{"x":1}}}',
  '{"__proto__":null}',
  '{"constructor":{"prototype":{}}}',
  '{"toString":1}',
  '{"config":null}',
  '{"config":[]}',
  '{"config":{"pools":{"__proto__":{}}}}',
  '{"config":{"pools":{"mail":{"lanes":[null,1,"x",[]],"size":[],"caps":[null]}}}}',
  '{"config":{"store":{"use":1,"with":2},"pools":{"mail":{"controller":{"use":{}}}}}}',
  '{"min":1e308,"max":-1,"expiresInMs":1e308}',
  '{"retry":true,"lane":"","match":"\\u0000"}',
  '"\\ud800"',
  "\ufeff{}",
  "",
];

/** Headers `Host` that no client should send. */
export const HOSTS: readonly string[] = [
  "a b",
  "[",
  "[::1",
  "%",
  "%zz",
  "a/b",
  "a?b",
  "a#b",
  "a@b",
  "a:b",
  ":1",
  "a:99999",
  "..",
  "",
  "\u00e9",
  "x".repeat(5000),
];

const pool = { handler: "sleep", size: { min: 0, max: 4 }, lanes: [{ name: "a" }] };

/** Configs: with faults, and without. */
export const CONFIGS: Readonly<Record<string, Make<unknown>>> = {
  "unknown keys": (n) => ({ ...named(n, () => 1), pools: { p: pool } }),
  "long unknown keys": (n) => ({ [`${"x".repeat(10 * n)}`]: 1, pools: { p: pool } }),
  "unknown keys of a pool": (n) => ({ pools: { p: { ...pool, ...named(n, () => 1) } } }),
  "unknown keys of a lane": (n) => ({
    pools: { p: { ...pool, lanes: [{ name: "a", ...named(n, () => 1) }] } },
  }),
  "unknown keys of admin": (n) => ({ admin: named(n, () => 1), pools: { p: pool } }),
  "unknown keys of alerts": (n) => ({
    admin: { alerts: { url: "http://127.0.0.1", ...named(n, () => 1) } },
    pools: { p: pool },
  }),
  "unknown keys of a slot": (n) => ({
    pools: { p: { ...pool, controller: { use: "fixed", ...named(n, () => 1) } } },
  }),
  "unknown options": (n) => ({
    pools: { p: { ...pool, controller: { use: "fixed", with: named(n, () => 1) } } },
  }),
  "unknown keys of a backoff": (n) => ({
    pools: { p: { ...pool, lanes: [{ name: "a", backoff: named(n, () => 1) }] } },
  }),
  "pools with faults": (n) => ({ pools: named(n, () => ({ x: 1 })) }),
  "lanes with faults": (n) => ({ pools: { p: { ...pool, lanes: times(n, () => ({ x: 1 })) } } }),
  "lanes of one name": (n) => ({
    pools: { p: { ...pool, lanes: times(n, () => ({ name: "a" })) } },
  }),
  lanes: (n) => ({
    pools: { p: { ...pool, lanes: times(n, (index) => ({ name: `lane${index}` })) } },
  }),
  "lanes with a load": (n) => ({
    pools: {
      p: {
        ...pool,
        size: { min: 0, max: 100 },
        lanes: times(n, (index) => ({
          name: `lane${index}`,
          expect: { perSec: 1000 / n, serviceMs: 20 },
        })),
      },
    },
  }),
  "a large load": (n) => ({
    pools: {
      p: {
        ...pool,
        size: { min: 0, max: n },
        lanes: times(2, (index) => ({
          name: `lane${index}`,
          targetWaitMs: 1,
          expect: { perSec: 20 * n, serviceMs: 20 },
        })),
      },
    },
  }),
  "a load without bounds": (n) => ({
    pools: {
      p: {
        ...pool,
        size: { min: 0, max: 100_000 },
        lanes: [{
          name: "a",
          deadlineMs: 1e9,
          expect: { perSec: 10 ** (n / 100), serviceMs: 1e9 },
        }],
      },
    },
  }),
  pools: (n) => ({ pools: named(n / 10, () => pool) }),
  handlers: (n) => ({
    pools: { p: { size: pool.size, lanes: pool.lanes, handlers: named(n, () => "sleep") } },
  }),
  caps: (n) => ({
    pools: {
      p: { ...pool, caps: times(n / 10, () => ({ use: "fixed-cap", with: { workers: 4 } })) },
    },
  }),
  "caps that there are not": (n) => ({ pools: { p: { ...pool, caps: times(n, () => "capp") } } }),
  signals: (n) => ({ pools: { p: { ...pool, signals: named(n, () => "none") } } }),
  schedules: (n) => ({
    pools: {
      p: {
        ...pool,
        schedules: times(n / 10, (payload) => ({ lane: "a", cron: "0 4 * * *", payload })),
      },
    },
  }),
  "schedules of lanes that there are not": (n) => ({
    pools: {
      p: {
        ...pool,
        lanes: times(n / 10, (index) => ({ name: `lane${index}` })),
        schedules: times(n / 10, () => ({ lane: "lanee", cron: "0 4 * * *" })),
      },
    },
  }),
  "a long cron": (n) => ({
    pools: { p: { ...pool, schedules: [{ lane: "a", cron: `${"1,".repeat(n)}1 * * * *` }] } },
  }),
  "a long zone": (n) => ({
    pools: {
      p: {
        ...pool,
        schedules: [{ lane: "a", cron: "* * * * *", timezone: "x".repeat(10 * n) }],
      },
    },
  }),
  "a reserve of lanes that there are not": (n) => ({
    pools: {
      p: {
        ...pool,
        lanePolicy: { use: "reserved-lane", with: { reserve: named(n, () => 1) } },
      },
    },
  }),
  "a reserve of lanes": (n) => ({
    pools: {
      p: {
        ...pool,
        size: { min: 0, max: n },
        lanes: Object.keys(named(n / 10, () => 1)).map((name) => ({ name })),
        lanePolicy: { use: "dedicated-lanes", with: { workers: named(n / 10, () => 1) } },
      },
    },
  }),
  headers: (n) => ({
    pools: {
      p: {
        ...pool,
        handler: { use: "http", with: { url: "http://127.0.0.1", headers: named(n, () => "x") } },
      },
    },
  }),
  "secrets that are not set": (n) => ({
    pools: {
      p: {
        ...pool,
        handler: {
          use: "http",
          with: { url: "http://127.0.0.1", headers: named(n, (index) => ({ env: `E${index}` })) },
        },
      },
    },
  }),
  "a long name of a pool": (n) => ({ pools: { ["x".repeat(10 * n)]: pool } }),
  "a long name of a lane": (n) => ({
    pools: { p: { ...pool, lanes: [{ name: "x".repeat(10 * n) }] } },
  }),
  "a long use": (n) => ({ pools: { p: { ...pool, controller: "x".repeat(10 * n) } } }),
  "a long module": (n) => ({ pools: { p: { ...pool, controller: `./${"x".repeat(10 * n)}.ts` } } }),
  modules: (n) => ({ allowModules: times(n, (index) => `npm:m${index}`), pools: { p: pool } }),
  redact: (n) => ({ redact: times(n, (index) => `field${index}`), pools: { p: pool } }),
  "a long token": () => ({ admin: { tokens: { admin: "x".repeat(10_000) } }, pools: { p: pool } }),
};

/** Texts of configs that no object describes. */
export const TEXTS: Readonly<Record<string, Make<string>>> = {
  "lists in lists": deepText,
  "a deep payload": (n) =>
    JSON.stringify({
      pools: { p: { ...pool, schedules: [{ lane: "a", cron: "* * * * *", payload: 0 }] } },
    }).replace('"payload":0', `"payload":${deepText(n)}`),
  "a deep option": (n) =>
    JSON.stringify({ pools: { p: { ...pool, controller: { use: "fixed", with: 0 } } } })
      .replace('"with":0', `"with":{"workers":${deepText(n)}}`),
  "repeated keys": (n) => `{${'"pools":{},'.repeat(n)}"x":1}`,
  "repeated keys in lines": (n) => `{${'"pools":{},\n'.repeat(n)}"x":1}`,
  "mistakes in lines": (n) => `{${'"a" 1,\n'.repeat(n)}`,
  "mistakes in a line": (n) => `{${'"a" 1,'.repeat(n)}`,
  commas: (n) => `[${"1 ".repeat(n)}]`,
  comments: (n) => `${"// x\n".repeat(n)}{}`,
  "an open comment": (n) => `/*${"/*".repeat(n)}`,
  braces: (n) => "{".repeat(n),
  quotes: (n) => '"'.repeat(n),
  nothing: (n) => "\n".repeat(n),
};
