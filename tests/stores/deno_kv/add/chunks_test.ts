import assert from "node:assert/strict";
import { audit } from "../../../../stores/deno_kv/doctor/audit.ts";
import { Db } from "../../../../stores/deno_kv/io/db.ts";
import { KvStore } from "../../../../stores/deno_kv/store.ts";
import type { Added, Queue } from "../../../../src/contract/store.ts";
import { entry, NOW, openQueue } from "../_store.ts";

const LEASE_MS = 1000;
const LARGE = "x".repeat(130_000);

/** What happens before a commit that changes these keys. */
type Before = (spaces: readonly string[]) => Promise<void> | void;

/** Two queues of one pool on one database, and what happens before their commits. */
interface Scene {
  readonly kv: Deno.Kv;
  readonly mine: Queue;
  readonly theirs: Queue;
  readonly before: { mine?: Before | undefined; theirs?: Before | undefined };
  /** Parts of payloads that are stored. */
  parts(): Promise<number>;
}

async function withScene(test: (scene: Scene) => Promise<void>): Promise<void> {
  const kv = await Deno.openKv(":memory:");
  const before: Scene["before"] = {};
  const options = { remote: false, maxChecks: 100, random: () => 0.1 };
  const unheard = { file: undefined, remote: false, pollMs: Infinity, seen: 0 };
  const stores: KvStore[] = [];
  const open = async (who: "mine" | "theirs"): Promise<Queue> => {
    const handle = await Deno.openKv(":memory:"); // its methods are replaced by those of the other
    for (const name of ["get", "getMany", "list", "delete", "watch"] as const) {
      Object.assign(handle, { [name]: kv[name].bind(kv) });
    }
    handle.atomic = () => watched(kv.atomic(), (spaces) => before[who]?.(spaces));
    const store = new KvStore(new Db(handle, options), unheard);
    stores.push(store);
    return await openQueue(store, { leaseMs: LEASE_MS });
  };
  try {
    const [mine, theirs] = [await open("mine"), await open("theirs")];
    const parts = async (): Promise<number> =>
      (await Array.fromAsync(kv.list({ prefix: ["sluice", "pool", "p", "b"] }))).length;
    await test({ kv, mine, theirs, before, parts });
  } finally {
    for (const store of stores) await store.close();
    kv.close();
  }
}

function watched(operation: Deno.AtomicOperation, before: Before): Deno.AtomicOperation {
  const spaces: string[] = [];
  const [set, drop] = [operation.set.bind(operation), operation.delete.bind(operation)];
  const commit = operation.commit.bind(operation);
  operation.set = (key, ...rest) => {
    spaces.push(`set ${String(key[3])}`);
    return set(key, ...rest);
  };
  operation.delete = (key) => {
    spaces.push(`delete ${String(key[3])}`);
    return drop(key);
  };
  operation.commit = async () => {
    await before(spaces);
    return await commit();
  };
  return operation;
}

/** Whether a job has its whole payload: it is too long to be shown. */
async function isWhole(queue: Queue, job: Added | undefined): Promise<boolean> {
  return (await queue.find(job!.id))?.payload === LARGE;
}

/** Holds up the first commit that does that to that space. */
function holdUp(
  before: Scene["before"],
  who: "mine" | "theirs",
  what: string,
): { readonly reached: Promise<void>; letGo(): void } {
  const reached = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  before[who] = async (spaces) => {
    if (!spaces.includes(what)) return;
    before[who] = undefined;
    reached.resolve();
    await gone.promise;
  };
  return { reached: reached.promise, letGo: gone.resolve };
}

/** Renews until no other holder lives. */
async function outlive(queue: Queue): Promise<void> {
  for (let nowMs = NOW; (await queue.renew(nowMs)).peers > 1; nowMs += LEASE_MS / 3);
}

Deno.test("a payload goes with the process that died before its job was stored, though that has leased nothing", async () => {
  await withScene(async ({ kv, mine, theirs, before, parts }) => {
    const { reached, letGo } = holdUp(before, "mine", "set r");
    const adding = mine.add([entry({ payload: LARGE }), entry({ dedupeKey: "d" })], NOW);
    await reached;
    assert.equal(await parts(), 3);
    assert.deepEqual(await audit(kv, "p"), []);

    await outlive(theirs);
    assert.equal(await parts(), 0);
    assert.deepEqual(await audit(kv, "p"), []);

    assert.equal((await mine.renew(NOW)).alive, false); // it was frozen, and goes on
    letGo();
    const [job] = await adding;
    assert.ok(await isWhole(mine, job));
    assert.deepEqual(await audit(kv, "p"), []);
  });
});

Deno.test("a job that is stored while its process is declared dead keeps its payload", async () => {
  await withScene(async ({ kv, mine, theirs, before }) => {
    await mine.add([entry()], NOW);
    await mine.lease([1], NOW);
    const add = holdUp(before, "mine", "set r");
    const adding = mine.add([entry({ payload: LARGE })], NOW);
    await add.reached;
    const drop = holdUp(before, "theirs", "delete b");
    const outliving = outlive(theirs);
    await drop.reached;

    add.letGo();
    const [job] = await adding;
    drop.letGo();
    await outliving;

    assert.ok(await isWhole(theirs, job));
    assert.deepEqual(await audit(kv, "p"), []);
  });
});

Deno.test("whoever dies while it drops payloads of the dead leaves them to the next one", async () => {
  await withScene(async ({ kv, mine, theirs, before, parts }) => {
    const { reached, letGo } = holdUp(before, "mine", "set r");
    const adding = mine.add([entry({ payload: LARGE })], NOW);
    await reached;
    before.theirs = (spaces) => {
      if (spaces.includes("delete b")) throw new TypeError("disk I/O error");
    };
    await assert.rejects(outlive(theirs), { message: "disk I/O error" });
    assert.equal(await parts(), 3);
    before.theirs = undefined;

    await outlive(theirs);

    assert.equal(await parts(), 0);
    assert.deepEqual(await audit(kv, "p"), []);
    await mine.renew(NOW);
    letGo();
    await adding;
  });
});

for (const way of ["renew", "leave"] as const) {
  Deno.test(`${way}() drops payloads of jobs that the database did not take, and no other`, async () => {
    await withScene(async ({ kv, mine, before, parts }) => {
      const [kept] = await mine.add([entry({ payload: LARGE })], NOW);
      before.mine = (spaces) => {
        if (spaces.includes("set r")) throw new TypeError("disk I/O error");
      };
      await assert.rejects(async () => await mine.add([entry({ payload: LARGE })], NOW));
      before.mine = undefined;
      assert.equal(await parts(), 6);

      await mine[way](NOW);

      assert.equal(await parts(), 3);
      assert.ok(await isWhole(mine, kept));
      assert.deepEqual(await audit(kv, "p"), []);
    });
  });
}
