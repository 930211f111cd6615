import assert from "node:assert/strict";
import { start } from "../../mod.ts";
import { defineStore } from "../../src/contract/plugin.ts";
import { VirtualClock } from "../../src/time/virtual_clock.ts";
import { SkewedClock } from "../chaos/clock.ts";
import { sleeper } from "../_virtual.ts";
import { LateState, starting } from "./_late_state.ts";
import { onSite, post, Site } from "./_site.ts";

const downstreams = { db: { connections: 20 } };

Deno.test("two pools of two processes never hold more connections than there are, and all of them", async () => {
  await onSite(async (site) => {
    const pools = { mails: site.pool("mails"), reports: site.pool("reports") };
    const first = await site.start({ downstreams, pools });
    const second = await site.start({ downstreams, pools });
    await site.pass(500);
    for (const sluice of [first, second]) {
      post(sluice, "mails", 2000);
      post(sluice, "reports", 2000);
    }
    await site.pass(2000);
    assert.equal(site.database.most, 20);
    site.database.reset();
    await site.pass(3000);
    const { most, mean } = site.database;

    assert.equal(most, 20);
    assert.ok(mean.get("mails")! >= 9.5 && mean.get("reports")! >= 9.5, JSON.stringify([...mean]));
    const { boundBy, sentence } = first.pool("mails").snapshot().decision!;
    assert.equal(boundBy, "downstream:db");
    assert.match(
      sentence,
      /but downstream db allows 5 \(20 connections at 1 a worker: 5 of 20 here\)/,
    );
  });
});

Deno.test("connections go to the pool that has work, and back", async () => {
  await onSite(async (site) => {
    const pools = { mails: site.pool("mails"), reports: site.pool("reports") };
    const sluice = await site.start({ downstreams, pools });
    await site.pass(100);
    for (const [hot, idle] of [["mails", "reports"], ["reports", "mails"], ["mails", "reports"]]) {
      post(sluice, hot!, 400);
      await site.pass(600);
      assert.deepEqual([site.database.used.get(hot!), site.database.used.get(idle!) ?? 0], [19, 0]);
      await site.pass(3000);
      assert.equal(sluice.pool(hot!).snapshot().lanes[0]!.ready, 0);
    }
    assert.ok(site.database.most <= 20);
  });
});

Deno.test("a pool stays below its minimum while another holds the rest, and says what binds it", async () => {
  await onSite(async (site) => {
    const mails = site.pool("mails");
    const reports = site.pool("reports", 1, { size: { min: 5, max: 10 } });
    const first = await site.start({ downstreams, pools: { mails } });
    post(first, "mails", 20, 5000);
    await site.pass(500);
    assert.equal(site.database.all, 20);
    const second = await site.start({ downstreams, pools: { reports } });
    await site.pass(1000);
    const { live, decision } = second.pool("reports").snapshot();
    assert.deepEqual([live, decision?.boundBy], [0, "downstream:db"]);
    await site.pass(6000);

    assert.equal(second.pool("reports").snapshot().live, 5);
    assert.ok(site.database.most <= 20);
  });
});

Deno.test("a pool with many processes leaves the other its half", async () => {
  await onSite(async (site) => {
    const mails = site.pool("mails");
    const reports = site.pool("reports");
    const first = await site.start({ downstreams, pools: { mails, reports } });
    for (let count = 0; count < 3; count++) await site.start({ downstreams, pools: { mails } });
    post(first, "mails", 3000);
    post(first, "reports", 3000);
    await site.pass(3000);
    site.database.reset();
    await site.pass(3000);

    assert.equal(site.database.most, 20);
    assert.ok(site.database.mean.get("reports")! >= 9.5);
    assert.ok(site.database.mean.get("mails")! >= 9.5);
  });
});

