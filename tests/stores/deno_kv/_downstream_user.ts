/**
 * A process with two pools that share 12 connections: enqueues jobs for both, and writes down when each
 * takes its connections and gives them back.
 */

import { start } from "../../../mod.ts";

const [folder, name] = Deno.args as [string, string];
const file = await Deno.open(`${folder}/log`, { create: true, append: true });
const note = (sign: string, pool: string, each: number): void => {
  file.writeSync(new TextEncoder().encode(`${sign} ${name} ${pool} ${each}\n`));
};

function pool(own: string, each: number) {
  return {
    handler: async (): Promise<void> => {
      note("+", own, each);
      await new Promise((resolve) => setTimeout(resolve, 20));
      note("-", own, each);
    },
    size: { min: 1, max: 20 },
    lanes: [{ name: "all", targetWaitMs: 10 }],
    uses: { db: each },
    adaptive: false,
    admission: "admit-all",
    leaseMs: 3000,
  };
}

const sluice = await start({
  store: { use: "deno-kv", with: { path: `${folder}/queue.db`, pollMs: 50 } },
  downstreams: { db: { connections: 12 } },
  pools: { mails: pool("mails", 1), reports: pool("reports", 2) },
});
for (const own of ["mails", "reports"] as const) {
  await sluice.pool(own).enqueueAll(
    Array.from({ length: 5000 }, () => ({ lane: "all", payload: 0 })),
  );
}
