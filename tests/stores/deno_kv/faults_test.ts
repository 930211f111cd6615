import assert from "node:assert/strict";
import { audit } from "../../../stores/deno_kv/doctor/audit.ts";
import { Db } from "../../../stores/deno_kv/io/db.ts";
import type { KvQueue } from "../../../stores/deno_kv/queue.ts";
import { KvStore } from "../../../stores/deno_kv/store.ts";
import { StoreError } from "../../../src/contract/errors.ts";
import type { Leased } from "../../../src/contract/store.ts";
import { type Commit, throughCommits } from "./_commits.ts";
import { end, entry, NOW, openQueue } from "./_store.ts";

/** A database whose commits go through `commit`. */
async function withCommits(
  remote: boolean,
  commit: (real: Commit) => Promise<Deno.KvCommitResult | Deno.KvCommitError>,
  test: (store: KvStore, kv: Deno.Kv) => Promise<void>,
): Promise<void> {
  const kv = await Deno.openKv(":memory:");
  throughCommits(kv, commit);
  const db = new Db(kv, { remote, maxChecks: 100, random: () => 0.1 });
  const store = new KvStore(db, { file: undefined, remote: false, pollMs: Infinity, seen: 0 });
  try {
    await test(store, kv);
  } finally {
    await store.close();
  }
}

Deno.test("Db tries again while the database is locked", async () => {
  let tries = 0;
  const commit = async (real: Commit): Promise<Deno.KvCommitResult | Deno.KvCommitError> => {
    if (tries++ % 3 !== 2) throw new TypeError("database is locked");
    return await real();
  };
  await withCommits(false, commit, async (store, kv) => {
    const queue = await openQueue(store);
    await queue.add([entry({ payload: 1 })], NOW);
    const held = await queue.lease([1], NOW);

    assert.deepEqual(await queue.settle([end(held[0]!)], NOW), [true]);
    assert.deepEqual(await audit(kv, "p"), []);
  });
});

Deno.test("KvQueue tells of each kind of call that fails, and takes it when it is made again", async () => {
  let failing = false;
  const commit = async (real: Commit): Promise<Deno.KvCommitResult | Deno.KvCommitError> => {
    if (failing) throw new TypeError("disk I/O error");
    return await real();
  };
  await withCommits(false, commit, async (store, kv) => {
    const queue = await openQueue(store);
    const failsThenWorks = async <T>(call: () => Promise<T> | T): Promise<T> => {
      failing = true;
      await assert.rejects(async () => await call(), { message: "disk I/O error" });
      failing = false;
      return await call();
    };

    await failsThenWorks(() => queue.add([entry({ payload: 1 }), entry({ dedupeKey: "d" })], NOW));
    const held = await failsThenWorks(() => queue.lease([2], NOW));
    assert.equal(held.length, 2);
    const ends = [
      end(held[0]!, "done", { result: 1 }),
      end(held[1]!, "retry", { dueAtMs: NOW + 5 }),
    ];
    assert.deepEqual(await failsThenWorks(() => queue.settle(ends, NOW)), [true, true]);
    assert.equal((await failsThenWorks(() => queue.renew(NOW))).alive, true);
    assert.ok((await failsThenWorks(() => queue.change(held[1]!.id, "cancel", NOW))).ok);
    assert.ok(await failsThenWorks(() => store.commit({ a: undefined }, { a: 1 })));

    assert.deepEqual(await audit(kv, "p"), []);
    assert.equal((await queue.find(held[0]!.id))?.state, "done");
  });
});

/** Makes the commits fail that `fails` says, counted from 1 once it is called. */
function failing(fails: (nth: number) => boolean): {
  readonly commit: (real: Commit) => Promise<Deno.KvCommitResult | Deno.KvCommitError>;
  begin(): void;
} {
  let nth = NaN;
  return {
    commit: async (real) => {
      if (fails(++nth)) throw new TypeError("disk I/O error");
      return await real();
    },
    begin: () => nth = 0,
  };
}

Deno.test("KvQueue.add() answers what it has stored, though another commit of the call failed", async () => {
  const { commit, begin } = failing((nth) => nth === 2);
  await withCommits(false, commit, async (store, kv) => {
    const queue = await openQueue(store);
    begin();
    const entries = [entry({ payload: 1 }), entry({ dedupeKey: "d" }), entry({ payload: 3 })];
    const added = await queue.add(entries, NOW);

    assert.deepEqual(added.map(({ error }) => error?.message), [
      undefined,
      "The job could not be stored: disk I/O error",
      undefined,
    ]);
    assert.ok(added[1]?.error instanceof StoreError);
    assert.equal((await queue.find(added[2]!.id))?.payload, 3);
    const [again] = await queue.add([entries[1]!], NOW);
    assert.deepEqual([again?.duplicate, again?.error], [false, undefined]);
    assert.deepEqual(await audit(kv, "p"), []);
  });
});

