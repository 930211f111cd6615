/**
 * A process of the test of kills: runs the pools of a config, and enqueues jobs for them.
 */

import { start } from "../../../mod.ts";
import type { ConfigInput } from "../../../src/config/input.ts";

const [config = "{}", jobs = "{}"] = Deno.args;
const sluice = await start(JSON.parse(config) as ConfigInput); // the test's
for (const [pool, count] of Object.entries(JSON.parse(jobs) as Record<string, number>)) {
  const given = Array.from({ length: count }, (_, index) => ({ lane: "all", payload: { index } }));
  await sluice.pool(pool).enqueueAll(given);
}
