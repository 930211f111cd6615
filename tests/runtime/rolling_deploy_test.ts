/**
 * Two versions of a config on one store, as there are while one is being deployed: what one of them does
 * not know is left for the other.
 */

import assert from "node:assert/strict";
import { type ConfigInput, type JobRecord, type Sluice, start } from "../../mod.ts";
import { denoKv } from "../../stores/deno_kv/mod.ts";
import type { DenoKvOptions } from "../../stores/deno_kv/mod.ts";
import { startServer, TOKEN } from "../_kvconnect/server.ts";

type Pool = ConfigInput["pools"][string];

/** Runs a test on a database that several processes may open, of each kind. */
function onEach(name: string, test: (where: DenoKvOptions) => Promise<void>): void {
  Deno.test(`${name}, on a file`, async () => {
    const folder = await Deno.makeTempDir();
    try {
      await test({ path: `${folder}/queue.db` });
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
  Deno.test(`${name}, over KV Connect`, async () => {
    Deno.env.set("DENO_KV_ACCESS_TOKEN", TOKEN);
    await using server = startServer({ maxChecks: 10 });
    await test({ url: server.url });
  });
}

/** One version, in what could be a process of its own. */
async function version(where: DenoKvOptions, pool: Partial<Pool>): Promise<Sluice> {
  const common = { size: { min: 1, max: 4 }, leaseMs: 1000, lanes: [{ name: "high" }] };
  return await start({
    store: { use: denoKv, with: where },
    pools: { p: { ...common, ...pool } as Pool }, // each test brings its handlers
  });
}

async function recordOf(sluice: Sluice, id: string): Promise<JobRecord | undefined> {
  return await sluice.pool("p").find(id);
}

async function ended(sluice: Sluice, id: string): Promise<JobRecord> {
  for (;;) {
    const record = await recordOf(sluice, id);
    if (record?.state === "done" || record?.state === "dead") return record;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

onEach("A lane that a version does not have is left for those that do", async (where) => {
  const ran: string[] = [];
  const handler = (who: string) => (job: { readonly lane: string }): void => {
    ran.push(`${who} ${job.lane}`);
  };
  const before = await version(where, {
    handler: handler("old"),
    lanes: [{ name: "high" }, { name: "gone", paused: true }],
  });
  const after = await version(where, {
    handler: handler("new"),
    lanes: [{ name: "added", paused: true }, { name: "high" }],
  });
  try {
    const gone = await before.enqueue("p", { lane: "gone", payload: 1 });
    const added = await after.enqueue("p", { lane: "added", payload: 1 });
    const both = await after.enqueue("p", { lane: "high", payload: 1 });
    assert.equal((await both.done).state, "done");

    assert.equal((await recordOf(after, gone.id))?.state, "ready");
    assert.equal((await recordOf(before, added.id))?.state, "ready");
    await before.pool("p").resume("gone");
    await after.pool("p").resume("added");

    assert.equal((await ended(after, gone.id)).state, "done");
    assert.equal((await ended(before, added.id)).state, "done");
    assert.deepEqual(ran.filter((what) => !what.endsWith("high")).sort(), [
      "new added",
      "old gone",
    ]);
  } finally {
    await before.stop();
    await after.stop();
  }
});

onEach(
  "A job of a lane that only a version had that stopped waits until it is back",
  async (where) => {
    const lanes = [{ name: "high" }, { name: "gone", attempts: 1 }];
    const started = Promise.withResolvers<void>();
    const before = await version(where, {
      handler: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          started.resolve();
          signal.addEventListener("abort", () => reject(signal.reason));
        }),
      lanes,
      drainMs: 0,
    });
    const { id } = await before.enqueue("p", { lane: "gone", payload: 1 });
    await started.promise;
    await before.stop();

    const after = await version(where, { handler: () => {} });
    await (await after.enqueue("p", { lane: "high", payload: 1 })).done;
    assert.equal((await recordOf(after, id))?.state, "ready");
    await after.stop();

    const back = await version(where, { handler: () => "ran", lanes });
    try {
      assert.equal((await ended(back, id)).result, "ran");
    } finally {
      await back.stop();
    }
  },
);

onEach(
  "A job of a type that a version does not have is left for those that do, uncharged",
  async (where) => {
    const deferred = Promise.withResolvers<void>();
    const before = await start({
      store: { use: denoKv, with: where },
      pools: {
        p: {
          handlers: { mail: () => "old" },
          size: { min: 4, max: 4 },
          lanes: [{ name: "high", attempts: 1 }],
        },
      },
    }, { observer: ({ kind }) => void (kind === "job-deferred" && deferred.resolve()) });
    const after = await version(where, {
      handlers: { mail: () => "new", sms: () => "sent" },
      lanes: [{ name: "high", attempts: 1 }],
      size: { min: 0, max: 1 },
    });
    try {
      after.pool("p").override({ max: 0 }, 3_600_000);
      const { id } = await after.enqueue("p", { lane: "high", type: "sms", payload: 1 });
      await deferred.promise; // the old version had it in hand
      assert.notEqual((await recordOf(after, id))?.state, "dead");
      await before.stop();
      after.pool("p").clearOverride();

      const record = await ended(after, id);

      assert.deepEqual([record.state, record.result, record.attempt], ["done", "sent", 1]);
    } finally {
      await before.stop();
      await after.stop();
    }
  },
);

onEach("A pool that a version does not have is left alone", async (where) => {
  const before = await start({
    store: { use: denoKv, with: where },
    pools: {
      p: { handler: () => {}, size: { min: 1, max: 1 }, lanes: [{ name: "high" }] },
      only: {
        handler: () => "ran",
        size: { min: 1, max: 1 },
        lanes: [{ name: "high", paused: true }],
      },
    },
  });
  const after = await version(where, { handler: () => {} });
  try {
    const { id } = await before.enqueue("only", { lane: "high", payload: 1 });
    await (await after.enqueue("p", { lane: "high", payload: 1 })).done;
    assert.equal((await before.pool("only").find(id))?.state, "ready");

    await before.pool("only").resume();
    await before.pool("only").resume("high");

    for (;;) {
      const record = await before.pool("only").find(id);
      if (record?.state === "done") break;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  } finally {
    await before.stop();
    await after.stop();
  }
});
