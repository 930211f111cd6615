import assert from "node:assert/strict";
import { Hono } from "hono";
import { ORDER_KEYS, orderOf, sortBy } from "../../../src/admin/pages/pool_order.ts";
import { admin } from "../../../src/admin/mod.ts";
import { problemOf, running, withPool } from "../_app.ts";

const ADMIN = "an-admin-token-of-length";
const VIEWER = "a-viewer-token-of-length";

Deno.test("GET / shows each pool, its lanes, and the sentence of its last decision", async () => {
  await using system = await running();
  for (let index = 0; index < 9; index++) {
    await system.send("POST", "/api/pools/mail/jobs", { lane: "urgent", payload: { hang: true } });
  }
  await system.send("POST", "/api/pools/mail/jobs", { lane: "full", payload: 1 });
  await system.clock.advance(100);

  const page = await textOf(await system.send("GET", "/?well=shown"));
  const pool = await (await system.send("GET", "/api/pools/mail")).json();

  assert.match(page, /mail over targetlane paused 4 \/ 4 limit 4 100 ms 6 /);
  assert.match(page, /typed ok 0 \/ 1 limit 1 0 ms 0 /);
  assert.match(page, /urgent 4 100 ms, over 50 ms 5 /);
  assert.match(page, /batch 0 0 ms no target 0 /);
  assert.match(page, /full paused 0 0 ms of 50 ms 1 /);
  assert.ok(page.includes(pool.decision.latest ?? pool.decision.sentence));
  assert.match(page, /No pool needs attention; 1 is held .* Workers busy 4 of 5 Ready jobs 6 /);
});