Deno.test("workers that hold several connections get whole shares, and no pool starves", async () => {
  await onSite(async (site) => {
    const few = { db: { connections: 5 } };
    const pools = { mails: site.pool("mails", 2), reports: site.pool("reports", 3) };
    const sluice = await site.start({ downstreams: few, pools });
    post(sluice, "mails", 500);
    post(sluice, "reports", 500);
    await site.pass(1000);
    site.database.reset();
    await site.pass(3000);

    assert.equal(site.database.most, 5);
    assert.ok(site.database.mean.get("mails")! >= 1.9);
    assert.ok(site.database.mean.get("reports")! >= 2.8);
  });
});

for (const [connections, uses] of [[1, [1, 1]], [2, [2, 1, 1]], [1, [1, 1, 1]]] as const) {
  Deno.test(`with ${connections} for ${uses.length} pools each gets its turns, none more than there are`, async () => {
    await onSite(async (site) => {
      const names = uses.map((_, index) => `pool${index}`);
      const few = { db: { connections } };
      const pools = Object.fromEntries(
        uses.map((each, at) => [names[at]!, site.pool(names[at]!, each)]),
      );
      for (let count = 0; count < 2; count++) {
        const sluice = await site.start({ downstreams: few, pools });
        for (const name of names) post(sluice, name, 2000, 20);
      }
      await site.pass(30_000);
      const { most, mean } = site.database;
      const shares = names.map((name) => (mean.get(name) ?? 0) / connections);

      assert.equal(most, connections);
      assert.ok(shares.every((share) => share >= 0.6 / uses.length), `${shares}`);
      assert.ok(shares.reduce((sum, share) => sum + share, 0) >= 0.75, `${shares}`);
    });
  });
}

Deno.test("what a killed process held is free once its lease is over, and not before", async () => {
  await onSite(async (site) => {
    const own = new VirtualClock();
    const first = await site.start({ downstreams, pools: { mails: site.pool("mails") } });
    const dying = await site.start(
      { downstreams, pools: { reports: site.pool("reports", 1, {}, own) } },
      own,
    );
    post(first, "mails", 3000);
    post(dying, "reports", 3000);
    await site.pass(2000);
    assert.deepEqual([...site.database.used.values()], [10, 10]);
    await site.pass(1900, [own]);
    assert.equal(site.database.used.get("mails"), 10);
    await site.pass(1500, [own]);

    assert.equal(site.database.used.get("mails"), 20);
  });
});

Deno.test("pools of one process that is alone lose nothing to each other, however long it is suspended", async () => {
  const site = new Site();
  const clock = new SkewedClock(site.clock, 0);
  const pools = {
    mails: site.pool("mails", 1, { timeoutMs: 1e9 }, clock),
    reports: site.pool("reports", 1, { timeoutMs: 1e9 }, clock),
  };
  const sluice = await start({ downstreams, pools }, { clock, seed: 1 });
  await site.clock.advance(500);
  post(sluice, "mails", 50, 100_000);
  post(sluice, "reports", 50, 100_000);
  await site.clock.advance(1000);
  const before = [...site.database.used];
  assert.equal(site.database.all, 20);
  for (const forMs of [5_000, 40_000]) {
    clock.stall(forMs);
    await site.clock.advance(forMs);
    clock.stall(0);
    await site.clock.advance(1000);

    assert.deepEqual([...site.database.used], before);
    assert.equal(site.database.most, 20);
  }
  const stopped = sluice.stop();
  await site.clock.advance(200_000);
  await stopped;
});

Deno.test("a reload changes the number, down and up, and nothing exceeds it", async () => {
  await onSite(async (site) => {
    const pools = { mails: site.pool("mails"), reports: site.pool("reports") };
    const sluice = await site.start({ downstreams, pools });
    post(sluice, "mails", 5000);
    post(sluice, "reports", 5000);
    await site.pass(1000);
    assert.equal(site.database.all, 20);
    for (const connections of [6, 12, 4, 30]) {
      const report = await sluice.reload({
        store: "shared",
        downstreams: { db: { connections } },
        pools,
      });
      assert.deepEqual(report.changes.map(({ pointer }) => pointer), [
        "/pools/mails/uses/db",
        "/pools/reports/uses/db",
      ]);
      await site.pass(200);
      site.database.reset();
      await site.pass(1500);

      assert.equal(site.database.most, connections);
      assert.ok(site.database.mean.values().every((mean) => mean >= 0.45 * connections));
    }
  });
});

