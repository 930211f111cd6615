/** Counting again what was damaged, while others go on. */

import assert from "node:assert/strict";
import { audit } from "../../../../stores/deno_kv/doctor/audit.ts";
import { deafStore, twinOf } from "../_commits.ts";
import { end, entry, NOW, openQueue } from "../_store.ts";

const P = ["sluice", "pool", "p"];
const OPTIONS = {
  lanes: [{ name: "k", maxRunningPerKey: 1 }],
  attempts: [9],
  leaseMs: 1000,
};

/** Calls `meanwhile` once, right before the handle lists what begins with a part. */
function beforeListing(kv: Deno.Kv, part: string, meanwhile: () => Promise<unknown>): void {
  const list = kv.list.bind(kv);
  let isOver = false;
  const listed = async function* (
    selector: Deno.KvListSelector,
    options?: Deno.KvListOptions,
  ): AsyncGenerator<Deno.KvEntry<unknown>> {
    if (!isOver && "prefix" in selector && selector.prefix[3] === part) {
      isOver = true;
      await meanwhile();
    }
    yield* list(selector, options);
  };
  Object.assign(kv, { list: listed });
}

for (
  const [what, part] of [
    ["goes back between the looks at ready jobs and at leases", "l"],
    ["is leased between two looks", "q"],
  ] as const
) {
  Deno.test(`recountLane() takes no place of a key away, nor makes one, when a job ${what}`, async () => {
    using kv = await Deno.openKv(":memory:");
    using other = await twinOf(kv);
    const queue = await openQueue(deafStore(kv, () => 0.1), OPTIONS);
    const jobs = ["first", "second"].map((payload) => entry({ payload, key: "same" }));
    await queue.add(jobs, NOW);
    if (part === "l") assert.equal((await queue.lease([1], NOW + 1)).length, 1);
    const beside = await openQueue(deafStore(other, () => 0.1), { ...OPTIONS, nowMs: NOW + 2 });
    await kv.set([...P, "c", 0, "q"], "no counter"); // so that the lane is counted again
    beforeListing(other, part, async () => {
      if (part === "l") await queue.leave(NOW + 3);
      else await queue.lease([1], NOW + 3);
    });

    for (let look = 0; look < 3; look++) await beside.count(NOW + 4 + look);

    assert.deepEqual((await kv.get([...P, "k", 0, "same"])).value, [1, 1, NOW]);
    assert.deepEqual(await audit(kv, "p"), []);
    if (part === "l") {
      const [first, ...rest] = await beside.lease([2], NOW + 9);
      assert.deepEqual(rest, []);
      await beside.settle([end(first!)], NOW + 10);
    }
    await beside.leave(NOW + 20);
    if (part === "q") await queue.leave(NOW + 20);
  });
}
