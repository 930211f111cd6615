/**
 * Makes the pictures of the README: the page of a pool a moment after a spike, and a simulation of
 * the example. `deno task pictures`; it wants a Chromium, as the tests here do.
 *
 * @module
 */

import { chromium } from "playwright-core";
import { start } from "../../mod.ts";
import { main } from "../../src/cli/main.ts";
import type { Job } from "../../src/contract/job.ts";

/** Jobs a second, one after the other. */
const RATES = [50, 350, 50] as const;

/** How long each lasts, ms. */
const PHASE_MS = 20_000;

/** Time between two posts, ms. */
const BEAT_MS = 20;

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const browser = await chromium.launch({
  executablePath: Deno.env.get("CHROMIUM") ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
});
await using _closed = { [Symbol.asyncDispose]: () => browser.close() };
const page = await browser.newPage({ viewport: { width: 960, height: 800 } });
await using sluice = await start({
  admin: { port: 0 },
  pools: {
    webhooks: {
      handler: async ({ lane }: Job) => await wait(lane === "urgent" ? 20 : 60),
      size: { min: 2, max: 24 },
      lanes: [{ name: "urgent", targetWaitMs: 50 }, { name: "batch", targetWaitMs: 1000 }],
    },
  },
});
await page.goto(`${sluice.adminUrl}/pools/webhooks`);
for (const perSec of RATES) {
  const endMs = performance.now() + PHASE_MS;
  let due = 0;
  for (let beat = 0; performance.now() < endMs; beat++) {
    for (due += perSec * BEAT_MS / 1000; due >= 1; due--) {
      sluice.post("webhooks", { lane: (beat + due) % 5 < 1 ? "urgent" : "batch", payload: beat });
    }
    await wait(BEAT_MS);
  }
}
await wait(3000); // the charts have been drawn
await page.screenshot({ path: "pictures/dashboard.png" });
await main([
  "simulate",
  "pools.example.json",
  "examples/spike.scenario.json",
  "--svg",
  "pictures/simulation.svg",
]);
