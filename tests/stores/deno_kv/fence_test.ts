import assert from "node:assert/strict";
import { audit } from "../../../stores/deno_kv/doctor/audit.ts";
import type { Queue } from "../../../src/contract/store.ts";
import { deafStore, throughCommits, twinOf } from "./_commits.ts";
import { end, entry, NOW, openQueue } from "./_store.ts";

const LEASE_MS = 1000;

/** Two queues of one pool on one database, and a way to hold up the next commit of the first. */
interface Scene {
  readonly kv: Deno.Kv;
  /** The one that is declared dead. */
  readonly mine: Queue;
  readonly theirs: Queue;
  /** The next commit of `mine` waits, on its way there or on its way back, until it is let go. */
  holdUp(where: "before" | "after"): { readonly reached: Promise<void>; letGo(): void };
  /** The next list that `mine` reads fails. */
  failList(): void;
}

async function withScene(
  test: (scene: Scene) => Promise<void>,
  patienceMs?: () => number,
): Promise<void> {
  const kv = await Deno.openKv(":memory:");
  const slow = await twinOf(kv);
  const held: {
    current?: { where: "before" | "after"; reached: () => void; gone: Promise<void> } | undefined;
  } = {};
  let fails = false;
  slow.list = (selector, options) => {
    if (!fails) return kv.list(selector, options);
    fails = false;
    throw new TypeError("disk I/O error");
  };
  throughCommits(slow, async (commit) => {
    const hold = held.current;
    held.current = undefined;
    if (hold === undefined) return await commit();
    const result = hold.where === "after" ? await commit() : undefined;
    hold.reached();
    await hold.gone;
    return result ?? await commit();
  });
  const one = deafStore(slow, () => 0.1, patienceMs);
  const other = deafStore(kv, () => 0.1);
  try {
    await test({
      kv,
      mine: await openQueue(one, { leaseMs: LEASE_MS }),
      theirs: await openQueue(other, { leaseMs: LEASE_MS }),
      holdUp: (where) => {
        const reached = Promise.withResolvers<void>();
        const gone = Promise.withResolvers<void>();
        held.current = { where, reached: reached.resolve, gone: gone.promise };
        return { reached: reached.promise, letGo: gone.resolve };
      },
      failList: () => fails = true,
    });
  } finally {
    await one.close();
    await other.close();
  }
}

/** Renews until no other holder lives. */
async function outlive(queue: Queue): Promise<void> {
  for (let nowMs = NOW; (await queue.renew(nowMs)).peers > 1; nowMs += LEASE_MS / 3);
}

Deno.test("KvQueue refuses an end under a lease that was lost, though it joined anew while that was on its way", async () => {
  await withScene(async ({ kv, mine, theirs, holdUp }) => {
    await mine.add([entry({ payload: 1 }), entry({ payload: 2 })], NOW);
    const held = await mine.lease([2], NOW);
    await outlive(theirs);
    const again = await theirs.lease([2], NOW);
    assert.deepEqual(await theirs.settle([end(again[0]!)], NOW), [true]);

    const { reached, letGo } = holdUp("before");
    const first = mine.settle([end(held[0]!)], NOW);
    await reached;
    const second = mine.settle([end(held[1]!)], NOW); // waits for the commit of the first
    assert.equal((await mine.renew(NOW)).alive, false);
    letGo();

    assert.deepEqual(await first, [false]);
    assert.deepEqual(await second, [false]);
    assert.deepEqual(await theirs.settle([end(again[1]!)], NOW), [true]);
    assert.deepEqual(await audit(kv, "p"), []);
  });
});

Deno.test("KvQueue still lives after it joined anew, whatever came of a commit from before", async () => {
  await withScene(async ({ kv, mine, theirs, holdUp }) => {
    await mine.add([entry()], NOW);
    const [held] = await mine.lease([1], NOW);
    await outlive(theirs);

    const { reached, letGo } = holdUp("before");
    const late = mine.settle([end(held!)], NOW);
    await reached;
    assert.equal((await mine.renew(NOW)).alive, false);
    const [fresh] = await mine.lease([1], NOW);
    letGo();

    assert.deepEqual(await late, [false]);
    assert.equal((await mine.renew(NOW)).alive, true);
    assert.deepEqual(await mine.settle([end(fresh!)], NOW), [true]);
    assert.deepEqual(await audit(kv, "p"), []);
  });
});

Deno.test("KvQueue gives out no lease that was lost while its answer was on its way", async () => {
  await withScene(async ({ kv, mine, theirs, holdUp }) => {
    await mine.add([entry()], NOW);
    const { reached, letGo } = holdUp("after");
    const leased = mine.lease([1], NOW);
    await reached;
    await outlive(theirs);
    assert.equal((await mine.renew(NOW)).alive, false);
    letGo();

    assert.deepEqual(await leased, []);
    assert.equal((await theirs.lease([1], NOW)).length, 1);
    assert.deepEqual(await audit(kv, "p"), []);
  });
});

