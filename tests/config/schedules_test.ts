import assert from "node:assert/strict";
import { pool, poolLines, resolveObject } from "./_bench.ts";

const lanes = [{ name: "daily" }, { name: "other" }];

Deno.test("resolvePool() fills in what a schedule leaves out", async () => {
  const schedules = [{ lane: "daily", cron: "0 4 * * *" }];
  const settings = await resolveObject({ pools: { mail: pool({ lanes, schedules }) } });

  assert.deepEqual(settings.pools[0]!.schedules, [{
    lane: "daily",
    type: "",
    cron: "0 4 * * *",
    everyMs: undefined,
    timezone: "UTC",
    jitterMs: 0,
    overlap: true,
    payload: null,
    catchUp: "none",
  }]);
});

Deno.test("resolvePool() says what is wrong with a schedule, and where", async () => {
  const lines = await poolLines({
    lanes,
    schedules: [
      { lane: "dayly", cron: "0 4 * *" },
      { lane: "daily", cron: "61 * * * *", timezone: "Europe/Berln", type: "a" },
      { lane: "daily", cron: "0 0 30 2 *", catchUp: "some", every: 5 },
      { lane: "daily" },
      { lane: "daily", cron: "0 4 * * *" },
      { lane: "daily", cron: "0 4 * * *", catchUp: "all" },
      "0 4 * * *",
    ],
  });

  assert.deepEqual(lines, [
    '/schedules/0/cron: Expected a cron text such as "0 4 * * *" but received "0 4 * *": ' +
    "Expected 5 parts, or 6 with seconds first, but received 4",
    '/schedules/0/lane: No lane is named "dayly": did you mean "daily"?',
    '/schedules/1/timezone: Expected a time zone such as "UTC" or "Europe/Berlin" but received "Europe/Berln"',
    '/schedules/1/cron: Expected a cron text such as "0 4 * * *" but received "61 * * * *": ' +
    "Invalid value for minute: 61",
    "/schedules/1/type: Expected no type but the pool has one handler: remove it",
    '/schedules/2/catchUp: Expected "none", "last" or "all" but received "some"',
    '/schedules/2/every: No key is named "every": expected one of "lane", "type", "cron", "everyMs", ' +
    '"timezone", "jitterMs", "overlap", "payload", "catchUp"',
    '/schedules/2/cron: Expected times that exist but received "0 0 30 2 *": there is no such date',
    '/schedules/3: Expected the key "cron" or "everyMs" but both are missing: when it comes',
    "/schedules/5: Expected a schedule of its own but schedule 4 is the same",
    '/schedules/6: Expected an object but received "0 4 * * *"',
  ]);
});

Deno.test("resolvePool() wants the type of a scheduled job where there are several handlers", async () => {
  const lines = await poolLines({
    handler: undefined,
    handlers: { report: "echo", tidy: "echo" },
    lanes,
    schedules: [
      { lane: "daily", cron: "0 4 * * *" },
      { lane: "daily", cron: "0 4 * * *", type: "reprot" },
      { lane: "daily", cron: "0 4 * * *", type: "tidy" },
    ],
  });

  assert.deepEqual(lines, [
    '/schedules/0/type: Expected the key "type" but it is missing: one of "report", "tidy"',
    '/schedules/1/type: No handler is named "reprot": did you mean "report"?',
  ]);
});

Deno.test("resolvePool() takes a cron text or an interval, and tells what else is odd", async () => {
  const schedules = [
    { lane: "daily" },
    { lane: "daily", cron: "0 4 * * *", everyMs: 60_000 },
    { lane: "daily", everyMs: 60_000, timezone: "UTC" },
    { lane: "daily", everyMs: 999 },
    { lane: "daily", everyMs: 60_000, jitterMs: -1, overlap: "no" },
    { lane: "other", everyMs: 60_000, overlap: false },
    { lane: "other", everyMs: 60_000, jitterMs: 5 },
  ];

  assert.deepEqual(await poolLines({ lanes, schedules }), [
    '/schedules/0: Expected the key "cron" or "everyMs" but both are missing: when it comes',
    '/schedules/1/everyMs: Expected either "cron" or "everyMs" but received both: remove one',
    '/schedules/2/timezone: Expected no timezone beside "everyMs": an interval has none, so remove it',
    "/schedules/3/everyMs: Expected a number from 1000 to 31622400000 but received 999",
    "/schedules/4/jitterMs: Expected a number from 0 to 86400000 but received -1",
    '/schedules/4/overlap: Expected true or false but received "no"',
    "/schedules/6: Expected a schedule of its own but schedule 5 is the same",
  ]);
});
