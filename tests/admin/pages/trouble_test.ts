import assert from "node:assert/strict";
import { Hono } from "hono";
import { start } from "../../../mod.ts";
import { MemoryStore } from "../../../stores/memory/mod.ts";
import { admin } from "../../../src/admin/mod.ts";
import type { ConfigInput } from "../../../src/config/input.ts";
import { StoreError } from "../../../src/contract/errors.ts";
import { defineStore, type Plugin } from "../../../src/contract/plugin.ts";
import type { QueueOptions, QueueRules } from "../../../src/contract/store.ts";
import type { Sluice } from "../../../src/runtime/handles.ts";
import { VirtualClock } from "../../../src/time/virtual_clock.ts";
import { problemOf, running } from "../_app.ts";

/** What asking the store comes to. `undefined`: it answers as ever. */
type Trouble = (call: Call) => Promise<undefined> | undefined;

/** What is asked of it. */
type Call = "open" | "reopen" | "find" | "list" | "change" | "get";

/** The store in memory, until there is trouble: then that is what looks and changes come to. */
function troubled(trouble: Trouble): Plugin<"store"> {
  class TroubledStore extends MemoryStore {
    override open(options: QueueOptions): ReturnType<MemoryStore["open"]> {
      const queue = super.open(options);
      const find = queue.find.bind(queue);
      const list = queue.list.bind(queue);
      const change = queue.change.bind(queue);
      const reopen = queue.reopen.bind(queue);
      const opened: unknown = Object.assign(queue, {
        find: (id: string) => trouble("find") ?? find(id),
        list: (query: Parameters<typeof list>[0]) => trouble("list") ?? list(query),
        change: (...args: Parameters<typeof change>) => trouble("change") ?? change(...args),
        reopen: (rules: QueueRules) => trouble("reopen") ?? reopen(rules),
      });
      const answer: unknown = trouble("open")?.then(() => opened) ?? opened;
      return answer as ReturnType<MemoryStore["open"]>; // pools take a promise too
    }

    override get(key: string): ReturnType<MemoryStore["get"]> {
      const answer: unknown = trouble("get") ?? super.get(key);
      return answer as ReturnType<MemoryStore["get"]>; // pools take a promise too
    }
  }

  return defineStore({ name: "troubled", create: () => new TroubledStore() });
}

const POOL = { handler: () => "sent", size: { min: 1, max: 1 }, lanes: [{ name: "all" }] };

/** A store that is in trouble from the moment that its pool has begun: all of it, or one call. */
async function inTrouble(what: () => Promise<undefined>, only?: Call): Promise<{
  readonly clock: VirtualClock;
  readonly sluice: Sluice;
  readonly store: Plugin<"store">;
  [Symbol.asyncDispose](): Promise<void>;
}> {
  let isOn = false;
  const clock = new VirtualClock();
  const store = troubled((call) => isOn && call === (only ?? call) ? what() : undefined);
  const sluice = await start({ store, pools: { mail: POOL } }, { clock });
  await clock.advance(100);
  isOn = true;
  return {
    clock,
    sluice,
    store,
    [Symbol.asyncDispose]: async () => {
      isOn = false;
      await sluice.stop();
    },
  };
}

const never = (): Promise<never> => new Promise(() => {});
const locked = (): Promise<never> => Promise.reject(new TypeError("database is locked"));

const LOOK_AGAIN = "it may have taken effect, so check before you try again";
const CAUSES =
  "If this lasts: another program may hold its database locked, its disk may be full, or the network to it may be down";

const ROUTES: readonly (readonly [method: string, path: string, what: string])[] = [
  ["GET", "/api/pools/mail/jobs", "try again"],
  ["GET", "/api/pools/mail/jobs?state=dead", "try again"],
  ["GET", "/api/jobs/x", "try again"],
  ["GET", "/api/jobs/x/waiting", "try again"],
  ["POST", "/api/pools/mail/pause", LOOK_AGAIN],
  ["POST", "/api/pools/mail/resume", LOOK_AGAIN],
  // The job is looked for first: until it is found, nothing is done.
  ["POST", "/api/jobs/x/cancel", "try again"],
  ["POST", "/api/jobs/x/retry", "try again"],
  ["DELETE", "/api/jobs/x", "try again"],
];

