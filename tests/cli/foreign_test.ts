import assert from "node:assert/strict";
import { sluice } from "./_io.ts";

/** Each verb that asks a running system, behind what tells its answer. */
const VERBS = [
  ["list", "pools", "ls"],
  ["list", "explain", "mail"],
  ["list", "top"],
  ["list", "plugins", "--running"],
  ["list", "record", "--for", "1s"],
  ["lanes", "pools", "describe", "mail"],
  ["lanes", "record", "mail", "--for", "1s"],
  ["diagnosis", "doctor", "mail"],
  ["paused", "pools", "pause", "mail"],
  ["paused", "pools", "resume", "mail", "--lane", "urgent"],
  ["closed", "pools", "close-breaker", "mail", "--key", "acme"],
  ["waiting", "pools", "drain", "mail", "--yes"],
  ["override", "pools", "scale", "mail", "--max", "3", "--for", "10m"],
  ["override", "pools", "scale", "mail", "--clear"],
  ["jobs", "jobs", "ls", "mail"],
  ["jobs", "dlq", "ls", "mail"],
  ["state", "jobs", "show", "x"],
  ["state", "jobs", "cancel", "x", "--yes"],
  ["state", "jobs", "retry", "x"],
  ["action", "dlq", "retry", "mail", "--all"],
  ["action", "dlq", "discard", "mail", "--all", "--yes"],
  ["id", "enqueue", "mail", "--lane", "urgent"],
  ["changes", "reload"],
] as const;

for (const body of ['{"ok":true}', "[1]", "null"]) {
  Deno.test(`verbs that are answered ${body} by another program say so, and not that it is done`, async () => {
    await using other = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      () => new Response(body, { headers: { "content-type": "application/json" } }),
    );
    const url = `http://127.0.0.1:${other.addr.port}`;

    for (const [sign, ...args] of VERBS) {
      if (sign === "list" && body === "[1]") continue;
      const { code, out, err } = await sluice([...args, "--url", url]);

      const what = sign === "list" ? "no list" : `no "${sign}" in its answer`;
      assert.deepEqual([code, out, err], [
        1,
        "",
        `What answers at ${url} is not a Sluice admin API (200, ${what}): check --url\n`,
      ], args.join(" "));
    }
  });
}

Deno.test("verbs follow no redirect: they say so, and change nothing elsewhere", async () => {
  const methods: string[] = [];
  await using other = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    methods.push(new URL(request.url).pathname);
    return new Response(null, { status: 307, headers: { location: "/elsewhere" } });
  });
  const url = `http://127.0.0.1:${other.addr.port}`;

  for (const [, ...args] of VERBS) {
    const { code, out, err } = await sluice([...args, "--url", url]);

    assert.deepEqual([code, out, err], [
      1,
      "",
      `${url} redirects elsewhere (307): pass the address that it redirects to by --url\n`,
    ], args.join(" "));
  }
  assert.ok(!methods.includes("/elsewhere"));
});
