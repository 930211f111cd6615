import assert from "node:assert/strict";
import { start } from "../../mod.ts";
import type { PoolHandle } from "../../src/runtime/handles.ts";
import type { PoolParts } from "../_virtual.ts";

/** A receiver on this machine that counts. */
class Receiver {
  readonly calls: { readonly to: string; readonly atMs: number }[] = [];
  readonly #answer: (to: string, call: number) => Response;
  #server: Deno.HttpServer<Deno.NetAddr>;

  constructor(answer: (to: string, call: number) => Response) {
    this.#answer = answer;
    this.#server = this.#serve(0);
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}/`;
  }

  callsTo(to: string): number {
    return this.calls.filter((call) => call.to === to).length;
  }

  async down(): Promise<void> {
    await this.#server.shutdown();
  }

  up(): void {
    this.#server = this.#serve(this.#server.addr.port);
  }

  #serve(port: number): Deno.HttpServer<Deno.NetAddr> {
    return Deno.serve({ hostname: "127.0.0.1", port, onListen() {} }, async (request) => {
      const { to } = await request.json();
      this.calls.push({ to, atMs: performance.now() });
      return this.#answer(to, this.calls.length);
    });
  }
}

/** A pool that sends to a receiver with the `http` handler. */
async function withPool(
  receiver: Receiver,
  parts: PoolParts & { readonly store?: "memory" | { use: "deno-kv"; with: { path: string } } },
  test: (pool: PoolHandle) => Promise<void>,
): Promise<void> {
  const { store = "memory", ...pool } = parts;
  const sluice = await start({
    store,
    pools: {
      p: {
        handler: { use: "http", with: { url: receiver.url } },
        size: { min: 4, max: 16 },
        lanes: [{
          name: "only",
          maxRunningPerKey: 2,
          attempts: 100,
          backoff: { baseMs: 10, maxMs: 50 },
        }],
        admission: "admit-all",
        ...pool,
      },
    },
  });
  try {
    await test(sluice.pool("p"));
  } finally {
    await sluice.stop();
    await receiver.down();
  }
}

async function until(holds: () => boolean): Promise<void> {
  for (const startMs = performance.now(); !holds();) {
    assert.ok(performance.now() - startMs < 20_000, "not within 20 s");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const done = (pool: PoolHandle): number => pool.snapshot().totals.completions;
const add = (pool: PoolHandle, count: number, to: string): void => {
  for (let index = 0; index < count; index++) {
    pool.post({ lane: "only", payload: { to }, key: to });
  }
};

for (const headers of [{}, { "retry-after": "1" }]) {
  const name = "retry-after" in headers ? "with" : "without";
  Deno.test(`A receiver that answers 429 ${name} Retry-After for a second gets few calls, then all`, async () => {
    const startMs = performance.now();
    const receiver = new Receiver(() =>
      new Response(null, performance.now() - startMs < 1000 ? { status: 429, headers } : {})
    );
    const lanes = [{ name: "only" }];
    const cooldown = { minMs: 100, maxMs: 400 };
    await withPool(receiver, { cooldown, lanes }, async (pool) => {
      add(pool, 300, "a");
      await until(() => done(pool) === 300);
      const refused = receiver.calls.filter(({ atMs }) => atMs - startMs < 1000).length;
      assert.ok(refused <= 16 + 10, `${refused} calls`);
      assert.ok(receiver.calls.length <= 300 + 16 + 10);
    });
  });
}

Deno.test("A receiver that is down for a while costs few attempts, and is found by itself", async () => {
  const receiver = new Receiver(() => new Response());
  await withPool(receiver, { cooldown: { failures: 5, minMs: 50, maxMs: 200 } }, async (pool) => {
    await receiver.down();
    add(pool, 200, "a");
    await until(() => pool.snapshot().breakers[0]?.cause === "failures");
    await new Promise((resolve) => setTimeout(resolve, 500));
    const { failures } = pool.snapshot().totals;
    assert.ok(failures <= 5 + 16 + 10, `${failures} attempts failed`);
    receiver.up();
    await until(() => done(pool) === 200);
    assert.equal(receiver.calls.length, 200);
    assert.deepEqual(pool.snapshot().breakers, []);
  });
});

for (const store of ["memory", "deno-kv"] as const) {
  for (const status of [410, 503, 500]) {
    Deno.test(`Of two destinations over ${store} one answers ${status}: the other goes on, and its jobs wait`, async () => {
      let isBad = true;
      const receiver = new Receiver((to) =>
        new Response(null, { status: to === "bad" && isBad ? status : 200 })
      );
      const cooldown = { by: "key", failures: 5, gone: true, minMs: 50, maxMs: 200 } as const;
      const given = store === "memory" ? store : { use: store, with: { path: ":memory:" } };
      await withPool(receiver, { cooldown, store: given }, async (pool) => {
        add(pool, 200, "bad");
        add(pool, 200, "good");
        await until(() => done(pool) === 200 && pool.snapshot().openKeys === 1);
        await new Promise((resolve) => setTimeout(resolve, 500));
        assert.deepEqual(pool.snapshot().breakers.map(({ key }) => key), ["bad"]);
        assert.equal(pool.tally()[0]!.dead.fatal, 0);
        assert.ok(receiver.callsTo("bad") <= 40, `${receiver.callsTo("bad")} calls`);
        isBad = false;
        await pool.closeBreaker("bad");
        await until(() => done(pool) === 400);
        assert.equal(pool.snapshot().openKeys, 0);
      });
    });
  }
}
