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

/** Figures: "perSec", no-op jobs of all processes; "cpuUs", CPU time of all for one. */
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
  const usage = async (): Promise<Usage> => {
    const said: readonly Usage[] = await Promise.all(workers.map((worker) => worker.ask()));
    return said.reduce((sum, one) => ({
      ended: sum.ended + one.ended,
      cpuUs: sum.cpuUs + one.cpuUs,
    }));
  };
  const before = await usage();
  await delay(DURATION_MS);
  const after = await usage();
  const ended = after.ended - before.ended;
  return { perSec: ended * 1000 / DURATION_MS, cpuUs: (after.cpuUs - before.cpuUs) / ended };
}

/** Of one process, or of all. */
interface Usage {
  readonly ended: number;
  readonly cpuUs: number;
}
