import assert from "node:assert/strict";
import { start } from "../../../mod.ts";
import { remoteStore, until, withServer } from "./_remote.ts";

// On Deno Deploy reads and writes cost money: what an idle pool asks for is stated in docs/deno-deploy.md.
Deno.test("A pool that has nothing to do reads three times and writes once a heartbeat", async () => {
  await withServer({}, async (server) => {
    const { requests } = server;
    const sluice = await start({
      store: { use: remoteStore(server, { pollMs: 3_600_000 }) },
      pools: {
        p: { handler: () => {}, size: { min: 1, max: 4 }, lanes: [{ name: "a" }], leaseMs: 600 },
      },
    });
    try {
      await (await sluice.enqueue("p", { lane: "a", payload: 1 })).done;
      const quiet = requests.atomic_write + 30; // the pool shrinks, and its ticks end
      await until(() => requests.atomic_write >= quiet);
      const before = { ...requests };

      await until(() => requests.atomic_write >= before.atomic_write + 10);

      const beats = requests.atomic_write - before.atomic_write;
      const reads = requests.snapshot_read - before.snapshot_read;
      // The heartbeats at both ends may be half done.
      assert.ok(reads <= 3 * (beats + 2), `${reads} reads in ${beats} heartbeats`);
    } finally {
      await sluice.stop();
    }
  });
});
