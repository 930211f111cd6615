/**
 * Processes that claim short jobs from one file beside each other.
 *
 * @module
 */

import { delay } from "../src/base/async.ts";
import type { Bench, Figures } from "./_bench.ts";
import { type Child, runScript } from "./_child.ts";

/** More than they get done. */
const JOBS = 60_000;
const DURATION_MS = 4000;

/** Figures: "perSec", no-op jobs of all processes. */
export const claimants: Bench = {
  name: "claimants",
  about: "processes with 10 workers each that drain one file",
  rounds: 3,
  cases: ["1 process", "2 processes", "4 processes"],
  measure,
  targets: [2, 4].map((count) => ({
    about: `jobs/s, ${count} processes / 1`,
    over: { of: `${count} processes`, figure: "perSec" },
    by: { of: "1 process", figure: "perSec" },
    aim: "at least",
  })),
};

async function measure(of: string): Promise<Figures> {
  await using stack = new AsyncDisposableStack();
  const folder = await Deno.makeTempDir();
  stack.defer(() => Deno.remove(folder, { recursive: true }));
  const path = `${folder}/queue.db`;
  const workers: Child[] = [];
  for (let left = parseInt(of); left > 0; left--) {
    const jobs = left === 1 ? JOBS : 0;
    const worker = stack.use(runScript("_claim_worker.ts", JSON.stringify({ path, jobs })));
    await worker.line();
    workers.push(worker);
  }
  const count = async (): Promise<number> => {
    const ended: readonly number[] = await Promise.all(workers.map((worker) => worker.ask()));
    return ended.reduce((sum, one) => sum + one, 0);
  };
  const before = await count();
  await delay(DURATION_MS);
  return { perSec: (await count() - before) * 1000 / DURATION_MS };
}
