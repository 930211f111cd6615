import assert from "node:assert/strict";
import type { ConfigInput } from "../../src/config/input.ts";
import { onSite, post, type Site } from "./_site.ts";

/** An API that notes each call. */
class Api {
  readonly calls: { readonly atMs: number; readonly pool: string }[] = [];

  /** A pool whose jobs make `each` calls at once. */
  pool(site: Site, name: string, each = 1): ConfigInput["pools"][string] {
    const handler = (): void => {
      for (let count = 0; count < each; count++) {
        this.calls.push({ atMs: site.clock.nowMs(), pool: name });
      }
    };
    return { ...site.pool(name), handler, uses: { api: each } };
  }

  /** Most calls in any half-open window of `perMs`. */
  most(perMs: number): number {
    let from = 0;
    return this.calls.reduce((most, { atMs }, index) => {
      while (this.calls[from]!.atMs + perMs <= atMs) from++;
      return Math.max(most, index - from + 1);
    }, 0);
  }

  /** Calls a second of one pool, or all, after `sinceMs`. */
  perSec(site: Site, sinceMs: number, pool?: string): number {
    const { length } = this.calls.filter((call) =>
      call.atMs >= sinceMs && (pool === undefined || call.pool === pool)
    );
    return length * 1000 / (site.clock.nowMs() - sinceMs);
  }
}

for (const processes of [1, 2]) {
  Deno.test(`pools share the rate of a downstream: never more calls, each an even part, in ${processes} processes`, async () => {
    await onSite(async (site) => {
      const api = new Api();
      const downstreams = { api: { rates: [{ calls: 50, perMs: 1000 }] } };
      const pools = { mails: api.pool(site, "mails"), texts: api.pool(site, "texts", 3) };
      for (let count = 0; count < processes; count++) {
        const sluice = await site.start({ downstreams, pools });
        post(sluice, "mails", 1000);
        post(sluice, "texts", 400);
      }
      await site.pass(4000);
      const sinceMs = site.clock.nowMs();
      await site.pass(10_000);

      assert.ok(api.most(1000) <= 48, `${api.most(1000)}`); // headroom 4 %
      assert.ok(api.perSec(site, sinceMs) >= 45, `${api.perSec(site, sinceMs)}`);
      assert.ok(api.perSec(site, sinceMs, "mails") >= 22, `${api.perSec(site, sinceMs, "mails")}`);
      assert.ok(api.perSec(site, sinceMs, "texts") >= 20, `${api.perSec(site, sinceMs, "texts")}`);
    });
  });
}

Deno.test("a rate goes to the pool that has work, and what binds it is named", async () => {
  await onSite(async (site) => {
    const api = new Api();
    const downstreams = { api: { rates: [{ calls: 50, perMs: 1000 }] } };
    const pools = { mails: api.pool(site, "mails"), texts: api.pool(site, "texts") };
    const sluice = await site.start({ downstreams, pools });
    await site.pass(200);
    for (const pool of ["mails", "texts"]) {
      post(sluice, pool, 300);
      await site.pass(2500);
      const sinceMs = site.clock.nowMs();
      await site.pass(2000);
      assert.ok(api.perSec(site, sinceMs, pool) >= 43, `${api.perSec(site, sinceMs, pool)}`);
      assert.equal(sluice.pool(pool).snapshot().rateBound, true);
      const { samples } = sluice.pool(pool).history();
      assert.ok(samples.some(({ boundBy }) => boundBy === "downstream:api"));
      await site.pass(5000);
    }
    assert.ok(api.most(1000) <= 48);
  });
});

Deno.test("several rates of a downstream all hold, and connections beside them", async () => {
  await onSite(async (site) => {
    const api = new Api();
    const rates = [{ calls: 20, perMs: 1000 }, { calls: 50, perMs: 5000 }];
    const pools = { mails: api.pool(site, "mails"), texts: api.pool(site, "texts") };
    const sluice = await site.start({ downstreams: { api: { connections: 3, rates } }, pools });
    post(sluice, "mails", 500);
    post(sluice, "texts", 500);
    await site.pass(20_000);

    assert.ok(api.most(1000) <= 20);
    assert.ok(api.most(5000) <= 50);
    assert.ok(api.calls.length >= 160, `${api.calls.length}`);
    const live = ["mails", "texts"].map((pool) => sluice.pool(pool).snapshot().live);
    assert.ok(live[0]! + live[1]! <= 3, `${live}`);
  });
});

Deno.test("pools share a rate of one call in ten seconds: none makes another in the same", async () => {
  await onSite(async (site) => {
    const api = new Api();
    const downstreams = { api: { rates: [{ calls: 1, perMs: 10_000 }] } };
    const pools = { mails: api.pool(site, "mails"), texts: api.pool(site, "texts") };
    for (let count = 0; count < 2; count++) {
      const sluice = await site.start({ downstreams, pools });
      post(sluice, "mails", 20);
      post(sluice, "texts", 20);
    }
    await site.pass(200_000);

    assert.equal(api.most(10_000), 1);
    assert.ok(api.calls.length >= 15, `${api.calls.length}`);
  });
});
