/**
 * Plays random schedules of load and faults and says which break what must hold.
 *
 * ```
 * deno task chaos -- --seeds 1000               seeds 1 to 1000
 * deno task chaos -- --seeds 1000 --from 5000   seeds 5000 to 5999
 * deno task chaos -- --from 17 --seeds 1 --steps 23 --show   one again, cut off, with its steps
 * ```
 *
 * @module
 */

import { parseArgs } from "node:util";
import { CONFIGS } from "./config.ts";
import { type Breach, playSeed, shortest } from "./play.ts";
import { scheduleOf } from "./step.ts";

/** Seeds that may break before it gives up. */
const MOST_BREACHES = 5;

if (import.meta.main) Deno.exitCode = await main(Deno.args.filter((arg) => arg !== "--"));

async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      seeds: { type: "string", default: "200" },
      from: { type: "string", default: "1" },
      steps: { type: "string", default: "Infinity" },
      show: { type: "boolean", default: false },
    },
  });
  const from = Number(values.from);
  const until = from + Number(values.seeds);
  const startedAtMs = performance.now();
  let broken = 0;
  let jobs = 0;
  let starts = 0;
  let virtualMs = 0;
  let seed = from;
  for (; seed < until && broken < MOST_BREACHES; seed++) {
    const played = await playSeed(seed, Number(values.steps));
    jobs += played.jobs;
    starts += played.starts;
    virtualMs += played.virtualMs;
    if (values.show) print(stepsOf(seed, played.breach?.steps ?? Infinity));
    if (played.breach === undefined) continue;
    broken++;
    print(tell(seed, await shortest(seed, played.breach)));
  }
  const tookSec = (performance.now() - startedAtMs) / 1000;
  print(
    `${seed - from} seeds, ${broken} broken, in ${tookSec.toFixed(1)} s ` +
      `(${((seed - from) / tookSec).toFixed(1)} a second): ` +
      `${jobs} jobs, ${starts} starts, ${(virtualMs / 3_600_000).toFixed(1)} h of virtual time`,
  );
  return broken === 0 ? 0 : 1;
}

function tell(seed: number, { what, steps }: Breach): string {
  const replay = `deno task chaos -- --from ${seed} --seeds 1 --steps ${steps} --show`;
  return `Seed ${seed} breaks at step ${steps}: ${what}\n  ${replay}\n${stepsOf(seed, steps)}`;
}

function stepsOf(seed: number, most: number): string {
  return scheduleOf(seed, CONFIGS).slice(0, most)
    .map((step, index) => `  ${index + 1} ${JSON.stringify(step)}`).join("\n");
}

function print(text: string): void {
  let rest = new TextEncoder().encode(`${text}\n`);
  while (rest.length > 0) rest = rest.subarray(Deno.stdout.writeSync(rest));
}