Deno.test("KvQueue.settle() tells of what it has ended when it is asked again, though another commit of the call failed", async () => {
  for (const failed of [1, 2]) {
    const { commit, begin } = failing((nth) => nth === failed);
    await withCommits(false, commit, async (store, kv) => {
      const queue = await openQueue(store);
      const payload = "x".repeat(40_000); // ends of so much take several commits
      for (let n = 0; n < 30; n++) await queue.add([entry({ payload, dedupeKey: `d${n}` })], NOW);
      const held: Leased[] = [];
      while (held.length < 30) held.push(...await queue.lease([30 - held.length], NOW));
      const ends = held.map((job) => end(job));
      begin();
      await assert.rejects(async () => await queue.settle(ends, NOW), {
        message: "disk I/O error",
      });

      const again = await queue.settle(ends, NOW);

      assert.deepEqual(again, ends.map(() => true));
      assert.deepEqual(await queue.settle(ends, NOW), ends.map(() => false));
      assert.equal((await queue.count(NOW))[0]?.running, 0);
      assert.deepEqual(await audit(kv, "p"), []);
    });
  }
});

Deno.test("Db knows what came of a commit over the network whose answer was lost, or repeated", async () => {
  let turn = 0;
  const commit = async (real: Commit): Promise<Deno.KvCommitResult | Deno.KvCommitError> => {
    switch (turn++ % 4) {
      case 0: // applied, and the answer lost
        await real();
        throw new TypeError("connection closed before message completed");
      case 1: // applied, and repeated by the client
        await real();
        return await real();
      default:
        return await real();
    }
  };
  await withCommits(true, commit, async (store, kv) => {
    const queue = await openQueue(store);
    const added = await Promise.all(
      Array.from({ length: 20 }, async (_, payload) => {
        await new Promise((resolve) => setTimeout(resolve, payload));
        return (await queue.add([entry({ payload })], NOW))[0]!.id;
      }),
    );
    const ran: unknown[] = [];
    for (;;) {
      const held = await queue.lease([3], NOW);
      if (held.length === 0) break;
      ran.push(...held.map(({ payload }) => payload));
      for (const job of held) assert.deepEqual(await queue.settle([end(job)], NOW), [true]);
    }

    assert.equal(new Set(added).size, 20);
    assert.deepEqual(ran.length, 20, "no job was stored or leased twice");
    assert.deepEqual(await audit(kv, "p"), []);
  });
});

Deno.test("Db calls off a commit over the network that has not come through", async () => {
  const sent: Commit[] = [];
  let isLost = false;
  const commit = async (real: Commit): Promise<Deno.KvCommitResult | Deno.KvCommitError> => {
    if (!isLost) return await real();
    isLost = false;
    sent.push(real);
    throw new TypeError("connection refused");
  };
  await withCommits(true, commit, async (store, kv) => {
    const queue = await openQueue(store);
    isLost = true;
    await assert.rejects(async () => await queue.add([entry()], NOW), {
      message: "connection refused",
    });

    const late = await sent[0]!();

    assert.equal(late.ok, false, "it can come through no more");
    assert.deepEqual(await queue.lease([1], NOW), []);
    assert.deepEqual(await audit(kv, "p"), []);
  });
});

Deno.test("KvStore closes though a look at what others changed fails at that moment", async () => {
  const kv = await Deno.openKv(":memory:");
  const db = new Db(kv, { remote: false, maxChecks: 100, random: () => 0.1 });
  const store = new KvStore(db, { file: undefined, remote: false, pollMs: Infinity, seen: 0 });
  const queue = await openQueue(store) as KvQueue; // what this store opens
  const gate = Promise.withResolvers<never>();
  // An iterator that fails at its first step: the store asks for no more than that of it.
  kv.list = (() =>
    Object.assign(
      (async function* () {
        yield await gate.promise;
      })(),
      { cursor: "" },
    )) as Deno.Kv["list"];

  const looked = assert.rejects(queue.changed(), { message: "disk I/O error" });
  const closed = store.close();
  gate.reject(new TypeError("disk I/O error"));
  await closed;

  await looked;
});