Deno.test("GET / has nothing inline, and without a script it is loaded anew", async () => {
  await using system = await running();

  const response = await system.send("GET", "/");
  const page = await response.text();

  assert.match(page, /<noscript><meta http-equiv="refresh" content="5"><\/noscript>/);
  assert.doesNotMatch(page, /<script(?! [^>]*src="\/assets\/)| style="| on\w+="|javascript:/i);
  assert.equal(
    response.headers.get("content-security-policy"),
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
      "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  );
});

Deno.test("GET /?refresh= sets the time between loads without a script: 0 holds still, more is clamped", async () => {
  await using system = await running();

  const still = await (await system.send("GET", "/?refresh=0")).text();
  const slow = await (await system.send("GET", "/?refresh=999999")).text();
  const wrong = await system.send("GET", "/?refresh=fast&sort=name&order=up");

  assert.doesNotMatch(still, /http-equiv="refresh"/);
  assert.match(slow, /content="3600"/);
  assert.deepEqual((await problemOf(wrong)).errors?.map(({ pointer }) => pointer), [
    "?refresh",
    "?order",
  ]);
});

Deno.test("GET / marks what needs attention, in words", async () => {
  await using system = await running();
  await system.clock.advance(100);
  await system.send("POST", "/api/pools/mail/pause");
  await system.send("PUT", "/api/pools/typed/override", { min: 0, expiresInMs: 1_000 });

  const page = await (await system.send("GET", "/")).text();

  assert.match(page, /class="mark warn"[^>]*>paused<\/span>/);
  assert.match(page, /class="mark warn"[^>]*>overridden<\/span>/);
  assert.doesNotMatch(page, /class="mark good"/);
});

Deno.test("GET / says in words what a mark means that says trouble", async () => {
  await using system = await running();
  await system.clock.advance(100);
  const stale = withPool(system.sluice, (pool) => ({
    snapshot: () => ({ ...pool.snapshot(), stale: true }),
  }));

  const page = await textOf(await admin(stale).request("/"));

  assert.match(page, /mail Jobs suffer: The store cannot be read: counts are the last known ones/);
});

Deno.test("GET / says so of a pool that ends", async () => {
  await using system = await running();
  await system.clock.advance(100);
  await system.sluice.pool("typed").drain();

  const after = await textOf(await system.send("GET", "/"));

  assert.match(after, /typed stopped /);
  assert.match(
    after,
    /only 0 .* It was drained: it runs nothing until the process restarts/,
  );
});

Deno.test("GET /?sort= orders pools by any column, the greatest first, and `-` turns it round", async () => {
  await using system = await running();
  await system.send("POST", "/api/pools/typed/jobs", { lane: "only", payload: 1, type: "send" });
  await system.send("POST", "/api/pools/mail/pause");
  await system.send("POST", "/api/pools/mail/jobs", { lane: "batch", payload: 1 });
  await system.clock.advance(100);
  const order = async (query: string): Promise<string> => {
    const page = await (await system.send("GET", `/${query}`)).text();
    return [...page.matchAll(/scope="rowgroup"><a href="\/pools\/(\w+)"/g)]
      .map(([, name]) => name).join(" ");
  };

  assert.equal(await order(""), "mail");
  assert.equal(await order("?well=shown"), "mail typed");
  assert.equal(await order("?sort=name"), "mail typed");
  assert.equal(await order("?sort=-name"), "typed mail");
  assert.equal(await order("?sort=done"), "typed mail");
  assert.equal(await order("?sort=-done"), "mail typed");
  for (const unknown of ["nothing", "", "-", "--name"]) {
    const refused = await system.send("GET", `/?sort=${unknown}`);
    assert.equal(refused.status, 400);
    const start =
      /^Expected sort to be one of name, workers, .*, or one of them after "-", but received "/;
    assert.match((await problemOf(refused)).detail, start);
  }
  for (const key of ORDER_KEYS) assert.match(await order(`?sort=${key}`), /\w+ \w+/);
  const page = await (await system.send("GET", "/?sort=oldest")).text();
  assert.match(page, /aria-sort="descending"><a href="\?sort=-oldest"/);
});

Deno.test("sortBy() turns the order in force round, and begins others with the greatest", () => {
  assert.deepEqual(orderOf("-name"), { by: "name", descending: true });
  assert.deepEqual(orderOf("oldest"), { by: "oldest", descending: true });
  assert.equal(sortBy("oldest", orderOf("oldest")), "-oldest");
  assert.equal(sortBy("oldest", orderOf("-oldest")), "oldest");
  assert.equal(sortBy("name", orderOf("name")), "-name");
  assert.equal(sortBy("shed", orderOf("-oldest")), "shed");
  assert.equal(orderOf(undefined), undefined);
});

Deno.test("GET / and a pool's page say over target as soon as a wait is red, and ask for no one's attention", async () => {
  await using system = await running();
  for (let index = 0; index < 9; index++) {
    await system.send("POST", "/api/pools/mail/jobs", { lane: "urgent", payload: { hang: true } });
  }
  await system.clock.advance(100);

  const page = await (await system.send("GET", "/")).text();
  const pool = await textOf(await system.send("GET", "/pools/mail"));

  const means = "Jobs of lane &quot;urgent&quot; wait longer than its target.";
  assert.ok(page.includes(`class="mark warn" title="${means}">over target</span>`), page);
  assert.match(page, /All is well in 2 pools; 1 is over target just now/);
  assert.ok(pool.includes(`over target: ${means}`), pool);
  assert.doesNotMatch(pool, / ok /);
});

Deno.test("GET / finds its files and pages wherever the app is mounted", async () => {
  await using system = await running();
  const outer = new Hono().route("/ops/queue", system.app);

  const page = await (await outer.request("/ops/queue")).text();
  const paths = [...page.matchAll(/(?:href|src)="([^"?#]+)"/g)].map(([, path = ""]) => path);

  assert.ok(paths.length > 5);
  assert.deepEqual(paths.filter((path) => !/^\/ops\/queue(\/|$)/.test(path)), []);
  assert.match(page, /<html lang="en" data-base="\/ops\/queue">/);
});

Deno.test("GET / tells a viewer that it is read-only, and offers to log out only who logged in", async () => {
  await using system = await running({ adminToken: ADMIN, viewerToken: VIEWER });
  const look = async (headers: Record<string, string>): Promise<string> =>
    await (await system.app.request("/", { headers })).text();
  const login = await system.send("POST", "/login", { token: VIEWER });
  const cookie = login.headers.get("set-cookie")?.split(";")[0] ?? "";

  const admin = await look({ authorization: `Bearer ${ADMIN}` });
  const viewer = await look({ authorization: `Bearer ${VIEWER}` });
  const session = await look({ cookie });

  assert.doesNotMatch(admin, />read-only<|Log out/);
  assert.match(viewer, />read-only</);
  assert.match(session, />read-only<[^]*<form method="post" action="\/logout">/);
});

/** What a reader sees. */
async function textOf(response: Response): Promise<string> {
  return (await response.text())
    .replaceAll(/<head>[^]*<\/head>|<svg[^]*?<\/svg>/g, " ")
    .replaceAll(/<[^>]+>/g, (tag) => /^<\/?(span|a|strong)/.test(tag) ? "" : " ")
    .replaceAll(/\s+/g, " ");
}

for (const path of ["/", "/pools/mail", "/jobs", "/dead", "/config", "/docs", "/nowhere"]) {
  Deno.test(`GET ${path} has no attribute "key", which HTML does not know`, async () => {
    await using system = await running();
    await system.sluice.enqueue("mail", { lane: "urgent", payload: { fail: "no" } });
    await system.clock.advance(100);

    const page = await (await system.app.request(path, { headers: { accept: "text/html" } }))
      .text();

    assert.doesNotMatch(page, /<[^>]* key=/);
  });
}

Deno.test("GET / has one line for what all pools share", async () => {
  await using system = await running();
  const finding = {
    code: "loop-blocked",
    lane: undefined,
    saw: "",
    change: "Find what computes for long",
    numbers: { longestMs: 700, blockedMs: 9_000, spanMs: 60_000 },
  } as const;
  const blocked = withPool(system.sluice, () => ({ diagnosis: () => [finding] }));
  const both = new Proxy(blocked, {
    get: (target, key) =>
      key === "pools"
        ? [
          ...target.pools,
          ...withPool(system.sluice, () => ({ diagnosis: () => [finding] })).pools,
        ]
        : Reflect.get(target, key, target),
  });

  const page = await textOf(await admin(both).request("/"));

  assert.equal(page.split("The event loop is blocked, up to 700 ms at once").length, 2);
  assert.match(page, /mail and 1 other pool/);
});