Deno.test("a pool that uses a downstream no more keeps its permits until jobs that run have ended", async () => {
  await onSite(async (site) => {
    const pools = { mails: site.pool("mails"), reports: site.pool("reports") };
    const sluice = await site.start({ downstreams, pools });
    post(sluice, "reports", 10, 3000);
    await site.pass(500);
    post(sluice, "mails", 2000);
    await site.pass(500);
    assert.deepEqual([...site.database.used.values()], [10, 10]);
    const { uses: _, ...free } = pools.reports;
    await sluice.reload({ store: "shared", downstreams, pools: { ...pools, reports: free } });
    await site.pass(1500);
    assert.equal(site.database.most, 20);
    await site.pass(2000);
    assert.equal(site.database.used.get("mails"), 20);
    const back = { mails: pools.mails, reports: { ...pools.reports, uses: { db: 2 } } };
    await sluice.reload({ store: "shared", downstreams, pools: back });
    post(sluice, "reports", 500);
    await site.pass(1500);

    assert.equal(site.database.used.get("mails"), 10);
    assert.equal(sluice.pool("reports").snapshot().busy, 5);
  });
});

Deno.test("while processes know of different numbers the least holds", async () => {
  await onSite(async (site) => {
    const pools = { mails: site.pool("mails"), reports: site.pool("reports") };
    const fewer = { db: { connections: 8 } };
    const first = await site.start({ downstreams, pools });
    post(first, "mails", 5000);
    post(first, "reports", 5000);
    await site.pass(1000);
    assert.equal(site.database.all, 20);
    const second = await site.start({ downstreams: fewer, pools });
    await site.pass(500);
    site.database.reset();
    await site.pass(1500);
    assert.equal(site.database.most, 8);
    assert.ok(site.database.mean.values().reduce((sum, mean) => sum + mean, 0) >= 7.5);
    const stopping = second.stop();
    await site.pass(1000);
    await stopping;
    await site.pass(1000);

    assert.equal(site.database.all, 20);
  });
});

const bounds = [
  { name: "downstream", bound: (each: number) => ({ uses: { db: each } }) },
  {
    name: "cap over processes",
    bound: (each: number) => ({
      caps: [{
        use: "db-pool-cap",
        with: { connections: 20, perWorker: each },
        scope: "cluster" as const,
      }],
    }),
  },
];

for (const { name, bound } of bounds) {
  Deno.test(`a reload that brings a ${name} keeps the workers that the pool has, also with a slow store`, async () => {
    const clock = new VirtualClock();
    const late = new LateState(() => clock, 20);
    const shared = defineStore({ name: "shared", create: () => late });
    const site = new Site();
    const handler = sleeper(() => clock, 50);
    const { uses: _, ...plain } = site.pool("mails", 1, { handler, size: { min: 4, max: 8 } });
    const config = { store: "shared", downstreams, pools: { mails: plain } };
    const starts = starting(start(config, { clock, seed: 1, plugins: { shared } }));
    await clock.advance(500);
    const sluice = await starts;
    const ids = (): readonly string[] =>
      sluice.pool("mails").snapshot().workers.map(({ id }) => id);
    const before = ids();
    assert.equal(before.length, 4);

    await sluice.reload({ ...config, pools: { mails: { ...plain, ...bound(1) } } });
    await clock.advance(2000);
    assert.deepEqual(ids(), before);
    await sluice.reload({ ...config, pools: { mails: { ...plain, ...bound(10) } } });
    await clock.advance(2000);
    assert.equal(ids().length, 2);
    late.fails = true;
    const stopped = sluice.stop();
    await clock.advance(120_000);
    await stopped;
  });
}
