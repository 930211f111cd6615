import assert from "node:assert/strict";
import { StoreError } from "../../../src/contract/errors.ts";
import { audit } from "../../../stores/deno_kv/doctor/audit.ts";
import { silentLogger, start, type StartOptions } from "../../../mod.ts";
import { admin } from "../../../src/admin/mod.ts";
import type { Sluice } from "../../../src/runtime/handles.ts";
import type { Queue, Store } from "../../../src/contract/store.ts";
import { type Fate, type Method, type Server, TOKEN } from "../../_kvconnect/server.ts";
import { openRemote, remoteStore, until, withServer } from "./_remote.ts";
import { end, entry, NOW, openQueue, openStore } from "./_store.ts";

const LANES = [{ name: "high", maxRunningPerKey: 2 }, { name: "low" }] as const;

async function startPool(
  server: Server,
  handler: (job: { readonly payload: unknown }) => unknown,
  { answerMs, ...options }: StartOptions & { readonly answerMs?: number } = {},
): Promise<Sluice> {
  return await start({
    store: { use: remoteStore(server, answerMs === undefined ? {} : { answerMs }) },
    pools: {
      p: {
        handler,
        size: { min: 2, max: 8 },
        lanes: LANES,
        adaptive: false,
        admission: "admit-all",
        leaseMs: 3000,
        keep: { done: 1000 },
        drainMs: 500,
      },
    },
  }, options);
}

async function auditOf(server: Server): Promise<readonly string[]> {
  using kv = await Deno.openKv(server.url);
  return await audit(kv, "p");
}

/** Each request is as likely as said to be refused, to lose its answer, or to break off. */
function unreliable(share: number): (method: Method) => Fate {
  return () => {
    const chance = Math.random() / share;
    return chance < 0.2 ? "refuse" : chance < 0.6 ? "lose" : chance < 1 ? "cut" : "answer";
  };
}