for (const [method, path, again] of ROUTES) {
  Deno.test(`${method} ${path} answers 503 and when to come back, when the store does not answer in five seconds`, async () => {
    await using system = await inTrouble(never);
    let answered = false;

    const asking = Promise.resolve(admin(system.sluice).request(path, { method }));
    asking.then(() => answered = true);
    await system.clock.advance(4_999);
    const early = answered;
    await system.clock.advance(1);
    const response = await asking;

    assert.equal(early, false);
    assert.equal(response.status, 503);
    assert.equal(response.headers.get("retry-after"), "5");
    assert.equal(
      (await problemOf(response)).detail,
      `The store failed: No answer within 5000 ms; ${again}. ${CAUSES}`,
    );
  });

  Deno.test(`${method} ${path} answers 503 with what the store said, when it fails`, async () => {
    await using system = await inTrouble(locked);

    const response = await admin(system.sluice).request(path, { method });

    assert.equal(response.status, 503);
    assert.equal(
      (await problemOf(response)).detail,
      `The store failed: database is locked; ${again}. ${CAUSES}`,
    );
  });
}

for (const [method, verb] of [["POST", "/cancel"], ["POST", "/retry"], ["DELETE", ""]]) {
  Deno.test(`${method} /api/jobs/ID${verb} says that it may still happen, when the store does not answer to the change`, async () => {
    await using system = await inTrouble(never, "change");
    const { id } = await system.sluice.enqueue("mail", { lane: "all", payload: 1 });

    const asking = admin(system.sluice).request(`/api/jobs/${id}${verb}`, { method: method! });
    await system.clock.advance(5_000);
    const response = await asking;

    assert.equal(response.status, 503);
    assert.equal(
      (await problemOf(response)).detail,
      `The store failed: No answer within 5000 ms; ${LOOK_AGAIN}. ${CAUSES}`,
    );
  });
}

