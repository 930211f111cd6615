import { startServer, TOKEN } from "../../_kvconnect/server.ts";
import { Fleet, sleep } from "./_fleet.ts";
import { withFolder } from "./_store.ts";

const JOBS = 400;
const WORKERS = 4;
const LEASE_MS = 3000;

Deno.test("Processes lose no job and end none twice over KV Connect, though they are killed and the line is bad", async () => {
  Deno.env.set("DENO_KV_ACCESS_TOKEN", TOKEN);
  await withFolder(async (folder) => {
    await using server = startServer({ maxChecks: 10, latencyMs: 2 });
    const options = { leaseMs: LEASE_MS, aheadMs: 40_000, faultEvery: 0, oddShare: 0.05 };
    const fleet = await Fleet.open(folder, options, server.url);
    try {
      for (let added = 0; added < JOBS; added += 100) await fleet.add(100);
      server.knobs.fate = () => {
        const chance = Math.random();
        return chance < 0.01 ? "refuse" : chance < 0.03 ? "lose" : chance < 0.05 ? "cut" : "answer";
      };
      for (let worker = 0; worker < WORKERS; worker++) fleet.start();
      for (let harm = 0; harm < 2; harm++) {
        await sleep(1500);
        await fleet.kill(fleet.live[0]!, "SIGKILL");
        server.line.cut();
        fleet.start();
      }
      await fleet.finish();
      server.knobs.fate = undefined;
      await fleet.check();
    } finally {
      server.knobs.fate = undefined;
      await fleet.close();
    }
  });
});