Deno.test("Over a line that loses answers, each job is stored once and ends once", async () => {
  await withServer({ maxChecks: 10 }, async (server) => {
    const ran = new Map<unknown, number>();
    const handler = ({ payload }: { readonly payload: unknown }): unknown => {
      ran.set(payload, (ran.get(payload) ?? 0) + 1);
      return payload;
    };
    const patient = { answerMs: 30_000 };
    const one = await startPool(server, handler, patient);
    const other = await startPool(server, handler, patient);
    try {
      server.knobs.fate = unreliable(0.2);
      const payloads = Array.from({ length: 60 }, (_, payload) => payload);
      const jobs = await Promise.all(payloads.map(async (payload) => {
        const lane = payload % 3 === 0 ? "high" : "low";
        const key = lane === "high" ? `k${payload % 2}` : undefined;
        await new Promise((resolve) => setTimeout(resolve, 20 * payload));
        const job = {
          lane,
          payload,
          ...(key === undefined ? {} : { key }),
          ...(payload % 5 === 0 ? { dedupeKey: `d${payload}` } : {}),
        };
        for (;;) {
          try {
            return await (payload % 2 === 0 ? one : other).enqueue("p", job);
          } catch (thrown) {
            assert.ok(thrown instanceof StoreError); // then nothing is stored: it may be sent again
          }
        }
      }));

      const outcomes = await Promise.all(jobs.map((job) => job.done));

      server.knobs.fate = undefined;
      assert.deepEqual(outcomes.map(({ result }) => result), payloads);
      assert.equal(new Set(jobs.map(({ id }) => id)).size, payloads.length);
      const { jobs: kept } = await one.pool("p").list({ state: "done", limit: 100 });
      assert.deepEqual(kept.map(({ payload }) => Number(payload)).sort((a, b) => a - b), payloads);
      assert.deepEqual([...ran].filter(([, times]) => times > 1), [], "none ran twice");
      assert.deepEqual(await auditOf(server), []);
    } finally {
      server.knobs.fate = undefined;
      await one.stop();
      await other.stop();
      // A read that was on its way when a store closed is answered late.
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  });
});

/** A queue, and a promise of its being woken by another process. It never polls in time. */
async function listen(server: Server, pollMs = 3_600_000): Promise<Listening> {
  const store = await openRemote(server, { pollMs });
  const woken = Promise.withResolvers<void>();
  const listener = { wake: woken.resolve, cancelled() {}, ended() {} };
  const queue = await openQueue(store, { listener });
  return { store, queue, woken: woken.promise };
}

interface Listening {
  readonly store: Store;
  readonly queue: Queue;
  readonly woken: Promise<void>;
}

Deno.test("KvQueue.renew() takes the jobs of a dead process back, whichever answer is lost", async () => {
  for (const fate of ["lose", "cut"] as const) {
    for (let nth = 1, isLast = false; !isLast; nth++) {
      await withServer({}, async (server) => {
        const [store, other] = [await openRemote(server), await openRemote(server)];
        try {
          const dying = await openQueue(other);
          const queue = await openQueue(store);
          await dying.add([entry()], NOW);
          assert.equal((await dying.lease([1], NOW)).length, 1);
          for (const ms of [0, 15_000]) assert.equal((await queue.renew(NOW + ms)).reaped, 0);
          let writes = 0;
          server.knobs.fate = (method) =>
            method === "atomic_write" && ++writes === nth ? fate : "answer";

          const { reaped } = await queue.renew(NOW + 30_000); // a lease without a sign of life

          server.knobs.fate = undefined;
          isLast = writes < nth;
          assert.equal(reaped, 1, `write ${nth}, ${fate}`);
          assert.deepEqual(await auditOf(server), []);
        } finally {
          await store.close();
          await other.close();
        }
      });
    }
  }
});

Deno.test("KvStore hears of other processes by a watch", async () => {
  await withServer({}, async (server) => {
    const { store, woken } = await listen(server);
    const other = await openRemote(server);
    try {
      await openQueue(other);

      await woken;
    } finally {
      await store.close();
      await other.close();
    }
  });
});

/** What was called over a dead connection is answered some time later, or never: the client has no limit. */
const DEAD_CALLS = { sanitizeOps: false, sanitizeResources: false };

Deno.test(
  "KvStore watches anew when connections were cut, or are dead without a word",
  DEAD_CALLS,
  async () => {
    for (const fault of ["cut", "swallow"] as const) {
      await withServer({}, async (server) => {
        const { store, queue, woken } = await listen(server);
        await until(() => server.requests.watch === 1);
        server.line[fault]();
        const asked = Promise.resolve(queue.count(NOW + 60_000)).catch(() => {}); // finds the outage out
        await new Promise((resolve) => setTimeout(resolve, 600));
        server.line.mend();
        await asked;
        await until(() => server.requests.watch === 2);
        const other = await openRemote(server);
        try {
          await openQueue(other);

          await woken;
        } finally {
          await store.close();
          await other.close();
        }
      });
    }
  },
);

Deno.test("KvStore hears of other processes by polling where there is no watch", async () => {
  await withServer(
    { fate: (method) => method === "watch" ? "refuse" : "answer" },
    async (server) => {
      const { store, woken } = await listen(server, 100);
      const other = await openRemote(server);
      try {
        await openQueue(other);

        await woken;
      } finally {
        server.knobs.fate = undefined;
        await store.close();
        await other.close();
      }
    },
  );
});

Deno.test(
  "A pool holds its size while the database is out, says so, and goes on afterwards",
  DEAD_CALLS,
  async () => {
    for (const fault of ["refuse", "swallow"] as const) {
      await withServer({}, async (server) => {
        const ran: unknown[] = [];
        const gate = Promise.withResolvers<void>();
        const sluice = await startPool(server, async ({ payload }) => {
          ran.push(payload);
          if (payload === "long") await gate.promise;
        });
        const pool = sluice.pool("p");
        const app = admin(sluice, {});
        const readiness = async (): Promise<number> => (await app.request("/readyz")).status;
        try {
          const long = await sluice.enqueue("p", { lane: "low", payload: "long" });
          await until(() => ran.length === 1);
          assert.equal(await readiness(), 200);
          const { target } = pool.snapshot();

          server.line[fault]();
          await until(() => pool.snapshot().stale);
          gate.resolve();
          await assert.rejects(sluice.enqueue("p", { lane: "low", payload: "meanwhile" }), {
            message: "The job could not be stored: The database has not answered for 1 s: check " +
              "that it runs and that this process can reach it",
          });
          assert.equal(await readiness(), 503);
          assert.equal(pool.snapshot().target, target);
          server.line.mend();

          assert.equal((await long.done).state, "done");
          await until(() => !pool.snapshot().stale);
          await (await sluice.enqueue("p", { lane: "low", payload: "after" })).done;
          assert.equal(await readiness(), 200);
          assert.deepEqual(ran, ["long", "after"], "the refused one was not stored");
          assert.deepEqual(await auditOf(server), []);
        } finally {
          server.line.mend();
          await sluice.stop();
        }
      });
    }
  },
);

Deno.test("KvStore goes on when the session of its handle has ended", async () => {
  await withServer({}, async (server) => {
    const store = await openRemote(server, { pollMs: 3_600_000 });
    try {
      const queue = await openQueue(store);
      await queue.add([entry({ payload: 1 })], NOW);
      server.knobs.session = "another token";

      const held = await queue.lease([1], NOW);
      server.knobs.session = "a third token";

      assert.deepEqual(await queue.settle([end(held[0]!)], NOW), [true]);
    } finally {
      await store.close();
    }
  });
});

Deno.test("denoKv says that its token is wrong", async () => {
  await withServer({}, async (server) => {
    Deno.env.set("DENO_KV_ACCESS_TOKEN", "wrong");
    try {
      await assert.rejects(openStore({ url: server.url }), /The token is wrong/);
    } finally {
      Deno.env.set("DENO_KV_ACCESS_TOKEN", TOKEN);
    }
  });
});

Deno.test("denoKv refuses to start while the database does not answer", DEAD_CALLS, async () => {
  await withServer({}, async (server) => {
    server.line.swallow();
    try {
      await assert.rejects(openStore({ url: server.url }), {
        message: "The database has not answered for 5 s: check that it runs and that this " +
          "process can reach it",
      });
      server.line.refuse();
      await assert.rejects(openStore({ url: server.url }), /failed to connect/);
    } finally {
      server.line.mend();
    }
  });
});

Deno.test(
  "A pool stops also while the database is out; what it held goes back once another looks",
  DEAD_CALLS,
  async () => {
    await withServer({}, async (server) => {
      const begun = Promise.withResolvers<void>();
      const logged: string[] = [];
      const log = { ...silentLogger(), error: (message: string) => void logged.push(message) };
      const stuck = async (): Promise<void> => {
        begun.resolve();
        await new Promise(() => {});
      };
      const sluice = await startPool(server, stuck, { log });
      const { id } = await sluice.enqueue("p", { lane: "low", payload: 1 });
      await begun.promise;

      server.line.refuse();
      const { handedBack, stuck: ids } = await sluice.stop();
      server.line.mend();

      assert.deepEqual([handedBack, ids], [[], [id]]);
      assert.deepEqual(logged, [
        "The results of running jobs could not be stored: they run again after leaseMs, with one attempt less",
        "The store did not answer at the stop: jobs leased here go back after leaseMs",
      ]);
      const next = await startPool(server, () => "ran");
      try {
        await until(() =>
          next.pool("p").find(id).then((job) => job?.state === "done", () => false)
        );
      } finally {
        await next.stop();
      }
    });
  },
);
