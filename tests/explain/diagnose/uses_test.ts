import assert from "node:assert/strict";
import type { ConfigInput } from "../../../src/config/input.ts";
import type { Finding } from "../../../src/explain/diagnose.ts";
import type { JobContext } from "../../../src/contract/job.ts";
import { onSite, post } from "../../runtime/_site.ts";

/** What `doctor` says of a pool after a minute and a half of 20 jobs a second. */
async function said(
  handler: (job: unknown, context: JobContext) => unknown,
  uses: Readonly<Record<string, number>>,
  downstreams: ConfigInput["downstreams"],
): Promise<readonly Finding[]> {
  let found: readonly Finding[] = [];
  await onSite(async (site) => {
    const pool = { ...site.pool("mails"), handler, uses };
    const sluice = await site.start({ downstreams, pools: { mails: pool } } as ConfigInput); // a handler of any shape
    for (let second = 0; second < 90; second++) {
      post(sluice, "mails", 20);
      await site.pass(1000);
    }
    found = sluice.pool("mails").diagnosis().filter(({ code }) => code === "uses-drift");
  });
  return found;
}

const mailer = { mailer: { rates: [{ calls: 1000, perMs: 1000 }] } };

Deno.test("diagnose() says uses-drift, when jobs call a downstream more or less often than they say", async () => {
  const thrice = (_: unknown, context: JobContext): void => {
    for (const ok of [true, true, false]) context.used("mailer", { ms: 5, ok });
  };
  const [more] = await said(thrice, { mailer: 1 }, mailer);
  const [less] = await said(thrice, { mailer: 9 }, mailer);

  assert.equal(
    more?.saw,
    'A job calls downstream "mailer" 3 times, uses.mailer says 1: its rates are exceeded',
  );
  assert.equal(more?.change, "Set uses.mailer to 3");
  assert.equal(more.numbers.failed, more.numbers.ended);
  assert.match(less?.saw ?? "", /uses.mailer says 9: a part of its rates is unused$/);
  assert.equal(less?.change, "Set uses.mailer to 3");
  assert.deepEqual(await said(thrice, { mailer: 3 }, mailer), []);
});

Deno.test("diagnose() says uses-drift, when workers hold more connections than they say", async () => {
  await onSite(async (site) => {
    const held = (each: number) => async (_: unknown, context: JobContext): Promise<void> => {
      await new Promise<void>((resolve) => site.clock.at(site.clock.nowMs() + 20, resolve));
      for (let count = 0; count < each; count++) context.used("db", { ms: 20 });
    };
    const pools = {
      two: { ...site.pool("two"), handler: held(2) },
      one: { ...site.pool("one"), handler: held(1) },
    };
    const sluice = await site.start({ downstreams: { db: { connections: 20 } }, pools });
    for (let second = 0; second < 90; second++) {
      for (const name of ["two", "one"]) post(sluice, name, 20);
      await site.pass(1000);
    }
    const [two, one] = ["two", "one"].map((name) =>
      sluice.pool(name).diagnosis().filter(({ code }) => code === "uses-drift")
    );

    assert.match(
      two![0]!.saw,
      /^A worker that runs a job holds 2 connections of downstream "db", uses.db says 1/,
    );
    assert.equal(two![0]!.change, "Set uses.db to 2");
    assert.deepEqual(one, []);
  });
});

Deno.test("diagnose() says uses-drift of a downstream that the pool does not name, and nothing of a few jobs", async () => {
  const sms = (_: unknown, context: JobContext): void => context.used("sms");
  const [finding] = await said(sms, { mailer: 1 }, mailer);

  assert.match(
    finding?.saw ?? "",
    /^In [\d,]+ attempts jobs used downstream "sms" [\d,]+ times, which uses does not name/,
  );
  let rare = 0;
  const seldom = (_: unknown, context: JobContext): void => {
    if (rare++ === 0) context.used("mailer");
  };
  assert.deepEqual(await said(seldom, { mailer: 1 }, mailer), []);
});
