/**
 * The admin API behind what takes a part of the path off: a proxy, or another framework.
 *
 * @module
 */

import { Hono } from "hono";
import assert from "node:assert/strict";
import { running } from "../_app.ts";
import type { AdminOptions } from "../../../src/admin/mod.ts";

const ADMIN = "0123456789abcdef";
const PROXY = "10.0.0.7";

/** Asks as a proxy does that has taken `/queue` off. */
async function asked(
  options: AdminOptions,
  path: string,
  { headers = {}, peer = PROXY, ...init }: RequestInit & { readonly peer?: string } = {},
): Promise<{ readonly response: Response; readonly text: string }> {
  await using system = await running({ adminToken: ADMIN, ...options });
  const env = { remoteAddr: { transport: "tcp", hostname: peer, port: 5000 } };
  const response = await system.app.request(path, {
    ...init,
    headers: { accept: "text/html", host: "queue.example", ...headers },
  }, env);
  return { response, text: await response.text() };
}

const BEARER = { authorization: `Bearer ${ADMIN}` };

for (const basePath of ["/queue", "/queue/", "/ops/queue"]) {
  Deno.test(`links, redirects and cookies begin with basePath "${basePath}"`, async () => {
    const base = basePath.replace(/\/$/, "");
    const page = await asked({ basePath }, "/jobs", { headers: BEARER });
    const start = await asked({ basePath }, "/");
    const deep = await asked({ basePath }, "/jobs?state=dead");
    const login = await asked({ basePath }, "/login", {
      method: "POST",
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        "sec-fetch-site": "same-origin",
      },
      body: new URLSearchParams({ token: ADMIN }),
    });
    const openapi = await asked({ basePath }, "/openapi.json", { headers: BEARER });
    const none = await asked({ basePath }, "/nothing", { headers: BEARER });

    assert.equal(page.response.status, 200);
    const inside = /(?:href|src)="(\/[^"]*)"/g;
    const links = [...page.text.matchAll(inside), ...none.text.matchAll(inside)];
    assert.ok(links.length > 10);
    for (const [, link] of links) assert.ok(link === base || link!.startsWith(`${base}/`), link);
    assert.equal(start.response.headers.get("location"), `${base}/login`);
    assert.equal(
      deep.response.headers.get("location"),
      `${base}/login?next=${encodeURIComponent(`${base}/jobs?state=dead`)}`,
    );
    assert.equal(login.response.headers.get("location"), base);
    assert.match(login.response.headers.get("set-cookie") ?? "", new RegExp(`Path=${base};`));
    assert.equal(JSON.parse(openapi.text).servers[0].url, base);
  });
}

Deno.test("X-Forwarded-Prefix is believed of trusted proxies only, and only if it is a plain path", async () => {
  const trusted = { trustedProxies: [PROXY] };
  const rows: readonly (readonly [AdminOptions, peer: string, said: string, login: string])[] = [
    [trusted, PROXY, "/queue", "/queue/login"],
    [trusted, `::ffff:${PROXY}`, "/queue/", "/queue/login"],
    [trusted, "10.0.0.8", "/queue", "/login"],
    [{}, PROXY, "/queue", "/login"],
    [{}, "127.0.0.1", "/queue", "/login"],
    [{ ...trusted, basePath: "/fixed" }, PROXY, "/queue", "/queue/login"],
    [{ ...trusted, basePath: "/fixed" }, "10.0.0.8", "/queue", "/fixed/login"],
    [trusted, PROXY, "//evil.example", "/login"],
    [trusted, PROXY, "/\\evil.example", "/login"],
    [trusted, PROXY, "https://evil.example", "/login"],
    [trusted, PROXY, "queue", "/login"],
    [trusted, PROXY, "/a, /b", "/login"],
    [trusted, PROXY, "", "/login"],
  ];
  for (const [options, peer, said, login] of rows) {
    const { response } = await asked(options, "/", {
      peer,
      headers: { "x-forwarded-prefix": said },
    });
    assert.equal(response.headers.get("location"), login, `${said} from ${peer}`);
  }
});

Deno.test("an app that Hono's mount() takes the path off of works with basePath, and below a route too", async () => {
  await using system = await running({ basePath: "/shop" });
  const mounted = new Hono().mount("/shop", system.app.fetch);
  const both = new Hono().mount("/shop", new Hono().route("/queue", system.app).fetch);

  for (const path of ["/shop", "/shop/"]) {
    assert.match(await (await mounted.request(path)).text(), /href="\/shop\/jobs"/, path);
  }
  for (const path of ["/shop/queue", "/shop/queue/"]) {
    assert.match(await (await both.request(path)).text(), /href="\/shop\/queue\/jobs"/, path);
  }
});

Deno.test("an app that is mounted with a slash at the end is asked for with it, and its links are as without", async () => {
  await using system = await running();
  const outer = new Hono().route("/queue/", system.app);

  for (const path of ["/queue/", "/queue/jobs"]) {
    assert.match(await (await outer.request(path)).text(), /href="\/queue\/jobs"/, path);
  }
});

Deno.test("admin() refuses a basePath that is no path", async () => {
  for (const basePath of ["queue", "//queue", "/que ue", "https://queue.example", "/a?b"]) {
    await assert.rejects(running({ basePath }), {
      name: "TypeError",
      message: `Expected basePath to be a path such as "/queue" but received "${basePath}"`,
    });
  }
});
