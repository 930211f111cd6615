/**
 * Plays random schedules of load and faults and says which break what must hold. The seeds take
 * turns in the worlds: `pools` looks at every call of a pool to the store in memory, `memory` and `kv` are
 * ordinary lives of pools with many options at once, on either store. `shared` has several pools behind
 * named downstreams, and is played by its name.
 *
 * ```
 * deno task chaos -- --seeds 1000               seeds 1 to 1000, the worlds in turn
 * deno task chaos -- --seeds 1000 --from 5000   seeds 5000 to 5999
 * deno task chaos -- --world kv                 all of them in one world
 * deno task chaos -- --world kv --from 17 --seeds 1 --steps 23 --show   one again, cut off, with its steps
 * ```
 *
 * @module
 */

import { parseArgs } from "node:util";
import { messageOf } from "../../src/contract/errors.ts";
import { type Breach, shortest, type World, worldOf, WORLDS } from "./world.ts";

/** Seeds that may break before it gives up. */
const MOST_BREACHES = 5;

if (import.meta.main) Deno.exitCode = await main(Deno.args.filter((arg) => arg !== "--"));

/** What is to be played. */
export interface Wanted {
  /** The first seed. */
  readonly from: number;
  /** How many seeds. */
  readonly seeds: number;
  /** The world of all of them. `undefined`: they take turns. */
  readonly world: keyof typeof WORLDS | undefined;
  /** Most steps of a schedule. */
  readonly steps: number;
  /** True: prints the steps. */
  readonly show: boolean;
}

/** Reads the command line. @throws {TypeError} If it asks for nothing that can be played. */
export function readArgs(args: string[]): Wanted {
  const { values } = parseArgs({
    args,
    options: {
      seeds: { type: "string", default: "200" },
      from: { type: "string", default: "1" },
      steps: { type: "string", default: "Infinity" },
      world: { type: "string" },
      show: { type: "boolean", default: false },
    },
  });
  const steps = values.steps === "Infinity" ? Infinity : whole("--steps", values.steps, 1);
  const from = whole("--from", values.from, 0);
  const { world, show } = values;
  if (world !== undefined && !isWorld(world)) {
    const names = Object.keys(WORLDS).join(", ");
    throw new TypeError(`Expected --world to be one of ${names} but received "${world}"`);
  }
  return { from, seeds: whole("--seeds", values.seeds, 1), world, steps, show };
}

function isWorld(name: string): name is keyof typeof WORLDS {
  return Object.hasOwn(WORLDS, name);
}

function whole(name: string, text: string, least: number): number {
  if (/^\d{1,15}$/.test(text) && Number(text) >= least) return Number(text);
  throw new TypeError(`Expected ${name} to be a whole number >= ${least} but received "${text}"`);
}

async function main(args: string[]): Promise<number> {
  let wanted: Wanted;
  try {
    wanted = readArgs(args);
  } catch (thrown) {
    print(messageOf(thrown));
    return 2;
  }
  const { from, seeds, steps, show } = wanted;
  const worldFor = (seed: number): World =>
    wanted.world === undefined ? worldOf(seed) : WORLDS[wanted.world];
  const until = from + seeds;
  const startedAtMs = performance.now();
  let broken = 0;
  let jobs = 0;
  let starts = 0;
  let virtualMs = 0;
  let seed = from;
  for (; seed < until && broken < MOST_BREACHES; seed++) {
    const world = worldFor(seed);
    const played = await world.play(seed, steps);
    jobs += played.jobs;
    starts += played.starts;
    virtualMs += played.virtualMs;
    if (show) print(stepsOf(world, seed, played.breach?.steps ?? Infinity));
    if (played.breach === undefined) continue;
    broken++;
    print(tell(world, seed, await shortest(world, seed, played.breach)));
  }
  const tookSec = (performance.now() - startedAtMs) / 1000;
  print(
    `${seed - from} seeds, ${broken} broken, in ${tookSec.toFixed(1)} s ` +
      `(${((seed - from) / tookSec).toFixed(1)} a second): ` +
      `${jobs} jobs, ${starts} starts, ${(virtualMs / 3_600_000).toFixed(1)} h of virtual time`,
  );
  return broken === 0 ? 0 : 1;
}

function tell(world: World, seed: number, { what, steps }: Breach): string {
  const where = `--world ${world.name} --from ${seed} --seeds 1 --steps ${steps} --show`;
  return `Seed ${seed} breaks in the world ${world.name} at step ${steps}: ${what}\n` +
    `  deno task chaos -- ${where}\n${stepsOf(world, seed, steps)}`;
}

function stepsOf(world: World, seed: number, most: number): string {
  return world.steps(seed).slice(0, most)
    .map((step, index) => `  ${index + 1} ${JSON.stringify(step)}`).join("\n");
}

function print(text: string): void {
  let rest = new TextEncoder().encode(`${text}\n`);
  while (rest.length > 0) rest = rest.subarray(Deno.stdout.writeSync(rest));
}
