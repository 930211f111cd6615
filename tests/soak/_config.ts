/** The config of the soak: many options of lanes at once. */

/** Name of the folder that the database is in. */
export const DATA = "data";

/** How long a stop waits for running jobs, ms. */
export const DRAIN_MS = 3000;

/** A process that has not renewed for so long is dead, ms. */
export const LEASE_MS = 2000;

/** Lanes of the pool, and which of them limits by key. */
export const LANES = ["plain", "keyed", "later", "tight"] as const;

/** Writes the config and its handler into a folder. */
export async function writeConfig(folder: string): Promise<void> {
  const handler = new URL("./_handler.ts", import.meta.url).href;
  await Deno.writeTextFile(`${folder}/handler.ts`, `export * from "${handler}";\n`);
  await Deno.mkdir(`${folder}/${DATA}`, { recursive: true });
  const backoff = { baseMs: 50, maxMs: 500 };
  const rest = { backoff, attempts: 200 };
  const config = {
    store: { use: "deno-kv", with: { path: `./${DATA}/queue.db` } },
    admin: { port: 0 },
    pools: {
      work: {
        handler: { use: "./handler.ts#work" },
        size: { min: 1, max: 40 },
        lanes: [
          { name: "tight", targetWaitMs: 100, maxRunning: 5, weight: 2, ...rest },
          { name: "plain", maxDepth: 20_000, ...rest },
          { name: "keyed", maxRunningPerKey: 1, ...rest },
          { name: "later", targetWaitMs: null, backoff, attempts: 200 },
        ],
        caps: [{ use: "fixed-cap", with: { workers: 60 }, scope: "cluster" }],
        keep: { done: 1_000_000, dead: 1_000_000, forMs: 1e12 }, // clocks step by a day
        schedules: [{ lane: "later", cron: "*/7 * * * * *", payload: scheduled() }],
        leaseMs: LEASE_MS,
        timeoutMs: 10_000,
        drainMs: DRAIN_MS,
      },
    },
  };
  await Deno.writeTextFile(`${folder}/pools.json`, JSON.stringify(config, undefined, 2));
}

function scheduled(): unknown {
  return { n: -2, ms: 1, end: "ok", pad: "", resultBytes: 0 };
}
