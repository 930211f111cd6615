import assert from "node:assert/strict";
import * as v from "valibot";
import { RejectedError } from "../../src/contract/errors.ts";
import { defineHandler } from "../../src/contract/plugin.ts";
import type { JobHandle } from "../../src/runtime/handles.ts";
import { sleeper } from "../_virtual.ts";
import { withFolder } from "../stores/deno_kv/_store.ts";
import { DurableBench, withFile } from "./_durable.ts";
import { type KvFault, openFailing } from "./_failing_kv.ts";
import type { KvCall } from "../stores/deno_kv/_commits.ts";

/** Runs `test` with processes on a file whose calls fail when it says so. */
async function withFailing(
  test: (bench: DurableBench, fault: KvFault) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder) => {
    const fault: KvFault = { failing: [], failures: [], calls: 0 };
    const path = `${folder}/queue.db`;
    const bench: DurableBench = new DurableBench(() =>
      openFailing(path, fault, () => bench.clock.nowMs())
    );
    try {
      await test(bench, fault);
    } finally {
      fault.failing = [];
      await bench.stop();
    }
  });
}

const READS: readonly KvCall[] = ["get", "getMany", "list"];

// A5
Deno.test("a file that cannot be read leaves the size of a pool alone, stale, and loses nothing", async () => {
  await withFailing(async (bench, fault) => {
    const parts = {
      handler: sleeper(() => bench.clock, 1000),
      size: { min: 1, max: 6 },
      leaseMs: 600_000, // nobody is to be taken for dead meanwhile
    };
    const { pool } = await bench.start(parts);
    const given = { lane: "low", payload: 1000 };
    const jobs = await pool.enqueueAll(Array.from({ length: 300 }, () => given)) as JobHandle[];
    await bench.advance(2000);
    assert.equal(pool.snapshot().live, 6);

    fault.failing = READS;
    let stale = 0;
    for (let second = 0; second < 120; second++) {
      await bench.advance(1000, { stepMs: 250 });
      const { target, live } = pool.snapshot();
      assert.deepEqual([target, live], [6, 6]);
      if (pool.snapshot().stale) stale++;
    }
    assert.ok(stale >= 118, `${stale}`);
    const failed = bench.referee.events.filter(({ kind }) => kind === "store-failed");
    assert.equal(failed.length, 1);

    fault.failing = [];
    // What its own commits have made known, it may have claimed meanwhile.
    const isOver = () => pool.snapshot().totals.completions === 300 && !pool.snapshot().stale;
    await bench.until(isOver, { mostMs: 90_000, stepMs: 250 });
    await bench.referee.account(pool, jobs);
  });
});

// A5
Deno.test("a pool at no worker whose file could not be read starts soon after it can", async () => {
  await withFailing(async (bench, fault) => {
    const parts = { handler: sleeper(() => bench.clock, 100), size: { min: 0, max: 4 } };
    const { pool } = await bench.start(parts);
    const other = await bench.start({
      ...parts,
      caps: [{ use: "fixed-cap", with: { workers: 0 } }],
    });
    fault.failing = READS;
    const given = { lane: "low", payload: 100 };
    const adding = other.pool.enqueueAll(Array.from({ length: 50 }, () => given));
    await bench.advance(60_000, { stepMs: 500 });
    fault.failing = [];
    const added = await adding;
    const jobs = added.some((job) => job instanceof Error)
      ? await other.pool.enqueueAll(Array.from({ length: 50 }, () => given)) as JobHandle[]
      : added as JobHandle[];

    await bench.advance(12_000); // the longest pause with its jitter
    assert.ok(pool.snapshot().totals.starts > 0);
    await bench.until(() => pool.snapshot().totals.completions === 50);
    await bench.referee.account(pool, jobs);
  });
});

for (const failing of [["commit"], READS, ["commit", ...READS]] as const) {
  // B9
  Deno.test(`a file that fails every ${failing.join(", ")} is asked ever less by two processes, and all run after`, async () => {
    await withFailing(async (bench, fault) => {
      const parts = {
        handler: sleeper(() => bench.clock, 100),
        size: { min: 2, max: 4 },
        leaseMs: 600_000,
      };
      const { pool } = await bench.start(parts);
      await bench.start(parts);
      const given = { lane: "high", payload: 100 };
      const jobs = await pool.enqueueAll(Array.from({ length: 200 }, () => given)) as JobHandle[];
      await bench.advance(500);
      fault.failing = failing;
      await bench.advance(60_000, { stepMs: 100 });

      const { failures } = fault;
      assert.ok(failures.length > 8, `${failures.length} calls`);
      for (let from = 0; from < failures.length; from++) {
        let within = from;
        while (within < failures.length && failures[within]! < failures[from]! + 1000) within++;
        assert.ok(within - from <= 60, `${within - from} failing calls in a second`);
      }
      const late = failures.filter((atMs) => atMs > bench.clock.nowMs() - 30_000);
      assert.ok(late.length <= 100, `${late.length} calls in the last half minute`);

      fault.failing = [];
      await bench.until(
        () =>
          bench.processes.reduce((sum, { pool }) => sum + pool.snapshot().totals.completions, 0) ===
            200,
        { stepMs: 200 },
      );
      await bench.referee.account(pool, jobs);
    });
  });
}

