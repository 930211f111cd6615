/** What goes together where callers and workers keep step: one commit adds, ends and leases. */

import assert from "node:assert/strict";
import { audit } from "../../../stores/deno_kv/doctor/audit.ts";
import { openCounted } from "./_counted.ts";
import { end, entry, NOW, openQueue } from "./_store.ts";

const CALLERS = 100;
const ROUNDS = 20;

for (const ahead of [0, 100, 500]) {
  const title =
    `${CALLERS} callers in step with workers that have ${ahead} jobs ahead take a commit a round`;
  Deno.test(title, async () => {
    const { kv, store, cost } = await openCounted();
    try {
      const queue = await openQueue(store, { keep: { done: 10_000, dead: 10, forMs: Infinity } });
      const add = () => queue.add(Array.from({ length: CALLERS }, () => entry()), NOW);
      await add();
      await add();
      const held = [...await queue.lease([CALLERS + ahead], NOW, [ahead])];
      cost();
      let ended = 0;
      for (let round = 0; round < ROUNDS; round++) {
        const adding = add();
        const over = held.splice(0, CALLERS);
        const ending = queue.settle(over.map((job) => end(job)), NOW);
        // They ask for more once no job is left that they hold.
        if (held.length === 0) held.push(...await queue.lease([CALLERS + ahead], NOW, [ahead]));
        await adding;
        ended += (await ending).filter(Boolean).length;
      }

      assert.equal(ended, ROUNDS * CALLERS);
      assert.equal(cost().commits, ROUNDS);
      assert.deepEqual(await audit(kv, "p"), []);
    } finally {
      await store.close();
    }
  });
}
