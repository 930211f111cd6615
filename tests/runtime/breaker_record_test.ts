import assert from "node:assert/strict";
import { RetryLater } from "../../src/contract/errors.ts";
import type { Job, JobContext } from "../../src/contract/job.ts";
import type { ConfigInput } from "../../src/config/input.ts";
import type { Sluice } from "../../src/runtime/handles.ts";
import { onSite, type Site } from "./_site.ts";

type Cooldown = NonNullable<ConfigInput["pools"][string]["cooldown"]>;

/** A receiver that refuses some keys, or all, for as long as it says. */
class Receiver {
  calls = 0;
  /** Which keys it refuses. */
  refuses: (key: string | undefined) => boolean = () => true;
  askedMs = 20_000;

  readonly handler = ({ key }: Job, context: JobContext): void => {
    this.calls++;
    if (!this.refuses(key)) return;
    context.overloaded(this.askedMs);
    throw new RetryLater(this.askedMs);
  };
}

function config(
  site: Site,
  { handler }: Receiver,
  { cooldown, downstreams }: { cooldown?: Cooldown; downstreams?: ConfigInput["downstreams"] } = {},
): ConfigInput {
  const uses = downstreams === undefined ? {} : { mailer: 1 };
  const pool = { ...site.pool("mails"), handler, uses, ...(cooldown && { cooldown }) };
  return { pools: { mails: pool }, ...(downstreams && { downstreams }) } as ConfigInput; // a handler of any shape
}

function post(sluice: Sluice, jobs: number, keys: readonly (string | undefined)[]): void {
  for (let index = 0; index < jobs; index++) {
    for (const key of keys) {
      sluice.post("mails", { lane: "all", payload: 0, ...(key === undefined ? {} : { key }) });
    }
  }
}

const of = {
  pool: { keys: [undefined], parts: {} },
  key: { keys: ["a"], parts: { cooldown: { by: "key" } as Cooldown } },
  downstream: {
    keys: [undefined],
    parts: { downstreams: { mailer: { cooldown: { after: 3 } } } },
  },
};

for (const [whose, { keys, parts }] of Object.entries(of)) {
  const key = keys[0];

  Deno.test(`A breaker of a ${whose} that is closed by hand in one process closes in all`, async () => {
    await onSite(async (site) => {
      const receiver = new Receiver();
      const all: Sluice[] = [];
      for (let count = 0; count < 3; count++) {
        all.push(await site.start(config(site, receiver, parts)));
      }
      await site.pass(100);
      for (const sluice of all) post(sluice, 20, keys);
      await site.pass(2000);
      const open = (): number[] =>
        all.map((sluice) => sluice.pool("mails").snapshot().breakers.length);
      assert.deepEqual(open(), [1, 1, 1]);
      receiver.refuses = () => false;
      const before = receiver.calls;

      assert.equal(await all[0]!.pool("mails").closeBreaker(key), true);
      await site.pass(20);
      post(all[2]!, 30, keys); // deferred ones may come later
      await site.pass(1000);
      assert.deepEqual(open(), [0, 0, 0]);
      assert.ok(receiver.calls > before + 20, `${receiver.calls - before} calls`);
      const by = site.events.flatMap((one) => one.kind === "cooldown-ended" ? [one.by] : []);
      assert.deepEqual(by, ["hand", "hand", "hand"]);
      assert.equal(await all[1]!.pool("mails").closeBreaker(key), false);
    });
  });

  Deno.test(`A process that starts later knows until when the breaker of a ${whose} is open`, async () => {
    await onSite(async (site) => {
      const receiver = new Receiver();
      const first = await site.start(config(site, receiver, parts));
      post(first, 50, keys);
      await site.pass(2000);
      const before = receiver.calls;
      const later = await site.start(config(site, receiver, parts));
      await site.pass(15_000);
      assert.equal(receiver.calls, before, "nothing starts");
      const [breaker] = later.pool("mails").snapshot().breakers;
      assert.equal(breaker?.cause, "overloaded");
      assert.equal(breaker?.key, key);

      // Another that starts closes it for the one that has opened it.
      receiver.refuses = () => false;
      assert.equal(await later.pool("mails").closeBreaker(key), true);
      post(first, 30, keys);
      await site.pass(1000);
      assert.ok(receiver.calls > before + 20, `${receiver.calls - before} calls`);
    });
  });
}

Deno.test("A process that never had an open breaker closes those of others", async () => {
  await onSite(async (site) => {
    const receiver = new Receiver();
    const looker = await site.start(config(site, receiver, of.key.parts));
    await looker.pool("mails").pause();
    const first = await site.start(config(site, receiver, of.key.parts));
    await first.pool("mails").resume();
    await site.pass(100);
    post(first, 20, ["a", "b"]);
    await site.pass(1000);
    assert.equal(await looker.pool("mails").closeBreaker("b"), true);
    await site.pass(20);

    const closed = site.events.filter(({ kind }) => kind === "cooldown-ended");
    assert.ok(closed.length >= 1 && closed.every((one) => "key" in one && one.key === "b"));
  });
});

Deno.test("A closing by hand that came before a breaker opened does not close it", async () => {
  await onSite(async (site) => {
    const receiver = new Receiver();
    const one = await site.start(config(site, receiver));
    const two = await site.start(config(site, receiver));
    await site.pass(100);
    assert.equal(await two.pool("mails").closeBreaker(), false);
    await site.pass(5000);
    post(one, 20, [undefined]);
    await site.pass(2000);

    const ended = site.events.filter(({ kind }) => kind === "cooldown-ended");
    assert.deepEqual(ended, []);
    assert.equal(one.pool("mails").snapshot().breakers.length, 1);
  });
});

Deno.test("Of 300 keys with long names those that are open for the longest are kept: a value of the store has its limit", async () => {
  await onSite(async (site) => {
    const receiver = new Receiver();
    const parts = { cooldown: { by: "key", after: 1, maxMs: 3_600_000 } as Cooldown };
    const first = await site.start(config(site, receiver, parts));
    const name = (index: number): string => `${index}`.padEnd(100, "x");
    post(first, 1, Array.from({ length: 300 }, (_, index) => name(index)));
    receiver.askedMs = 60_000;
    await site.pass(200);
    receiver.askedMs = 600_000;
    post(first, 1, Array.from({ length: 5 }, (_, index) => name(1000 + index)));
    await site.pass(200);
    const later = await site.start(config(site, receiver, parts));
    const known = later.pool("mails").snapshot().breakers.map((breaker) => breaker.key);

    for (let index = 0; index < 5; index++) assert.ok(known.includes(name(1000 + index)));
    assert.equal(known.length, 100);
  });
});
