import assert from "node:assert/strict";
import { pool, poolLines, resolveObject } from "./_bench.ts";

const size = { min: 1, max: 8 };

Deno.test("resolvePool() fills in what bounds by time leave out", async () => {
  const sizes = [{ cron: "0 8 * * *", min: 0, max: 0 }];
  const settings = await resolveObject({ pools: { mail: pool({ size, sizes }) } });

  assert.deepEqual(settings.pools[0]!.sizes, [
    { cron: "0 8 * * *", timezone: "UTC", min: 0, max: 0 },
  ]);
});

Deno.test("resolvePool() says what is wrong with bounds by time, and where", async () => {
  const sizes = [
    { cron: "0 8 * *", min: 0, max: 1 },
    { cron: "0 8 * * *", timezone: "Mars", min: 0, max: 1 },
    { cron: "0 8 * * *", min: 3, max: 2 },
    { cron: "0 8 * * *", min: 0, max: 9 },
    { min: 0, max: 1, every: 1 },
  ];

  assert.deepEqual(await poolLines({ size, sizes }), [
    '/sizes/0/cron: Expected a cron text such as "0 4 * * *" but received "0 8 * *": ' +
    "Expected 5 parts, or 6 with seconds first, but received 4",
    '/sizes/1/timezone: Expected a time zone such as "UTC" or "Europe/Berlin" but received "Mars"',
    "/sizes/2/min: Expected at most max (2) but received 3",
    "/sizes/3/max: Expected at most size.max (8) but received 9",
    '/sizes/4/cron: Expected the key "cron" but it is missing: from when on: five parts (minute, hour, day, month, weekday), or six with seconds first',
    '/sizes/4/every: No key is named "every": expected one of "cron", "timezone", "min", "max"',
  ]);
});
