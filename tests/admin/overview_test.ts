import assert from "node:assert/strict";
import { Hono } from "hono";
import { running } from "./_app.ts";

Deno.test("GET / shows each pool, its lanes, and the sentence of its last decision", async () => {
  await using system = await running();
  for (let index = 0; index < 9; index++) {
    await system.send("POST", "/api/pools/mail/jobs", { lane: "urgent", payload: { hang: true } });
  }
  await system.clock.advance(100);

  const page = await (await system.send("GET", "/")).text();
  const pool = await (await system.send("GET", "/api/pools/mail")).json();

  assert.match(page, /^<!DOCTYPE html>\s*<html lang="en">/);
  assert.match(page, /<h2>mail<\/h2><span>4 busy of 4 workers, target 4, limit 4<\/span>/);
  assert.match(page, /<h2>typed<\/h2>/);
  assert.ok(page.includes(`<p>${pool.decision.latest ?? pool.decision.sentence}</p>`));
  assert.match(
    page,
    /<th scope="row">urgent<\/th><td class="late">100 ms over<\/td><td>50 ms<\/td><td>5<\/td>/,
  );
  assert.match(page, /<th scope="row">full \(paused\)<\/th>/);
});

Deno.test("GET / needs neither script nor inline style, and refreshes itself", async () => {
  await using system = await running();

  const response = await system.send("GET", "/");
  const page = await response.text();

  assert.match(page, /<meta http-equiv="refresh" content="3"/);
  assert.doesNotMatch(page, /<script|style=|onclick|javascript:/i);
  assert.equal(
    response.headers.get("content-security-policy"),
    "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
});

Deno.test("GET /?refresh= sets the time between refreshes: 0 holds still, more is clamped", async () => {
  await using system = await running();

  const still = await (await system.send("GET", "/?refresh=0")).text();
  const slow = await (await system.send("GET", "/?refresh=999999")).text();
  const wrong = await system.send("GET", "/?refresh=fast");

  assert.doesNotMatch(still, /http-equiv="refresh"/);
  assert.match(still, /Holds still/);
  assert.match(slow, /content="3600"/);
  assert.equal(wrong.status, 400);
});

Deno.test("GET / marks what needs attention", async () => {
  await using system = await running();
  await system.send("POST", "/api/pools/mail/pause");
  await system.send("PUT", "/api/pools/typed/override", { min: 0, expiresInMs: 1_000 });

  const page = await (await system.send("GET", "/")).text();

  assert.match(page, /<span class="mark">paused<\/span>/);
  assert.match(page, /<span class="mark">overridden<\/span>/);
});

Deno.test("GET / finds its style sheet wherever the app is mounted", async () => {
  await using system = await running();
  const outer = new Hono().route("/ops/queue", system.app);

  const page = await (await outer.request("/ops/queue")).text();
  const href = /<link rel="stylesheet" href="([^"]+)"/.exec(page)?.[1] ?? "";
  const style = await outer.request(href);

  assert.equal(href, "/ops/queue/assets/style.css");
  assert.equal(style.status, 200);
  assert.equal(style.headers.get("content-type"), "text/css; charset=utf-8");
  assert.match(await style.text(), /^:root \{/);
});
