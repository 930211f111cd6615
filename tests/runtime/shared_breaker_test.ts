import assert from "node:assert/strict";
import type { ConfigInput } from "../../src/config/input.ts";
import { Fatal, RetryLater } from "../../src/contract/errors.ts";
import type { JobContext } from "../../src/contract/job.ts";
import { onSite, post, type Site } from "./_site.ts";

/** A mail server that refuses for a while, and counts who calls. */
class Receiver {
  state: "up" | "busy" | "gone" = "up";
  askedMs: number | undefined;
  readonly calls = new Map<string, number>();

  /** A handler that calls it. `named`: it says which downstream was overloaded. */
  called(pool: string, named = false): (job: unknown, context: JobContext) => void {
    return (_, context) => {
      this.calls.set(pool, (this.calls.get(pool) ?? 0) + 1);
      if (this.state === "gone") throw new Fatal("gone", { gone: true });
      if (this.state === "up") return;
      if (named) context.overloaded(this.askedMs, "mailer");
      else context.overloaded(this.askedMs);
      throw new RetryLater(this.askedMs ?? 100, "not now");
    };
  }

  get all(): number {
    return this.calls.values().reduce((sum, count) => sum + count, 0);
  }
}

const downstreams = { mailer: { cooldown: { after: 3, minMs: 1000, maxMs: 8000 } } };

function pool(
  site: Site,
  handler: unknown,
  more: Partial<ConfigInput["pools"][string]> = {},
): ConfigInput["pools"][string] {
  const uses = { mailer: 1 };
  return { ...site.pool("x"), handler, uses, ...more } as ConfigInput["pools"][string]; // a handler of any shape
}

Deno.test("once a downstream refuses jobs of one pool none starts in any that uses it, and one asks", async () => {
  await onSite(async (site) => {
    const mailer = new Receiver();
    const pools = {
      mails: pool(site, mailer.called("mails")),
      alerts: pool(site, mailer.called("alerts")),
      other: pool(site, mailer.called("other"), { uses: {} }),
    };
    const sluice = await site.start({ downstreams, pools });
    await site.pass(100);
    Object.assign(mailer, { state: "busy", askedMs: 5000 });
    post(sluice, "mails", 3);
    await site.pass(100);
    assert.equal(mailer.calls.get("mails"), 3);
    post(sluice, "alerts", 20);
    post(sluice, "other", 1);
    await site.pass(4500);
    assert.equal(mailer.calls.get("alerts"), undefined);
    assert.equal(mailer.calls.get("other"), 1);
    const { breakers, holdUntilMs, heldBy } = sluice.pool("alerts").snapshot();
    assert.equal(heldBy, "mailer");
    assert.match(
      sluice.pool("alerts").snapshot().decision!.latest!,
      /downstream mailer says "not now"/,
    );
    assert.deepEqual(breakers.map(({ downstream, state }) => [downstream, state]), [[
      "mailer",
      "open",
    ]]);
    assert.ok(holdUntilMs > 0);
    mailer.state = "up";
    await site.pass(2000);

    assert.equal(mailer.calls.get("alerts"), 20);
    const told = site.events.flatMap((event) =>
      event.kind === "cooldown-began" || event.kind === "cooldown-ended"
        ? [`${event.kind} ${event.pool} ${event.downstream}`]
        : []
    );
    assert.deepEqual(told, [
      "cooldown-began mails mailer",
      "cooldown-began alerts mailer",
      "cooldown-ended mails mailer",
      "cooldown-ended alerts mailer",
    ]);
  });
});

Deno.test("while a downstream refuses, one job of all its pools asks at a time", async () => {
  await onSite(async (site) => {
    const mailer = new Receiver();
    const pools = {
      mails: pool(site, mailer.called("mails")),
      alerts: pool(site, mailer.called("alerts")),
    };
    const sluice = await site.start({ downstreams, pools });
    mailer.state = "busy";
    post(sluice, "mails", 50);
    post(sluice, "alerts", 50);
    await site.pass(1000);
    const opened = mailer.all;
    await site.pass(60_000);

    assert.ok(opened <= 8, `${opened} before it opened`);
    assert.ok(mailer.all - opened <= 60_000 / 8000 + 4, `${mailer.all - opened} asked`);
  });
});

