import assert from "node:assert/strict";
import { end, entry, NOW, openQueue, withStore } from "../_store.ts";

/** A queue with one lane whose jobs run one of a key at a time. */
const LIMITED = {
  lanes: [{ name: "a", maxRunningPerKey: 1 }],
  keep: { done: 1e5, dead: 1e5, forMs: Infinity },
};

for (const count of [2, 300, 1000]) {
  for (const keys of [1, 5]) {
    Deno.test(`${count} jobs of ${keys} keys that expire at once leave no key blocked`, async () => {
      await withStore(async (store) => {
        const queue = await openQueue(store, LIMITED);
        const jobs = Array.from(
          { length: count },
          (_, index) =>
            entry({ key: `key${index % keys}`, dueAtMs: NOW + 1000, expiresAtMs: NOW + 1001 }),
        );
        await queue.add(jobs, NOW);
        await queue.add([entry({ key: "key0", payload: "last", dueAtMs: NOW + 1002 })], NOW);

        let nowMs = NOW + 1001;
        const ran: unknown[] = [];
        for (let turns = 0; turns < 60 && ran.length === 0; turns++, nowMs++) {
          await queue.count(nowMs);
          for (const job of await queue.lease([10], nowMs)) {
            ran.push(job.payload);
            await queue.settle([end(job)], nowMs);
          }
        }
        const [lane] = await queue.count(nowMs);

        assert.deepEqual(ran, ["last"]);
        assert.deepEqual([lane?.ready, lane?.blocked, lane?.delayed, lane?.running], [0, 0, 0, 0]);
        await queue.leave(nowMs);
      });
    });
  }
}
