import assert from "node:assert/strict";
import { builtins, defaults } from "../../plugins/mod.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import { linesOf, options as bench, pool } from "./_bench.ts";

const options = { ...bench, builtins: [...bench.builtins, ...builtins], defaults };

Deno.test("resolveUses() makes a shared cap of each use, after the caps of the list", async () => {
  const settings = await resolveConfig({
    downstreams: { db: { connections: 20 }, other: { connections: 3 } },
    pools: {
      mail: pool({
        handler: "sleep",
        size: { min: 1, max: 8 },
        caps: [{ use: "fixed-cap", with: { workers: 4 } }],
        uses: { db: 2 },
      }),
    },
  } as never, options); // as a file may hold it
  const { caps } = settings.pools[0]!;

  assert.deepEqual(caps.map(({ bound, scope, shared }) => [bound.name, scope, shared]), [
    ["fixed-cap", "process", undefined],
    ["db-pool-cap", "cluster", {
      downstream: "db",
      what: "connections",
      connections: 20,
      each: 2,
    }],
    ["adaptive-cap", "process", undefined],
  ]);
  assert.deepEqual(settings.downstreams, [
    { name: "db", connections: 20, rates: [], cooldown: undefined },
    { name: "other", connections: 3, rates: [], cooldown: undefined },
  ]);
});

Deno.test("resolveUses() names uses that cannot be", async () => {
  const lines = await linesOf({
    downstreams: {
      db: { connections: 4 },
      off: { connections: 0 },
      odd: {},
      less: { connections: -1 },
    },
    pools: { mail: pool({ uses: { dbb: 1, db: 5, off: 0.5, odd: 1, less: 1 } }) },
  }, options);

  assert.deepEqual(lines, [
    '/downstreams/odd: Expected "connections", "rates" or "cooldown" but it says nothing of what it bears',
    "/downstreams/less/connections: Expected a whole number >= 0 but received -1",
    '/pools/mail/uses/dbb: No downstream is named "dbb": did you mean "db"?',
    '/pools/mail/uses/db: Expected at most the 4 connections of "db" but received 5: no job could start',
    "/pools/mail/uses/off: Expected a whole number >= 1 but received 0.5",
  ]);
});

Deno.test("resolveUses() wants defaults that say which cap stands for connections", async () => {
  const config = {
    downstreams: { db: { connections: 4 } },
    pools: { mail: pool({ uses: { db: 1 } }) },
  };

  assert.deepEqual(await linesOf(config), [
    "/pools/mail/uses/db: Expected defaults with a cap for connections but they name none",
  ]);
});

Deno.test("resolveDownstreams() says of which shape all are", async () => {
  assert.deepEqual(
    await linesOf({
      downstreams: {
        db: { connections: 1, rates: [], cooldown: { after: 0, by: "key", minMs: 9, maxMs: 1 } },
        list: [],
      },
      pools: { mail: pool({ uses: ["db"] }) },
    }, options),
    [
      "/downstreams/db/rates: Expected a list of rates, at least one but received an empty list",
      "/downstreams/db/cooldown/after: Expected a whole number >= 1 but received 0",
      '/downstreams/db/cooldown/by: No key is named "by": expected one of "after", "minMs", "maxMs", "failures", "gone"',
      "/downstreams/db/cooldown/maxMs: Expected at least minMs (9) but received 1",
      "/downstreams/list: Expected an object but received an empty list",
      "/pools/mail/uses: Expected numbers by downstream but received a list",
    ],
  );
});

Deno.test("a pool has the rules of each circuit breaker of what it uses, with defaults", async () => {
  const settings = await resolveConfig({
    downstreams: {
      db: { connections: 20 },
      mailer: { cooldown: {} },
      sms: { connections: 2, cooldown: { after: 5, failures: 10, gone: true } },
    },
    pools: { mail: pool({ uses: { db: 1, mailer: 1, sms: 2 } }), other: pool() },
  } as never, options); // as a file may hold it
  const [mail, other] = settings.pools;

  const usual = {
    by: "pool",
    after: 3,
    minMs: 1000,
    maxMs: 60_000,
    failures: Infinity,
    gone: false,
  };
  assert.deepEqual([...mail!.cooldowns], [
    ["mailer", usual],
    ["sms", { ...usual, after: 5, failures: 10, gone: true }],
  ]);
  assert.deepEqual(mail!.caps.flatMap(({ shared }) => shared?.downstream ?? []), ["db", "sms"]);
  assert.equal(other!.cooldowns.size, 0);
});

Deno.test("resolveUses() makes a cap for connections and one for rates, each with what a job needs", async () => {
  const rates = [{ calls: 100, perMs: 1000 }];
  const settings = await resolveConfig({
    downstreams: { mailer: { connections: 9, rates } },
    pools: { mail: pool({ uses: { mailer: 3 } }) },
  } as never, options); // as a file may hold it

  const caps = settings.pools[0]!.caps.filter(({ shared }) => shared !== undefined);
  assert.deepEqual(caps.map(({ bound, shared }) => [bound.given, shared]), [
    [{ connections: 9, perWorker: 3 }, {
      downstream: "mailer",
      what: "connections",
      connections: 9,
      each: 3,
    }],
    [{ rates, callsPerJob: 3 }, {
      downstream: "mailer",
      what: "rates",
      connections: Infinity,
      each: 3,
    }],
  ]);
  const lines = await linesOf({
    downstreams: { mailer: { rates: [{ calls: 2, perMs: 1000 }, { calls: 9, perMs: 999 }] } },
    pools: { mail: pool({ uses: { mailer: 3 } }) },
  }, options);
  assert.deepEqual(lines, [
    "/downstreams/mailer/rates/1/perMs: Expected a number from 1000 to 10000 but received 999",
  ]);
  assert.deepEqual(
    await linesOf({
      downstreams: { mailer: { rates: [{ calls: 2, perMs: 1000 }] } },
      pools: { mail: pool({ uses: { mailer: 3 } }) },
    }, options),
    [
      '/pools/mail/uses/mailer: Expected at most the 2 calls in 1000 ms of "mailer" but received 3: give its rate as more calls in a longer window',
    ],
  );
});
