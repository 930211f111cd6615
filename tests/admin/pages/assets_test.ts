import assert from "node:assert/strict";
import { Hono } from "hono";
import { problemOf, running } from "../_app.ts";

const TOKENS = { adminToken: "an-admin-token-of-length" };

Deno.test("GET /assets/:name answers the files that pages name, to all, wherever the app is mounted", async () => {
  await using system = await running(TOKENS);
  const outer = new Hono().route("/ops/queue", system.app);

  const page = await (await outer.request("/ops/queue/login")).text();
  const named = [...page.matchAll(/(?:src|href)="([^"]+\/assets\/[^"]+)"/g)]
    .map(([, path = ""]) => path);
  const answers = await Promise.all(named.map((path) => outer.request(path)));
  const texts = await Promise.all(answers.map((answer) => answer.text()));

  assert.ok(named.includes("/ops/queue/assets/style.css"));
  assert.deepEqual(answers.map(({ status }) => status), named.map(() => 200));
  assert.ok(texts.every((text) => text.length > 0));
  assert.ok(answers.every(({ headers }) => headers.get("x-content-type-options") === "nosniff"));
});

Deno.test("GET /assets/:name answers every module that a script of ours imports", async () => {
  await using system = await running();
  const seen = new Set<string>();
  const follow = async (name: string): Promise<void> => {
    if (seen.has(name)) return;
    seen.add(name);
    const answer = await system.app.request(`/assets/${name}`);
    assert.equal(answer.status, 200, name);
    assert.equal(answer.headers.get("content-type"), "text/javascript; charset=utf-8", name);
    const imports = (await answer.text()).matchAll(/^import .* from "\.\/([^"]+)";$/gm);
    for (const [, next = ""] of imports) await follow(next);
  };

  await follow("frame.js");
  await follow("reload.js");

  assert.ok(seen.has("morph.js"));
});

Deno.test("GET /assets/:name says 304 to who has the file, and 404 to what is none", async () => {
  await using system = await running();
  const first = await system.app.request("/assets/style.css");
  await first.body?.cancel();

  const again = await system.app.request("/assets/style.css", {
    headers: { "if-none-match": first.headers.get("etag") ?? "" },
  });
  const missing = await system.app.request("/assets/nothing.js");
  const inherited = await system.app.request("/assets/constructor");

  assert.equal(first.headers.get("cache-control"), "no-cache");
  assert.equal(first.headers.get("content-type"), "text/css; charset=utf-8");
  assert.equal(again.status, 304);
  assert.equal(
    (await problemOf(missing)).detail,
    "No such asset",
  );
  assert.equal(inherited.status, 404);
});
