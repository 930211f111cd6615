import assert from "node:assert/strict";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { ConfigInput, JobContext } from "../../mod.ts";
import { start } from "../../mod.ts";

const JOBS = 30;

/** What the pool works on at the moment: its latest jobs, and what is about to be dropped. */
const AT_HAND = 5;

const STORES: Readonly<Record<string, Pick<ConfigInput, "store">>> = {
  "in memory": {},
  "in deno-kv": { store: { use: "deno-kv", with: { path: ":memory:" } } },
};

/** How many of some objects are reachable still. */
async function reachable(objects: readonly WeakRef<object>[]): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve)); // a WeakRef holds its object for this turn
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  return objects.filter((object) => object.deref() !== undefined).length;
}

for (const [where, store] of Object.entries(STORES)) {
  Deno.test(`A pool keeps nothing of attempts that have ended, ${where}`, async () => {
    const attempts: WeakRef<object>[] = [];
    await using sluice = await start({
      ...store,
      pools: {
        p: {
          handler: (_job: unknown, context: JobContext) => void attempts.push(new WeakRef(context)),
          size: { min: 1, max: 1 },
          lanes: [{ name: "lane" }],
        },
      },
    });
    for (let job = 0; job < JOBS; job++) {
      await (await sluice.enqueue("p", { lane: "lane", payload: job })).done;
    }

    const kept = await reachable(attempts);

    assert.equal(attempts.length, JOBS);
    assert.ok(kept <= AT_HAND, `${kept} of ${JOBS} attempts are kept`);
  });
}