/** The same system, which loads this config whatever it is given: a handler in code is in no JSON. */
function reloading(sluice: Sluice, config: ConfigInput): Sluice {
  return new Proxy(sluice, {
    get: (target, key) => {
      if (key === "reload") return () => target.reload(config);
      const value = Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

const RELOADS: readonly (readonly [what: string, call: Call, pools: ConfigInput["pools"]])[] = [
  ["brings a pool", "open", { mail: POOL, more: POOL }],
  ["brings a pool whose pauses are read", "get", { mail: POOL, more: POOL }],
  ["changes lanes", "reopen", { mail: { ...POOL, lanes: [{ name: "new" }, { name: "all" }] } }],
];

for (const [what, call, pools] of RELOADS) {
  const reload = { method: "POST", headers: { "content-type": "application/json" } };
  const body = JSON.stringify({ config: {} });

  Deno.test(`POST /api/reload that ${what} answers 503 and when to come back, when the store does not answer in five seconds`, async () => {
    const late = Promise.withResolvers<undefined>();
    await using system = await inTrouble(() => late.promise, call);
    const app = admin(reloading(system.sluice, { store: system.store, pools }));
    let answered = false;

    const asking = Promise.resolve(app.request("/api/reload", { ...reload, body }));
    asking.then(() => answered = true);
    await system.clock.advance(4_999);
    const early = answered;
    await system.clock.advance(1);
    const response = await asking;
    late.resolve(undefined); // what is made now comes too late
    await system.clock.advance(100);

    assert.equal(early, false);
    assert.equal(response.status, 503);
    assert.equal(response.headers.get("retry-after"), "5");
    assert.equal(
      (await problemOf(response)).detail,
      `The store failed: No answer within 5000 ms; the config was not loaded; try again. ${CAUSES}`,
    );
    assert.deepEqual(system.sluice.pools.map(({ name }) => name), ["mail"]);
    assert.deepEqual(system.sluice.pool("mail").settings.lanes.map(({ name }) => name), ["all"]);
  });

  Deno.test(`POST /api/reload that ${what} answers 503 with what the store said, when it fails`, async () => {
    await using system = await inTrouble(locked, call);
    const app = admin(reloading(system.sluice, { store: system.store, pools }));

    const response = await app.request("/api/reload", { ...reload, body });

    assert.equal(response.status, 503);
    assert.equal(
      (await problemOf(response)).detail,
      `The store failed: database is locked; the config was not loaded; try again. ${CAUSES}`,
    );
  });
}

for (const path of ["/jobs?state=done", "/dead", "/jobs/x"]) {
  Deno.test(`GET ${path} says on a page that the store does not answer, and leads on, wherever the app is mounted`, async () => {
    await using system = await inTrouble(never);
    const outer = new Hono().route("/queue", admin(system.sluice));

    const asking = outer.request(`/queue${path}`, { headers: { accept: "text/html" } });
    await system.clock.advance(5_000);
    const response = await asking;
    const page = await response.text();

    assert.equal(response.status, 503);
    assert.equal(response.headers.get("retry-after"), "5");
    assert.match(response.headers.get("content-security-policy") ?? "", /default-src 'none'/);
    assert.match(page, /<h1>The store does not answer<\/h1>/);
    assert.match(page, /No answer within 5000 ms\. If this lasts: another program may hold/);
    assert.ok(page.includes(`<a class="button" href="/queue${path}">Try again</a>`), page);
    assert.match(page, /<a href="\/queue">All pools<\/a>/);
    assert.match(page, /<noscript><meta http-equiv="refresh" content="5"/);
  });
}

Deno.test("PoolHandle pause() holds and is told of, when the store answers after its time", async () => {
  const late = Promise.withResolvers<undefined>();
  await using system = await inTrouble(() => late.promise);
  const pool = system.sluice.pool("mail");
  const told: string[] = [];
  system.sluice.observe(({ kind }) => told.push(kind));

  const refused = assert.rejects(pool.pause(), (thrown) => thrown instanceof StoreError);
  await system.clock.advance(5_000);
  await refused;
  const before = [pool.snapshot().paused, told.includes("paused")];
  late.resolve(undefined); // the key is not there yet
  await system.clock.advance(10);

  assert.deepEqual(before, [false, false]);
  assert.deepEqual([pool.snapshot().paused, told.includes("paused")], [true, true]);
});

Deno.test("A path that nothing is at shows people a page with the way home, and programs a problem", async () => {
  await using system = await running();
  const accept = "text/html,application/xhtml+xml,*/*;q=0.8";
  const open = async (path: string) => await system.app.request(path, { headers: { accept } });

  const response = await open("/nowhere/<b>");
  const page = await response.text();
  const program = await system.send("GET", "/nowhere");
  const api = await open("/api/nowhere");

  assert.equal(response.status, 404);
  assert.match(response.headers.get("content-security-policy") ?? "", /default-src 'none'/);
  assert.match(page, /<h1>No such page<\/h1>/);
  assert.match(page, /Nothing is at \/nowhere\/(%3C|&lt;)b(%3E|&gt;)\./);
  assert.match(page, /<a href="\/">All pools<\/a>/);
  assert.match(page, /<nav id="places" aria-label="Main">/);
  assert.equal((await problemOf(program)).status, 404);
  assert.equal((await problemOf(api)).status, 404);
});

Deno.test("A fault inside shows people a page without its text", async () => {
  await using system = await running();
  let isBroken = false;
  const broken = new Proxy(system.sluice, {
    get: (target, key) => {
      if (key === "pools" && isBroken) throw new Error("secret path /var/lib/x");
      const value = Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });

  const app = admin(broken);
  isBroken = true;

  const response = await app.request("/jobs", { headers: { accept: "text/html" } });
  const page = await response.text();

  assert.equal(response.status, 500);
  assert.match(page, /<h1>The server failed<\/h1>/);
  assert.match(page, /The server failed: its log has the reason\./);
  assert.doesNotMatch(page, /secret/);
});

for (const path of ["/?refresh=fast", "/pools/mail?decisions=0"]) {
  Deno.test(`GET ${path} shows people on a page what is wrong with it, and tells programs`, async () => {
    await using system = await running();

    const response = await system.app.request(path, { headers: { accept: "text/html" } });
    const page = await response.text();
    const program = await system.app.request(path);

    assert.equal(response.status, 400);
    assert.match(page, /<h1>This page cannot be shown<\/h1>/);
    assert.match(
      page,
      /role="alert"><p[^>]*>Expected (refresh|decisions) to be a whole number &gt;= [01] /,
    );
    assert.match(page, /<a href="\/">All pools<\/a>/);
    assert.equal((await problemOf(program)).status, 400);
  });
}
