import assert from "node:assert/strict";
import { type Running, running } from "../_app.ts";

const ADMIN = "an-admin-token-of-length";
const VIEWER = "a-viewer-token-of-length";

Deno.test("GET /pools/:pool shows facts, lanes and decisions with what each strategy asked for", async () => {
  await using system = await running();
  await fill(system);

  const page = await pageOf(system);
  const [decision] = await (await system.send("GET", "/api/pools/mail/decisions")).json();

  assert.match(page, /<h1>mail<\/h1>/);
  assert.match(page, /<dt>Workers busy<\/dt><dd >4 of 4, limit 4<\/dd>/);
  assert.match(page, /<dt>Target<\/dt><dd >4 \(1 to 4\)<\/dd>/);
  assert.match(page, /<th scope="row">urgent *<\/th><td class="late">100 ms, over/);
  assert.ok(page.includes(`<span class="sentence">${decision.sentence}</span>`));
  assert.match(page, /<th scope="row">age-scaler <span class="soft">controller<\/span><\/th>/);
  assert.ok(page.includes(`<td class="text wrap">${decision.proposals[0].reason}</td>`));
  assert.match(page, /At that time: \d+ ready, oldest wait/);
});

Deno.test("GET /pools/:pool says in words and in a table what its charts show", async () => {
  await using system = await running();
  await fill(system);
  await system.clock.advance(3_000);

  const page = await pageOf(system);

  assert.match(
    page,
    /Demand over two minutes: urgent [\d.]+\/s, oldest wait 3.1 s, at most 3.1 s, target 50 ms; batch/,
  );
  assert.match(
    page,
    /Supply over two minutes: \d to 4 workers, limit 4, \d\.\d of them busy on average\./,
  );
  assert.match(page, /<th scope="col">urgent: longest wait<\/th>/);
  assert.match(page, /data-path="\/api\/pools\/mail"/);
});

Deno.test("GET /pools/:pool counts the workers of a rest that lasts into the two minutes", async () => {
  await using system = await running();
  await system.clock.advance(300_000);
  await fill(system);
  await system.clock.advance(3_000);

  const page = await pageOf(system);

  assert.match(
    page,
    /Supply over two minutes: 1 to 4 workers, limit 4, /,
  );
});

Deno.test("GET /pools/:pool shows what is kept for each lane, as far as its lane policy says", async () => {
  await using system = await running();
  await system.clock.advance(100);

  const strict = await pageOf(system, "/pools/mail");
  const auto = await pageOf(system, "/pools/typed");

  assert.equal(reserves(strict), "- - -");
  assert.equal(reserves(auto), "auto");
});

Deno.test("GET /pools/:pool offers actions with their command lines", async () => {
  await using system = await running();
  await system.clock.advance(100);

  const page = await pageOf(system);
  await system.send("POST", "/api/pools/mail/pause");
  await system.send("PUT", "/api/pools/mail/override", { min: 2, expiresInMs: 60_000 });
  const later = await pageOf(system);

  assert.deepEqual(commandLines(page), [
    "sluice pools pause mail",
    "sluice pools drain mail",
    "sluice pools pause mail --lane urgent",
    "sluice pools pause mail --lane batch",
    "sluice pools resume mail --lane full",
  ]);
  assert.match(page, /data-override="mail" data-min="1" data-max="4" data-most="4"/);
  assert.deepEqual(commandLines(later).slice(0, 3), [
    "sluice pools resume mail",
    "sluice pools drain mail",
    "sluice pools scale mail --clear",
  ]);
  assert.match(later, /<strong>overridden:<\/strong> min 2 until <time/);
  assert.match(later, /<strong>paused:<\/strong> No job starts until it is resumed\./);
});

Deno.test("GET /pools/:pool offers nothing to a viewer, nor on a pool that ends", async () => {
  await using system = await running({ adminToken: ADMIN, viewerToken: VIEWER });
  await system.clock.advance(100);
  const look = async (token: string): Promise<string> =>
    await (await system.app.request("/pools/mail", {
      headers: { authorization: `Bearer ${token}` },
    })).text();
  await system.sluice.pool("mail").override({ min: 2 }, 60_000);

  const viewer = await look(VIEWER);
  await system.sluice.pool("mail").drain();
  const drained = await look(ADMIN);

  for (const page of [viewer, drained]) assert.doesNotMatch(page, /data-act=|data-override=/);
  assert.match(viewer, /<strong>overridden:<\/strong> min 2 until/);
  assert.doesNotMatch(viewer, /override\.js/);
  assert.match(drained, /<strong>stopped:<\/strong> It was drained/);
  assert.match(drained, /Supply over two minutes: 0 to 1 worker, limit 4, 0\.0 of them busy/);
  assert.match(drained, /<td>0\.0<\/td><td>0<\/td><td>0<\/td><td>4<\/td>/);
  assert.match(drained, /<dt>Target<\/dt><dd >none \(2 to 4\)<\/dd>/);
  assert.doesNotMatch(drained, /<p class="lead">/);
});

Deno.test("GET /pools/:pool?decisions= shows so many, and leads to older ones", async () => {
  await using system = await running();
  await fill(system);

  const one = await pageOf(system, "/pools/mail?decisions=1");
  const wrong = await system.send("GET", "/pools/mail?decisions=all");

  assert.equal([...one.matchAll(/class="sentence"/g)].length, 1);
  assert.match(one, /<a href="\?decisions=1000#decisions">Older ones<\/a>/);
  assert.equal(wrong.status, 400);
  await wrong.body?.cancel();
});

Deno.test("GET /pools/:pool answers 404 with a page that leads on, when there is none of that name", async () => {
  await using system = await running();

  const response = await system.send("GET", "/pools/mial%3Cb%3E");
  const page = await response.text();

  assert.equal(response.status, 404);
  assert.match(page, /No pool is named &quot;mial&lt;b&gt;&quot;/);
  assert.match(page, /<a href="\/">All pools<\/a>/);
});

/** Nine jobs for four workers. */
async function fill(system: Running): Promise<void> {
  for (let index = 0; index < 9; index++) {
    await system.send("POST", "/api/pools/mail/jobs", { lane: "urgent", payload: { hang: true } });
  }
  await system.clock.advance(100);
}

async function pageOf(system: Running, path = "/pools/mail"): Promise<string> {
  return await (await system.send("GET", path)).text();
}

function commandLines(page: string): readonly (string | undefined)[] {
  return [...page.matchAll(/data-cli="([^"]*)"/g)].map(([, line]) => line);
}

/** The sixth cell after each lane's name. */
function reserves(page: string): string {
  const table = /aria-label="Lanes of [^]*?<\/table>/.exec(page)?.[0] ?? "";
  const rows = table.split("<tr").slice(2);
  return rows.map((row) => row.split(/<td[^>]*>/)[6]?.replace("</td>", "")).join(" ");
}

Deno.test("GET /pools/:pool looks back as far as the address says, and names what it may say", async () => {
  await using system = await running();
  const read = async (query: string): Promise<Response> =>
    await system.app.request(`/pools/mail${query}`);

  const page = await (await read("?span=1h")).text();
  const wrong = await read("?span=1d");

  assert.match(page, /<a href="\/pools\/mail\?span=1h" data-span="1h" aria-current="true">1h<\/a>/);
  assert.equal(wrong.status, 400);
  assert.match(
    await wrong.text(),
    /Expected span to be one of 2m, 10m, 1h but received &quot;1d&quot;|Expected span to be one of 2m, 10m, 1h but received \\?"1d/,
  );
});