Deno.test("KvQueue.leave() may be asked again if it fails, and leaves once however often it is asked", async () => {
  await withScene(async ({ kv, mine, theirs, failList }) => {
    await mine.add([entry(), entry()], NOW);
    assert.equal((await mine.lease([1], NOW)).length, 1);

    failList();
    await assert.rejects(async () => await mine.leave(NOW), { message: "disk I/O error" });
    await Promise.all([mine.leave(NOW), mine.leave(NOW)]);
    await mine.leave(NOW);

    assert.deepEqual((await theirs.lease([9], NOW)).map(({ attempt }) => attempt), [1, 1]);
    assert.equal((await theirs.renew(NOW)).peers, 1);
    assert.deepEqual(await audit(kv, "p"), []);
  });
});

Deno.test("KvQueue.leave() hands back what has not ended: nothing ends any more while it does", async () => {
  await withScene(async ({ kv, mine, theirs, holdUp }) => {
    await mine.add([entry({ payload: 1 }), entry({ payload: 2 })], NOW);
    const held = await mine.lease([2], NOW);

    const { reached, letGo } = holdUp("after"); // of the handing back
    const left = mine.leave(NOW);
    await reached;
    const ends = [end(held[0]!), end(held[1]!, "back")];
    const settled = mine.settle(ends, NOW);
    const again = await theirs.lease([2], NOW);
    letGo();
    await left;

    assert.deepEqual(await settled, [false, false]);
    assert.deepEqual(await theirs.settle(again.map((job) => end(job)), NOW), [true, true]);
    assert.deepEqual(await audit(kv, "p"), []);
  });
});

Deno.test("KvQueue.leave() waits for a heartbeat and a lease that are on their way, and leaves nothing of them", async () => {
  for (const asked of ["renew", "lease"] as const) {
    await withScene(async ({ kv, mine, theirs, holdUp }) => {
      await mine.add([entry()], NOW);
      const { reached, letGo } = holdUp("before");
      const asking = asked === "renew" ? mine.renew(NOW) : mine.lease([1], NOW);
      await reached;
      const left = mine.leave(NOW);
      await new Promise((resolve) => setTimeout(resolve)); // as far as it gets
      letGo();
      await Promise.all([asking, left]);

      const [job] = await theirs.lease([1], NOW);
      assert.equal(job?.attempt, 1, "nothing is charged");
      assert.deepEqual(await theirs.renew(NOW), {
        ...await theirs.renew(NOW),
        peers: 1,
        reaped: 0,
      });
      assert.deepEqual(await audit(kv, "p"), []);
    });
  }
});

Deno.test("KvQueue leases nothing anew before its pool was told of what is lost, however often that fails", async () => {
  await withScene(async ({ mine, theirs, failList }) => {
    await mine.add([entry()], NOW);
    await mine.lease([1], NOW);
    await outlive(theirs);

    failList();
    await assert.rejects(async () => await mine.renew(NOW), { message: "disk I/O error" });

    assert.deepEqual(await mine.lease([1], NOW), []);
    assert.equal((await mine.renew(NOW)).alive, false);
    assert.equal((await mine.lease([1], NOW)).length, 1);
    assert.equal((await mine.renew(NOW)).alive, true);
  });
});

Deno.test("KvQueue.add() of a payload that is stored apart says that its membership was lost, not that others were quicker", async () => {
  let nowMs = 0;
  await withScene(async ({ kv, mine, theirs }) => {
    await outlive(theirs);

    const adding = mine.add([entry({ payload: "x".repeat(60_000) })], NOW);

    const message =
      "The job could not be stored: this process was declared dead, and has not rejoined yet";
    await assert.rejects(async () => await adding, { message });
    await mine.renew(NOW);
    const [added] = await mine.add([entry({ payload: "x".repeat(60_000) })], NOW);
    assert.equal(added?.error, undefined);
    assert.deepEqual(await audit(kv, "p"), []);
  }, () => nowMs += 1000);
});

Deno.test("KvQueue.leave() leaves its jobs to whoever declares it dead meanwhile", async () => {
  await withScene(async ({ kv, mine, theirs, holdUp }) => {
    await mine.add([entry()], NOW);
    await mine.lease([1], NOW);
    const { reached, letGo } = holdUp("before"); // of the handing back
    const left = mine.leave(NOW);
    await reached;
    for await (const { key } of kv.list({ prefix: [] })) {
      if (key[3] === "w" && key[4] === 1) await kv.delete(key); // not taken back yet
    }
    letGo();

    await left;

    await outlive(theirs);
    assert.deepEqual((await theirs.lease([9], NOW)).map(({ attempt }) => attempt), [2]);
    assert.deepEqual(await audit(kv, "p"), []);
  });
});
