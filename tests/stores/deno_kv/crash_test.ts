import { Fleet, sleep } from "./_fleet.ts";
import { withFolder } from "./_store.ts";

const JOBS = 4000;
const WORKERS = 3;
const HARMS = 5;
const LEASE_MS = 900;

// C1, C3, E2, E8 of the published cases. `deno task soak` does more of it.
Deno.test("deno-kv loses no job and ends none twice when its processes are killed or frozen", async () => {
  await withFolder(async (folder) => {
    const fleet = await Fleet.open(folder, {
      leaseMs: LEASE_MS,
      aheadMs: 40_000,
      faultEvery: 0,
      oddShare: 0.05,
    });
    try {
      for (let added = 0; added < JOBS; added += 500) await fleet.add(500);
      for (let worker = 0; worker < WORKERS; worker++) fleet.start();
      for (let harm = 0; harm < HARMS; harm++) {
        await sleep(500 + Math.random() * 500);
        const victim = fleet.live[0]!;
        if (harm % 2 === 0) await fleet.kill(victim, "SIGKILL");
        else await fleet.freeze(victim, 2.5 * LEASE_MS);
        fleet.start();
      }
      await fleet.finish();
      await fleet.check();
    } finally {
      await fleet.close();
    }
  });
});
