import assert from "node:assert/strict";
import { builtins, type Plugin, start, use } from "../../../mod.ts";
import { admin } from "../../../src/admin/mod.ts";
import { StoreError } from "../../../src/contract/errors.ts";
import { isPlugin } from "../../../src/contract/plugin.ts";
import type { Sluice } from "../../../src/runtime/handles.ts";
import type { Leased, Queue, QueueOptions } from "../../../src/contract/store.ts";
import { VirtualClock } from "../../../src/time/virtual_clock.ts";
import { problemOf, running, withPool } from "../_app.ts";

Deno.test("GET /healthz answers while the process does", async () => {
  await using system = await running();

  assert.deepEqual(await (await system.send("GET", "/healthz")).json(), { ok: true });
});

Deno.test("GET /readyz answers 200 once every pool has decided, 503 after a drain", async () => {
  await using system = await running();
  await system.clock.advance(100);

  const ready = await system.send("GET", "/readyz");
  await system.send("POST", "/api/pools/mail/drain");
  const drained = await system.send("GET", "/readyz");

  assert.deepEqual([ready.status, await ready.json()], [200, { ready: true }]);
  assert.equal(drained.status, 503);
  const { reasons } = await drained.json();
  assert.deepEqual(reasons, ['Pool "mail" has stopped']);
});

Deno.test("GET /readyz answers 503, when a store fails or cannot be read", async () => {
  await using system = await running();
  await system.clock.advance(100);
  const failing = withPool(system.sluice, (pool) => ({
    list: () => Promise.reject(new Error("disk gone")),
    snapshot: () => ({ ...pool.snapshot(), stale: true, decision: undefined }),
  }));

  const response = await admin(failing).request("/readyz");

  assert.equal(response.status, 503);
  assert.deepEqual(await response.json(), {
    ready: false,
    reasons: [
      'Pool "mail" has not made its first decision',
      'Pool "mail" has a store that could not be read or written',
      'Pool "mail" has a store that does not answer',
    ],
  });
});

// Case B11: over a store of 200 ms a request it answered after 5 to 10 s, that it was not ready.
Deno.test("GET /readyz answers from what is known, while a store takes its time", async () => {
  await using system = await running();
  await system.clock.advance(100);
  let look = Promise.withResolvers<never>();
  const slow = withPool(system.sluice, () => ({ list: () => look.promise }));
  const app = admin(slow);
  const ask = async (): Promise<unknown> => await (await app.request("/readyz")).json();
  const failed = async (thrown: Error): Promise<void> => {
    const last = look;
    look = Promise.withResolvers();
    last.reject(thrown);
    await last.promise.catch(() => {});
  };

  const pending = await ask();
  await failed(new StoreError("late", "The store failed", { isLate: true }));
  const late = await ask();
  await failed(new StoreError("gone"));
  const gone = await ask();
  await failed(new StoreError("late", "The store failed", { isLate: true }));
  const still = await ask();

  const reasons = ['Pool "mail" has a store that does not answer'];
  assert.deepEqual([pending, late], [{ ready: true }, { ready: true }]);
  assert.deepEqual([gone, still], Array(2).fill({ ready: false, reasons }));
});

Deno.test("GET /readyz answers 503, when a store has not answered a claim for five seconds", async () => {
  const clock = new VirtualClock();
  const claim = Promise.withResolvers<readonly Leased[]>();
  await using sluice: Sluice = await start({
    store: use(storeThatHolds(claim.promise)),
    pools: { p: { handler: () => 1, size: { min: 1, max: 1 }, lanes: [{ name: "l" }] } },
  }, { clock });
  const app = admin(sluice);
  const look = async () => (await app.request("/readyz")).json();
  await clock.advance(100);

  await sluice.enqueue("p", { lane: "l", payload: 1 });
  await clock.advance(4_999);
  const before = await look();
  await clock.advance(1);
  const after = await look();
  claim.resolve([]);
  await clock.advance(10);
  const answered = await look();

  assert.deepEqual(before, { ready: true });
  assert.deepEqual(after, { ready: false, reasons: ['Pool "p" has a loop that does not advance'] });
  assert.deepEqual(answered, { ready: true });
  const stopped = sluice.stop();
  await clock.advance(60_000);
  await stopped;
});

Deno.test("GET /api/config shows the config, fields of the redaction list hidden", async () => {
  await using system = await running({ redact: ["targetWaitMs"] });

  const config = await (await system.send("GET", "/api/config")).json();

  assert.deepEqual(config.pools.mail.size, { min: 1, max: 4 });
  assert.equal(config.pools.mail.lanes[0].targetWaitMs, "[redacted]");
});

Deno.test("GET /api/plugins lists what each pool uses, in order of the job's way", async () => {
  await using system = await running();

  const plugins = await (await system.send("GET", "/api/plugins")).json();

  const ofTyped = plugins.filter((plugin: { pool: string }) => plugin.pool === "typed");
  assert.deepEqual(
    ofTyped.map(({ kind, name, type }: Record<string, string>) => [kind, name, type]),
    [
      ["handler", "handler", "send"],
      ["handler", "handler", "count"],
      ["controller", "age-scaler", undefined],
      ["lane-policy", "reserved-lane", undefined],
      ["retirement", "cooperative", undefined],
      ["admission", "shed-at-cap", undefined],
    ],
  );
});

Deno.test("GET /api/plugins lists the store too, and says what the options of each may be", async () => {
  await using system = await running();

  const plugins = await (await system.send("GET", "/api/plugins")).json();

  const [store] = plugins;
  assert.deepEqual([store.pool, store.kind, store.name], ["", "store", "memory"]);
  assert.ok(
    plugins.every(({ options }: { options: { type: string } }) => options.type === "object"),
  );
  const scaler = plugins.find(({ name }: { name: string }) => name === "age-scaler");
  assert.equal(typeof scaler.options.properties.targetWaitMs, "object");
});