// D7
Deno.test("what it costs to claim a job on a file does not depend on how many another's key holds back", async () => {
  const costs: number[] = [];
  for (const backlog of [20, 2000]) {
    await withFailing(async (bench, fault) => {
      const lanes = [{ name: "low", maxRunningPerKey: 1 }];
      const handler = sleeper(() => bench.clock, 500);
      const { pool } = await bench.start({ handler, lanes, size: { min: 3, max: 3 } });
      const given = { lane: "low", payload: 60_000, key: "x" };
      await pool.enqueueAll(Array.from({ length: backlog }, () => given));
      await bench.advance(1000);
      assert.equal(pool.snapshot().lanes[0]!.blocked, backlog - 1);

      const before = fault.calls;
      for (let index = 0; index < 10; index++) {
        const mine = await pool.enqueue({ lane: "low", payload: 10, key: "y" });
        await bench.advance(50, { stepMs: 10 });
        assert.equal((await pool.find(mine.id))?.state, "done");
      }
      costs.push(fault.calls - before);
    });
  }

  const [few = 0, many = 0] = costs;
  assert.ok(many <= 1.2 * few, `${few} and ${many} calls`);
});

for (const bounded of ["maxDepth", "deadlineMs", "ttlMs"] as const) {
  // F5
  Deno.test(`twice what a pool on a file can do is refused with a time to come back, and forgotten soon (${bounded})`, async () => {
    await withFile(async (bench) => {
      const bounds = { maxDepth: 40, deadlineMs: 8000, ttlMs: 8000 };
      const { pool } = await bench.start({
        handler: sleeper(() => bench.clock, 1000),
        lanes: [{ name: "high", targetWaitMs: 5000, [bounded]: bounds[bounded] }],
        size: { min: 4, max: 4 },
        tickMs: 250,
        ...(bounded === "ttlMs" ? { admission: "admit-all" } as const : {}),
      });
      const jobs: JobHandle[] = [];
      let refused = 0;
      let deepest = 0;
      for (let second = 0; second < 180; second++) {
        const given = { lane: "high", payload: 950 };
        for (const job of await pool.enqueueAll(Array.from({ length: 8 }, () => given))) {
          if (!(job instanceof Error)) {
            jobs.push(job);
            continue;
          }
          assert.ok(job instanceof RejectedError && job.retryAfterMs > 0, `${job}`);
          refused++;
        }
        await bench.advance(1000, { stepMs: 250 });
        deepest = Math.max(deepest, pool.snapshot().lanes[0]!.ready);
      }
      const { totals } = pool.snapshot();
      assert.ok(totals.completions > 0.7 * 4 * 180, `${totals.completions}`); // a step late each
      assert.ok(deepest <= 90, `${deepest} deep`);
      if (bounded === "ttlMs") assert.ok(jobs.length - totals.completions > 300);
      else assert.ok(refused > 300, `${refused}`);

      await bench.advance(20_000, { stepMs: 250 }); // the load is over
      const lane = pool.snapshot().lanes[0]!;
      assert.deepEqual([lane.ready, lane.oldestWaitMs, lane.running], [0, 0, 0]);
      const after = await pool.enqueue({ lane: "high", payload: 10 });
      await bench.advance(100);
      assert.equal((await pool.find(after.id))?.state, "done");
    });
  });
}

// F7
Deno.test("a payload on a file that the handler of a newer release does not take is dead at once", async () => {
  await withFile(async (bench) => {
    const older = defineHandler({ payload: v.strictObject({ to: v.string() }), run: () => "old" });
    const newer = defineHandler({
      payload: v.strictObject({ to: v.array(v.string()) }),
      run: () => "new",
    });
    const before = await bench.start({ handler: older });
    await before.pool.pause();
    const stale = await before.pool.enqueue({ lane: "high", payload: { to: "a" } });
    const large = { to: "x".repeat(70 * 1024) }; // above the 64 KiB of a KV value
    const staleLarge = await before.pool.enqueue({ lane: "high", payload: large });
    await bench.leave(before);
    const { pool } = await bench.start({ handler: newer });
    const good = await pool.enqueue({ lane: "high", payload: { to: [large.to] } });
    await pool.resume();
    await bench.advance(200);

    for (const { id } of [stale, staleLarge]) {
      const record = await pool.find(id);
      assert.deepEqual([record?.state, record?.reason, record?.attempt], ["dead", "payload", 1]);
      assert.match(record?.error ?? "", /does not fit its handler: to: .*Expected Array/);
    }
    assert.deepEqual(await good.done, { state: "done", result: "new" });
  });
});

// F7
Deno.test("what a file could not keep is refused at the enqueue, by name, and fails no other of the call", async () => {
  await withFile(async (bench) => {
    const { pool } = await bench.start({});
    const faults: readonly (readonly [object, RegExp])[] = [
      [{ payload: "x".repeat(1_100_000) }, /Expected a payload of at most 1048576 bytes/],
      [{ key: "ü".repeat(1025) }, /Expected key to be a text of 1 to 1024 characters/],
      [{ dedupeKey: "k".repeat(2048) }, /Expected dedupeKey .* 1 to 1024 characters/],
      [{ key: "字".repeat(1024) }, /Expected key of at most 1500 bytes but received 3072/],
      [
        { dedupeKey: "\0".repeat(1024) },
        /Expected dedupeKey of at most 1500 bytes but received 2048/,
      ],
      [{ payload: new Date() }, /an object of class Date/],
    ];
    const good = { lane: "high", payload: 1 };
    const most = { ...good, key: "k".repeat(1024), dedupeKey: "字".repeat(500) };
    for (const [parts, message] of faults) {
      const [kept, refused, other] = await pool.enqueueAll([good, { ...good, ...parts }, most]);
      assert.match(String(refused), message);
      await bench.advance(100);
      for (const job of [kept, other]) {
        assert.equal((await pool.find((job as JobHandle).id))?.state, "done"); // both were good
      }
    }
  });
});