Deno.test("other processes hear that a downstream refuses, those without a pool of that name too", async () => {
  await onSite(async (site) => {
    const mailer = new Receiver();
    const first = await site.start({
      downstreams,
      pools: { mails: pool(site, mailer.called("mails")) },
    });
    const second = await site.start({
      downstreams,
      pools: { alerts: pool(site, mailer.called("alerts")) },
    });
    await site.pass(100);
    Object.assign(mailer, { state: "busy", askedMs: 5000 });
    post(first, "mails", 3);
    await site.pass(300);
    post(second, "alerts", 20);
    await site.pass(4000);
    assert.equal(mailer.calls.get("alerts"), undefined);
    assert.equal(second.pool("alerts").snapshot().breakers[0]?.downstream, "mailer");
    mailer.state = "up";
    await site.pass(3000);
    assert.equal(mailer.calls.get("alerts"), 20);
    assert.deepEqual([first, second].map((sluice) => sluice.pools[0]!.snapshot().breakers), [
      [],
      [],
    ]);

    Object.assign(mailer, { state: "busy", askedMs: 5000 });
    post(first, "mails", 3);
    await site.pass(300);
    mailer.state = "up";
    await first.pool("mails").closeBreaker();
    await site.pass(300);
    assert.deepEqual(first.pool("mails").snapshot().breakers, []); // it does not hear its own word again
  });
});

Deno.test("a job that names the downstream that refused it holds pools of that one only", async () => {
  await onSite(async (site) => {
    const mailer = new Receiver();
    const two = { ...downstreams, sms: { cooldown: { after: 3 } } };
    const uses = { mailer: 1, sms: 1 };
    const pools = {
      named: pool(site, mailer.called("named", true), { uses }),
      mails: pool(site, mailer.called("mails")),
      texts: pool(site, mailer.called("texts"), { uses: { sms: 1 } }),
      unnamed: pool(site, mailer.called("unnamed"), { uses }),
    };
    const sluice = await site.start({ downstreams: two, pools });
    const held = (): readonly unknown[] =>
      Object.keys(pools).map((name) =>
        sluice.pool(name).snapshot().breakers.map(({ downstream }) => downstream)
      );
    Object.assign(mailer, { state: "busy", askedMs: 5000 });
    post(sluice, "unnamed", 3);
    await site.pass(100);
    assert.deepEqual(held(), [[], [], [], [undefined]]); // which one is not known: the pool's own
    post(sluice, "named", 3);
    await site.pass(100);

    assert.deepEqual(held(), [["mailer"], ["mailer"], [], ["mailer", undefined]]);
  });
});

Deno.test("a downstream that is gone holds its pools, and jobs wait for it; a reload without it frees them", async () => {
  await onSite(async (site) => {
    const mailer = new Receiver();
    const gone = { mailer: { cooldown: { gone: true } } };
    const pools = {
      mails: pool(site, mailer.called("mails")),
      alerts: pool(site, mailer.called("alerts")),
    };
    const sluice = await site.start({ downstreams: gone, pools });
    mailer.state = "gone";
    post(sluice, "mails", 1);
    await site.pass(100);
    assert.deepEqual(sluice.pool("alerts").snapshot().breakers.map(({ cause }) => cause), ["gone"]);
    post(sluice, "alerts", 5);
    await site.pass(1000);
    assert.equal(mailer.all, 1);
    mailer.state = "up";
    const free = { ...pools, alerts: { ...pools.alerts, uses: {} } };
    const { changes } = await sluice.reload({ store: "shared", downstreams: gone, pools: free });
    assert.deepEqual(changes.map(({ pointer, change }) => `${change} ${pointer}`), [
      "removed /pools/alerts/uses/mailer",
    ]);
    await site.pass(1000);

    assert.deepEqual(mailer.calls.get("alerts"), 5);
    assert.equal(sluice.pool("mails").snapshot().breakers.length, 1);
  });
});

Deno.test("a job that fails is counted by the downstream that it says failed", async () => {
  await onSite(async (site) => {
    const rules = { cooldown: { failures: 4 } };
    const handler = (_: unknown, context: JobContext): void => {
      context.used("mailer", { ok: true });
      context.used("sms", { ok: false });
      throw new Error("no answer");
    };
    const uses = { mailer: 1, sms: 1 };
    const pools = {
      both: pool(site, handler, { uses }),
      texts: pool(site, () => {}, { uses: { sms: 1 } }),
      mails: pool(site, () => {}),
    };
    const sluice = await site.start({ downstreams: { mailer: rules, sms: rules }, pools });
    post(sluice, "both", 4);
    await site.pass(100);

    const causes = Object.keys(pools).map((name) =>
      sluice.pool(name).snapshot().breakers.map(({ downstream, cause }) => `${downstream} ${cause}`)
    );
    assert.deepEqual(causes, [["sms failures"], ["sms failures"], []]);
  });
});
