import assert from "node:assert/strict";
import { parse } from "jsonc-parser";
import { sendLoad } from "../../examples/load.ts";
import { type Receiver, startReceiver } from "../../examples/receiver.ts";
import { start } from "../../mod.ts";
import type { ConfigInput } from "../../src/config/input.ts";
import type { Sluice } from "../../src/runtime/handles.ts";
import { ROOT } from "../_source.ts";

interface Example {
  readonly sluice: Sluice;
  readonly adminUrl: string;
  readonly webhooks: Receiver;
  readonly limited: Receiver;
}

/** Runs the example's config on free ports. */
async function withExample(body: (example: Example) => Promise<void>): Promise<void> {
  const webhooks = startReceiver({ port: 0, ratePerSec: 1000, serviceMs: 5 });
  const limited = startReceiver({ port: 0, ratePerSec: 100, serviceMs: 5 });
  const text = (await Deno.readTextFile(new URL("pools.example.json", ROOT)))
    .replace("http://127.0.0.1:8788", webhooks.url)
    .replace("http://127.0.0.1:8789", limited.url)
    .replace('"port": 8787', '"port": 0');
  try {
    await using sluice = await start(parse(text) as ConfigInput); // checked by `start`
    await body({ sluice, adminUrl: sluice.adminUrl ?? "", webhooks, limited });
  } finally {
    await Promise.all([webhooks.stop(), limited.stop()]);
  }
}

Deno.test("the example delivers a job that was posted, and shows it done", async () => {
  await withExample(async ({ adminUrl, webhooks }) => {
    const posted = await fetch(`${adminUrl}/api/pools/webhooks/jobs?waitMs=10000`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ lane: "urgent", payload: { event: "order.paid", order: 1 } }),
    });
    const { id } = await posted.json();
    const found = await (await fetch(`${adminUrl}/api/jobs/${id}`)).json();

    assert.equal(found.state, "done");
    assert.deepEqual(found.result, { status: 200 });
    assert.deepEqual(webhooks.stats().lanes, { urgent: 1 });
  });
});

Deno.test("the example's limited receiver never sees more than its rate in any second", async () => {
  await withExample(async ({ sluice, limited }) => {
    const jobs = Array.from({ length: 150 }, (_, order) => ({ lane: "batch", payload: { order } }));

    const taken = await sluice.pool("limited").enqueueAll(jobs);
    const outcomes = await Promise.all(
      taken.map((job) => job instanceof Error ? job.name : job.done.then(({ state }) => state)),
    );

    const done = outcomes.filter((outcome) => outcome === "done").length;
    const { arrived, mostInAnySecond, refused } = limited.stats();
    assert.equal(arrived, done);
    assert.ok(done > 100);
    assert.ok(mostInAnySecond <= 100, `${mostInAnySecond} in one second`);
    assert.equal(refused, 0);
  });
});

Deno.test("sendLoad() sends what its phases say and ends when the pool is empty", async () => {
  await withExample(async ({ sluice, adminUrl, webhooks }) => {
    const lines: string[] = [];

    await sendLoad({
      adminUrl,
      pool: "webhooks",
      phases: [{ perSec: 100, seconds: 0.3 }],
      lanes: { urgent: 1, batch: 4 },
      print: (line) => lines.push(line),
    });

    assert.equal(lines.at(-1), "Done: 30 jobs done, 0 shed, 2 workers live");
    assert.deepEqual(webhooks.stats().lanes, { urgent: 6, batch: 24 });
    assert.equal(sluice.pool("webhooks").snapshot().totals.completions, 30);
  });
});

Deno.test("sendLoad() refuses a lane that the pool does not have", async () => {
  await withExample(async ({ adminUrl }) => {
    const load = { adminUrl, pool: "webhooks", lanes: { bach: 1 }, print: () => {} };

    await assert.rejects(sendLoad(load), {
      name: "TypeError",
      message: 'No lane is named "bach": the pool has urgent, batch',
    });
  });
});
