import assert from "node:assert/strict";
import { memory, MemoryStore } from "../../stores/memory/mod.ts";
import type { MemoryQueue } from "../../stores/memory/queue.ts";
import type { Queue, Store } from "../../src/contract/store.ts";
import { checkStore } from "../../src/testing/mod.ts";

/** A store in memory whose answers all come later, and with some methods changed. */
function broken(change: (queue: MemoryQueue) => Partial<Queue>): () => Store {
  return () => {
    const store = new MemoryStore();
    return {
      open: (options) => {
        const queue = store.open(options);
        const asynchronous: Queue = {
          add: async (...given) => await queue.add(...given),
          lease: async (...given) => await queue.lease(...given),
          settle: async (...given) => await queue.settle(...given),
          renew: async (...given) => await queue.renew(...given),
          count: async (...given) => await queue.count(...given),
          readySince: (...given) => queue.readySince(...given),
          reopen: async (...given) => await queue.reopen(...given),
          find: async (...given) => await queue.find(...given),
          list: async (...given) => await queue.list(...given),
          change: async (...given) => await queue.change(...given),
          outcome: (...given) => queue.outcome(...given),
          leave: async (...given) => await queue.leave(...given),
        };
        return Promise.resolve({ ...asynchronous, ...change(queue) });
      },
      get: (key) => Promise.resolve(store.get(key)),
      commit: (...given) => Promise.resolve(store.commit(...given)),
      close: () => store.close(),
    };
  };
}

async function failed(make: () => Store): Promise<string[]> {
  const names: string[] = [];
  const test = async (name: string, check: () => Promise<void>): Promise<void> => {
    await check().catch(() => names.push(name));
  };
  await checkStore(make, { test });
  return names;
}

Deno.test("checkStore() passes a store whose answers come later", async () => {
  assert.deepEqual(await failed(broken(() => ({}))), []);
});

Deno.test("checkStore() takes a plugin", async () => {
  await checkStore(memory);
});

Deno.test("checkStore() names what does not hold, without a test runner", async () => {
  const make = broken(() => ({ readySince: () => 7 }));

  await assert.rejects(checkStore(make), {
    name: "AssertionError",
    message: /^Store: readySince\(\) counts no younger jobs/,
  });
});

const FAULTS: Readonly<Record<string, (queue: MemoryQueue) => Partial<Queue>>> = {
  "keeps its lanes when told of others": () => ({ reopen: () => () => {} }),
  "takes other lanes before it is told to": (queue) => ({
    reopen: (rules) => {
      queue.reopen(rules)(0);
      return () => {};
    },
  }),
  "gives the youngest first": (queue) => ({
    lease: async (...given) => [...await queue.lease(...given)].reverse(),
  }),
  "gives more than wanted": (queue) => ({
    lease: async (wants, nowMs) => await queue.lease(wants.map((want) => want + 1), nowMs),
  }),
  "accepts any settlement": (queue) => ({
    settle: async (given, nowMs) => {
      await queue.settle(given, nowMs);
      return given.map(() => true);
    },
  }),
  "ignores keys": (queue) => ({
    add: async (entries, nowMs) =>
      await queue.add(entries.map((entry) => ({ ...entry, key: undefined })), nowMs),
  }),
  "ignores dedupe keys": (queue) => ({
    add: async (entries, nowMs) =>
      await queue.add(entries.map((entry) => ({ ...entry, dedupeKey: undefined })), nowMs),
  }),
  "never expires a job": (queue) => ({
    add: async (entries, nowMs) =>
      await queue.add(entries.map((entry) => ({ ...entry, expiresAtMs: Infinity })), nowMs),
  }),
  "runs delayed jobs early": (queue) => ({
    add: async (entries, nowMs) =>
      await queue.add(entries.map((entry) => ({ ...entry, dueAtMs: nowMs })), nowMs),
  }),
  "charges hand-backs": (queue) => ({
    settle: async (given, nowMs) =>
      await queue.settle(given.map((one) => ({ ...one, charged: true })), nowMs),
  }),
  "forgets the result": (queue) => ({
    settle: async (given, nowMs) =>
      await queue.settle(given.map((one) => ({ ...one, result: undefined })), nowMs),
  }),
  "never finds a member dead": () => ({
    renew: () => ({ alive: true, peers: 2, reaped: 0, nextAtMs: Infinity }),
  }),
  "compares the clocks of two members": (queue) => {
    let skewMs = 0;
    return {
      // Two looks at a clock that runs ahead: the other has been silent for longer than it was.
      renew: async (nowMs) => {
        skewMs += 40_000;
        await queue.renew(nowMs + skewMs);
        skewMs += 40_000;
        return await queue.renew(nowMs + skewMs);
      },
    };
  },
  "keeps leases when it leaves": () => ({ leave: () => {} }),
  "says nothing of cancels": (queue) => ({
    change: async (id, change, nowMs) =>
      change === "cancel"
        ? { ok: true, state: "cancelled" }
        : await queue.change(id, change, nowMs),
  }),
  "gives one page": (queue) => ({
    list: async (query) => ({ ...await queue.list(query), cursor: undefined }),
  }),
  "knows no order": (queue) => ({
    list: async (query) => await queue.list({ ...query, order: undefined }),
  }),
  "loses the filter": (queue) => ({
    list: async (query) => await queue.list({ ...query, state: undefined }),
  }),
  "miscounts": (queue) => ({
    count: async (nowMs) =>
      (await queue.count(nowMs)).map(({ ready, blocked, delayed, running, ...rest }) => ({
        ...rest,
        ready: ready + blocked,
        blocked: 0,
        delayed,
        running,
        oldestReadyAtMs: Infinity,
        nextDueAtMs: Infinity,
      })),
  }),
};

for (const [name, change] of Object.entries(FAULTS)) {
  Deno.test(`checkStore() finds a store that ${name}`, async () => {
    assert.notDeepEqual(await failed(broken(change)), []);
  });
}

Deno.test("checkStore() finds a store whose commit does not compare", async () => {
  const make = (): Store => {
    const store = new MemoryStore();
    return {
      open: (options) => store.open(options),
      get: (key) => store.get(key),
      commit: (_, sets) => store.commit({}, sets),
      close: () => store.close(),
    };
  };

  assert.deepEqual(await failed(make), [
    "commit() sets nothing unless all versions are as expected",
  ]);
});
