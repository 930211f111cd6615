import { Hono } from "hono";
import assert from "node:assert/strict";
import { running } from "./_app.ts";

/** The app below a path of another that has routes and a 404 of its own. */
async function mounted(at: string) {
  const system = await running();
  const outer = new Hono()
    .get("/", (c) => c.text("shop"))
    .route(at, system.app);
  outer.notFound((c) => c.text("no such page of the shop", 404));
  return { system, outer };
}

for (const at of ["/queue", "/ops/queue"]) {
  Deno.test(`admin() answers every kind of route when it is mounted at ${at}`, async () => {
    const { system, outer } = await mounted(at);
    await using _ = system;
    const get = async (path: string): Promise<Response> => await outer.request(`${at}${path}`);
    const posted = await outer.request(`${at}/api/pools/mail/jobs?waitMs=0`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ lane: "urgent", payload: { to: "ann" } }),
    });
    const { id } = await posted.json();
    await system.clock.advance(10);

    const events = await get("/api/events");
    await events.body?.cancel();

    assert.equal(posted.status, 202);
    assert.equal((await (await get(`/api/jobs/${id}`)).json()).state, "done");
    assert.equal((await (await get("/api/pools/mail")).json()).pool, "mail");
    assert.match(await (await get("/metrics")).text(), /^sluice_pool_workers\{/m);
    assert.equal((await (await get("/openapi.json")).json()).servers[0].url, at);
    assert.match(await (await get("/docs")).text(), /<html/);
    assert.equal((await get("/readyz")).status, 200);
    assert.equal(events.headers.get("content-type"), "text/event-stream");
    assert.match(await (await get("")).text(), /<html/);
    assert.match(await (await get("/")).text(), /<html/);
    assert.equal((await get("//")).status, 404);
    assert.equal((await get("/api/pools/none")).status, 404);
    assert.equal(await (await outer.request("/")).text(), "shop");
    assert.equal(await (await outer.request("/other")).text(), "no such page of the shop");
  });
}

Deno.test("admin() below another app answers a fault inside without its text", async () => {
  const { system, outer } = await mounted("/queue");
  await using _ = system;
  Object.defineProperty(system.sluice.pool("mail"), "snapshot", {
    value: () => {
      throw new Error("s3cret");
    },
  });

  const response = await outer.request("/queue/api/pools/mail");

  assert.equal(response.status, 500);
  assert.doesNotMatch(await response.text(), /s3cret/);
});

Deno.test("admin() by itself is served by Hono's fast router", async () => {
  await using system = await running();

  await system.app.request("/api/pools");

  assert.equal(Reflect.get(system.app, "router").name, "SmartRouter + RegExpRouter");
});
