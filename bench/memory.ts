/**
 * How many no-op jobs a second run in memory, beside fastq and p-queue.
 *
 * @module
 */

import process from "node:process";
import { type Bench, type Figures, median, type Target } from "./_bench.ts";
import { runnerOf } from "./_runners.ts";

/** Jobs before the measured ones, in groups: the engine has compiled what it will. */
const WARM_UP = 300_000;
/** Jobs that are put in before the first may run. */
const AT_ONCE = 100_000;
/** So often, as the heap grows the first time. */
const AT_ONCE_TIMES = 3;
/** Jobs that are put in a group at a time. */
const IN_GROUPS = 200_000;
/** Most jobs that wait in the second shape. */
const GROUP = 1000;

const SUBJECTS = ["post", "fastq", "enqueue", "fastq.promise", "p-queue"] as const;
const CONCURRENCIES = [100, 10] as const;

/** Figures "waiting-1000" and "at-once": jobs per second; "…-cpu-ns": CPU time of one. */
export const memory: Bench = {
  name: "memory",
  about: "no-op jobs per second, 100,000 at once and with at most 1,000 waiting",
  rounds: 5,
  cases: CONCURRENCIES.flatMap((most) => SUBJECTS.map((subject) => `${subject} c=${most}`)),
  measure,
  targets: CONCURRENCIES.flatMap(targets),
};

async function measure(of: string): Promise<Figures> {
  const [subject, most] = of.split(" c=");
  await using runner = await runnerOf(subject!, Number(most));
  const inGroups = async (jobs: number): Promise<void> => {
    for (let done = 0; done < jobs; done += GROUP) await runner.run(GROUP);
  };
  await inGroups(WARM_UP);
  const waiting = await timed(IN_GROUPS, () => inGroups(IN_GROUPS));
  const atOnce: Timing[] = [];
  for (let times = 0; times < AT_ONCE_TIMES; times++) {
    atOnce.push(await timed(AT_ONCE, () => runner.run(AT_ONCE)));
  }
  return {
    "waiting-1000": waiting.perSec,
    "at-once": median(atOnce.map((one) => one.perSec)),
    "waiting-1000-cpu-ns": waiting.cpuNs,
    "at-once-cpu-ns": median(atOnce.map((one) => one.cpuNs)),
  };
}

interface Timing {
  readonly perSec: number;
  readonly cpuNs: number;
}

/** Jobs per second, and the process's CPU time for one: other programs cannot lengthen that. */
async function timed(
  jobs: number,
  run: () => Promise<void>,
): Promise<Timing> {
  const before = process.cpuUsage();
  const startedAtMs = performance.now();
  await run();
  const elapsedMs = performance.now() - startedAtMs;
  const { user, system } = process.cpuUsage(before);
  return { perSec: jobs * 1000 / elapsedMs, cpuNs: (user + system) * 1000 / jobs };
}

/** Each ratio twice: of jobs per second, and of CPU time. */
function targets(most: number): Target[] {
  const compare = (
    about: string,
    of: string,
    to: string,
    figure: string,
    bound: number,
  ): Target[] => {
    const one = `${of} c=${most}`;
    const other = `${to} c=${most}`;
    const text = `${about} ${of} / ${to}, c=${most}, ${figure}`;
    const aim = "at least";
    return [
      { about: text, over: { of: one, figure }, by: { of: other, figure }, aim, bound },
      {
        about: `${text}, by CPU time`,
        over: { of: other, figure: `${figure}-cpu-ns` },
        by: { of: one, figure: `${figure}-cpu-ns` },
        aim,
        bound,
      },
    ];
  };
  return [
    ...compare("M1", "post", "fastq", "waiting-1000", 0.35),
    ...compare("M1", "post", "fastq", "at-once", 0.9),
    ...compare("M2", "enqueue", "fastq.promise", "waiting-1000", 0.45),
    ...compare("M2", "enqueue", "fastq.promise", "at-once", 1.5),
    ...compare("M3", "enqueue", "p-queue", "waiting-1000", 5),
    ...compare("M3", "enqueue", "p-queue", "at-once", 5),
  ];
}
