/**
 * A cap of a cluster where one process has all the work: how much of the cap it gets.
 *
 * @module
 */

import { start } from "../mod.ts";
import { delay } from "../src/base/async.ts";
import type { ConfigInput } from "../src/config/input.ts";
import type { Bench, Figures } from "./_bench.ts";

const WORKERS = 10;
const RUN_MS = 20;
const SETTLE_MS = 1000;
const DURATION_MS = 5000;

/** Figures: "perSec", jobs of 20 ms that ended, of 500 that 10 workers could do. */
export const uneven: Bench = {
  name: "uneven",
  about: "two pools on one file under a cluster cap of 10 workers, one of them with work",
  rounds: 3,
  cases: ["one of two"],
  measure,
  targets: [],
};

async function measure(): Promise<Figures> {
  await using stack = new AsyncDisposableStack();
  const folder = await Deno.makeTempDir();
  stack.defer(() => Deno.remove(folder, { recursive: true }));
  let ended = 0;
  const configOf = (lane: string): ConfigInput => ({
    store: { use: "deno-kv", with: { path: `${folder}/queue.db` } },
    pools: {
      p: {
        handler: async () => {
          await delay(RUN_MS);
          ended++;
        },
        size: { min: 1, max: WORKERS },
        lanes: [{ name: lane, targetWaitMs: 60_000 }],
        caps: [{ use: "fixed-cap", with: { workers: WORKERS }, scope: "cluster" }],
        admission: "admit-all",
        adaptive: false,
      },
    },
  });
  const busy = stack.use(await start(configOf("busy")));
  stack.use(await start(configOf("idle")));
  const most = WORKERS * (SETTLE_MS + DURATION_MS) / RUN_MS;
  const jobs = Array.from({ length: most + 100 }, () => ({ lane: "busy", payload: null }));
  for (let from = 0; from < jobs.length; from += 500) {
    await busy.pool("p").enqueueAll(jobs.slice(from, from + 500));
  }
  await delay(SETTLE_MS);
  const before = ended;
  await delay(DURATION_MS);
  return { perSec: (ended - before) * 1000 / DURATION_MS };
}
