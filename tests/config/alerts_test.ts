import assert from "node:assert/strict";
import { diff } from "../../src/config/diff.ts";
import { linesOf, pool, resolveObject } from "./_bench.ts";

const pools = { mail: pool() };

Deno.test("admin.alerts has an address, a token and findings that are not told", async () => {
  const admin = {
    alerts: { url: "https://example.com/hook", token: { env: "TOKEN" }, ignore: ["stalled"] },
  } as const;

  const settings = await resolveObject({ admin, pools }, { env: (name) => `the ${name}` });

  assert.deepEqual(settings.admin?.alerts, {
    url: "https://example.com/hook",
    token: "the TOKEN",
    ignore: ["stalled"],
  });
  assert.deepEqual(settings.shown, { admin, pools });
});

Deno.test("admin.alerts takes its address from the environment, and shows the name only", async () => {
  const admin = { alerts: { url: { env: "HOOK" } } };

  const settings = await resolveObject({ admin, pools }, {
    env: () => "https://example.com/s3cret",
  });

  assert.deepEqual(settings.admin?.alerts, {
    url: "https://example.com/s3cret",
    token: undefined,
    ignore: ["fixed-would-do"],
  });
  assert.doesNotMatch(JSON.stringify(settings.shown), /s3cret/);
});

Deno.test("admin.alerts refuses what is no address, unknown findings and literal tokens", async () => {
  const lines = async (alerts: unknown, value?: string): Promise<readonly string[]> =>
    await linesOf({ admin: { alerts }, pools }, { env: () => value });

  assert.deepEqual(await lines({ url: "mailto:ann@example.com" }), [
    '/admin/alerts/url: Expected an address such as https://example.com/hook but received "mailto:ann@example.com"',
  ]);
  assert.deepEqual(await lines({ url: { env: "HOOK" } }, "s3cret"), [
    '/admin/alerts/url: Expected an address such as https://example.com/hook but the environment variable "HOOK" has another value',
  ]);
  assert.deepEqual(await lines({ url: { env: "HOOK" } }), [
    '/admin/alerts/url: The environment variable "HOOK" is not set: set it before the start',
  ]);
  assert.deepEqual(await lines({ url: 5, token: "literal", ignore: ["staled"], urls: [] }), [
    '/admin/alerts/url: Expected an address, or { "env": "NAME" } but received 5',
    '/admin/alerts/token: Expected { "env": "NAME" } but received a literal: secrets do not belong in a config',
    '/admin/alerts/ignore/0: Expected one of store-failing, loop-blocked, claims-stalled, store-slow, stalled, failing, receiver-refuses, downstream-slower, key-bound, reserve-idle, at-capacity, lane-starved, never-grows, reserve-small, no-preemption, uses-drift, oscillation, fixed-would-do but received "staled"',
    '/admin/alerts/urls: No key is named "urls": did you mean "url"?',
  ]);
});

Deno.test("a reload that changes admin.alerts is refused, and shows no address", async () => {
  const at = (url: string) =>
    resolveObject({ admin: { alerts: { url: { env: "HOOK" } } }, pools }, { env: () => url });

  const found = diff(await at("https://example.com/a"), await at("https://example.com/b"));

  assert.deepEqual(found.map(({ pointer, change, refused }) => [pointer, change, refused]), [
    ["/admin/alerts", "changed", true],
  ]);
  assert.doesNotMatch(JSON.stringify(found), /example/);
});