Deno.test("A route that does not exist answers 404 as a problem", async () => {
  await using system = await running();

  const response = await system.send("GET", "/api/pool");

  assert.equal(response.status, 404);
  assert.equal(
    (await problemOf(response)).detail,
    "No route is GET /api/pool: see /docs for the routes",
  );
});

Deno.test("A fault inside answers 500 without its text, which goes to the log", async () => {
  const lines: unknown[] = [];
  await using system = await running();
  const failing = withPool(system.sluice, () => ({
    find: () => Promise.reject(new Error("secret path /var/lib/x")),
    enqueue: () => Promise.reject(new Error("secret path /var/lib/x")),
    enqueueAll: () => Promise.resolve([new Error("secret path /var/lib/x")]),
  }));
  const app = admin(failing, {
    log: {
      debug() {},
      info() {},
      warn() {},
      error: (message, fields) => lines.push([message, fields]),
    },
  });
  const post = { method: "POST", headers: { "content-type": "application/json" } };
  const job = { lane: "urgent", payload: 1 };

  const responses = [
    await app.request("/api/jobs/x"),
    await app.request("/api/pools/mail/jobs", { ...post, body: JSON.stringify(job) }),
    await app.request("/api/pools/mail/jobs", { ...post, body: JSON.stringify([job]) }),
  ];

  for (const response of responses) {
    assert.equal(response.status, 500);
    const problem = await problemOf(response);
    assert.equal(problem.detail, "The server failed: its log has the reason");
    assert.doesNotMatch(JSON.stringify(problem), /secret/);
  }
  assert.equal(lines.length, 3);
  assert.match(JSON.stringify(lines[0]), /An admin request failed.*secret path/);
});

Deno.test("Every answer forbids sniffing, keeping and framing, and allows no other origin", async () => {
  await using system = await running();

  for (const path of ["/", "/healthz", "/metrics", "/api/pools", "/api/pools/x", "/nowhere"]) {
    const { headers } = await system.app.request(path, {
      headers: { origin: "https://evil.example" },
    });
    assert.equal(headers.get("x-content-type-options"), "nosniff", path);
    assert.equal(headers.get("cache-control"), "no-store", path);
    const csp = headers.get("content-security-policy") ?? "";
    assert.match(csp, /default-src 'none'/, path);
    assert.match(csp, /frame-ancestors 'none'/, path);
    assert.doesNotMatch(csp, /unsafe/, path);
    assert.equal(headers.get("access-control-allow-origin"), null, path);
  }
});

Deno.test("A preflight is not answered: no other origin may send JSON", async () => {
  await using system = await running();

  const response = await system.app.request("/api/pools/mail/jobs", {
    method: "OPTIONS",
    headers: { origin: "https://evil.example", "access-control-request-method": "POST" },
  });

  assert.equal(response.status, 405);
  assert.equal(response.headers.get("access-control-allow-methods"), null);
});

/** A store in memory whose first claim that finds a job is answered by `claim`. */
function storeThatHolds(claim: Promise<readonly Leased[]>): Plugin<"store"> {
  const memory = builtins.find((plugin) => plugin.name === "memory");
  assert.ok(memory !== undefined && isPlugin(memory, "store"));
  return {
    ...memory,
    create: async (_options, context) => {
      const store = await memory.create({}, context);
      const open = async (given: QueueOptions): Promise<Queue> => {
        const queue = await store.open(given);
        let held = false;
        return new Proxy(queue, {
          get: (target, key) => {
            if (key === "lease" && !held) {
              held = true;
              return () => claim;
            }
            const value = Reflect.get(target, key, target);
            return typeof value === "function" ? value.bind(target) : value;
          },
        });
      };
      return new Proxy(store, {
        get: (target, key) => {
          const value = key === "open" ? open : Reflect.get(target, key, target);
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
    },
  };
}

Deno.test("GET /readyz names no pool to those who may not ask for it", async () => {
  await using system = await running({ adminToken: "0123456789abcdef" });
  await system.clock.advance(100);
  await system.sluice.pool("mail").drain();

  const anyone = await (await system.app.request("/readyz")).json();
  const known = await (await system.app.request("/readyz", {
    headers: { authorization: "Bearer 0123456789abcdef" },
  })).json();

  assert.deepEqual(anyone.reasons, ["A pool has stopped"]);
  assert.deepEqual(known.reasons, ['Pool "mail" has stopped']);
});

Deno.test("GET /readyz answers 503, when all workers are stuck and a job has waited for a minute", async () => {
  const clock = new VirtualClock();
  await using sluice: Sluice = await start({
    pools: {
      p: {
        handler: () => new Promise(() => {}),
        timeoutMs: 1000,
        size: { min: 1, max: 2 },
        lanes: [{ name: "l", attempts: 1 }],
      },
    },
  }, { clock });
  const app = admin(sluice);
  const look = async () => (await app.request("/readyz")).json();
  for (let job = 0; job < 3; job++) await sluice.enqueue("p", { lane: "l", payload: job });

  await clock.advance(30_000);
  const before = await look();
  await clock.advance(60_000);
  const after = await look();

  assert.deepEqual(before, { ready: true });
  assert.deepEqual(after, {
    ready: false,
    reasons: ['Pool "p" has no worker for a job: all are stuck'],
  });
  const [decision] = sluice.pool("p").explain();
  assert.match(decision?.sentence ?? "", /, 2 workers are stuck$/);
  const stopped = sluice.stop();
  await clock.advance(60_000);
  await stopped;
});
