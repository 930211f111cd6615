/** Commits that were made in a file that was away just then. */

import assert from "node:assert/strict";
import { start } from "../../../../mod.ts";
import { StoreError } from "../../../../src/contract/errors.ts";
import { defineStore } from "../../../../src/contract/plugin.ts";
import { audit } from "../../../../stores/deno_kv/doctor/audit.ts";
import { Db } from "../../../../stores/deno_kv/io/db.ts";
import { checkSchema } from "../../../../stores/deno_kv/io/open.ts";
import { SameFile } from "../../../../stores/deno_kv/io/same_file.ts";
import { KvStore } from "../../../../stores/deno_kv/store.ts";
import type { Settlement } from "../../../../src/contract/store.ts";
import { throughCommits } from "../_commits.ts";
import { end, entry, NOW, openQueue, withFolder } from "../_store.ts";

const LEASE_MS = 1000;

/** A store whose file is moved away at the end of each commit while `isAway`, until it is brought back. */
async function openMovable(folder: string) {
  const path = `${folder}/queue.db`;
  const away = `${folder}/away.db`;
  const place = { isAway: false, back: () => Deno.rename(away, path) };
  const kv = await Deno.openKv(path);
  throughCommits(kv, async (commit) => {
    const answer = await commit();
    if (place.isAway) await Deno.rename(path, away);
    return answer;
  });
  const file = new SameFile(path);
  const db = new Db(kv, { remote: false, file, maxChecks: 100, random: () => 0.1 });
  await checkSchema(db);
  const store = new KvStore(db, { file: path, remote: false, pollMs: Infinity, seen: 0 });
  return { kv, store, place };
}

Deno.test("an add that is stored while the file is away says that it may be done", async () => {
  await withFolder(async (folder) => {
    const { store, place } = await openMovable(folder);
    const plugin = defineStore({ name: "away", create: () => store });
    await using sluice = await start({
      store: plugin,
      pools: { p: { handler: () => 1, size: { min: 0, max: 1 }, lanes: [{ name: "l" }] } },
    });
    const pool = sluice.pool("p");
    await pool.pause("l");

    place.isAway = true;
    const failure = await pool.enqueue({ lane: "l", payload: 1 }).catch((thrown) => thrown);
    place.isAway = false;
    const refused = await pool.enqueue({ lane: "l", payload: 2 }).catch((thrown) => thrown);
    await place.back();

    assert.ok(failure instanceof StoreError && refused instanceof StoreError);
    assert.deepEqual([failure.mayBeDone, refused.mayBeDone], [true, false]);
    const { jobs } = await pool.list({ limit: 10 });
    assert.deepEqual(jobs.map(({ payload }) => payload), [1]);
  });
});

for (const to of ["done", "retry", "back"] as const satisfies readonly Settlement["to"][]) {
  Deno.test(`an end (${to}) that is stored while the file is away is not stored again once it is back`, async () => {
    await withFolder(async (folder) => {
      const { kv, store, place } = await openMovable(folder);
      const queue = await openQueue(store, {
        lanes: [{ name: "k", maxRunningPerKey: 1 }],
        attempts: [9],
        leaseMs: LEASE_MS,
      });
      const jobs = ["first", "second"].map((payload) => entry({ payload, key: "same" }));
      await queue.add([...jobs, entry({ payload: "plain" })], NOW);
      const [first, plain] = await queue.lease([2], NOW + 1);
      const ending = end(first!, to, { dueAtMs: NOW + 100 });

      place.isAway = true;
      await assert.rejects(Promise.resolve(queue.settle([ending], NOW + 2)), /queue.db is gone/);
      place.isAway = false;
      await place.back();
      assert.deepEqual(await queue.settle([ending, end(plain!)], NOW + 3), [false, false]);

      let ran = 0;
      for (let nowMs = NOW + 300; nowMs < NOW + 20 * LEASE_MS; nowMs += 300) {
        await queue.renew(nowMs);
        await queue.count(nowMs);
        const leased = await queue.lease([9], nowMs);
        assert.ok(leased.filter(({ key }) => key === "same").length <= 1, "two of a key");
        ran += leased.length;
        await queue.settle(leased.map((job) => end(job)), nowMs + 1);
      }
      assert.equal(ran, to === "done" ? 2 : 3); // each that had not ended, once
      assert.deepEqual(await audit(kv, "p"), []);
      await queue.leave(NOW + 30 * LEASE_MS);
      await store.close();
    });
  });
}
