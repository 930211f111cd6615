/** Takes jobs in over HTTP, one after the other, and waits for each: `_walk.ts STORE JOBS`. */

import { start } from "../mod.ts";

const [store = "memory", jobs = "1"] = Deno.args;
const folder = await Deno.makeTempDir();
try {
  await using sluice = await start({
    admin: { port: 0 },
    ...store === "memory" ? {} : { store: { use: "deno-kv", with: { path: `${folder}/q.db` } } },
    pools: {
      walk: {
        handler: () => new Promise((resolve) => setTimeout(resolve, 20)),
        size: { min: 2, max: 2 },
        lanes: [{ name: "lane" }],
      },
    },
  });
  for (let job = 0; job < Number(jobs); job++) {
    const response = await fetch(`${sluice.adminUrl}/api/pools/walk/jobs?waitMs=5000`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ lane: "lane", payload: job }),
    });
    const { outcome } = await response.json();
    if (outcome?.state !== "done") throw new Error(`Job ${job} came to ${JSON.stringify(outcome)}`);
  }
} finally {
  await Deno.remove(folder, { recursive: true });
}
