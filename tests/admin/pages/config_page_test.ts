import assert from "node:assert/strict";
import { start } from "../../../mod.ts";
import { admin } from "../../../src/admin/mod.ts";
import { running } from "../_app.ts";

Deno.test("GET /config shows what each pool runs with, defaults filled in, and the config as given", async () => {
  await using system = await running();

  const page = await (await system.send("GET", "/config")).text();

  assert.match(page, /<th scope="row">controller<\/th><td class="text">age-scaler/);
  assert.match(page, /<th scope="row">lane-policy<\/th><td class="text">strict-priority/);
  assert.match(page, /<span class="soft">for send<\/span>/);
  assert.match(page, /<th scope="row">store<\/th><td class="text">memory/);
  assert.match(page, /<dt>size<\/dt><dd>1 to 4<\/dd>/);
  assert.match(page, /<th scope="row">full<\/th>.*?<td[^>]*>1<\/td>.*?<td[^>]*>yes<\/td>/s);
  assert.match(page, /&quot;maxDepth&quot;: 1/);
});

Deno.test("GET /config shows options as given, and hides what is to be redacted and what is secret", async () => {
  await using sluice = await start({
    redact: ["token"],
    pools: {
      hooks: {
        handler: { use: "http", with: { url: "http://127.0.0.1:9/", headers: { token: "t-1" } } },
        size: { min: 1, max: 1 },
        lanes: [{ name: "only" }],
      },
    },
  });

  const page = await (await admin(sluice).request("/config")).text();

  assert.match(page, /&quot;url&quot;: &quot;http:\/\/127\.0\.0\.1:9\/&quot;/);
  assert.match(page, /&quot;token&quot;: &quot;\[redacted\]&quot;/);
  assert.doesNotMatch(page, /t-1/);
});

Deno.test("GET /config shows keys of lanes that have names and lists in them", async () => {
  const out = { pool: "p", lane: "out" };
  await using sluice = await start({
    pools: {
      p: {
        handler: () => {},
        size: { min: 1, max: 1 },
        lanes: [
          {
            name: "in",
            onDead: out,
            dedupe: { mode: "replace" },
            backoff: { delaysMs: [50, 5000] },
            ratesPerKey: [{ calls: 4, perMs: 1000 }],
          },
          { name: "out" },
        ],
      },
    },
  });

  const response = await admin(sluice).request("/config");

  assert.equal(response.status, 200);
  const page = await response.text();
  assert.match(page, />pool p, lane out/);
  assert.match(page, />mode replace/);
  assert.match(page, /delaysMs 50 ms; 5 s/);
  assert.match(page, />calls 4, perMs 1 s</);
});
