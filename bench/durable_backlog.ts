/**
 * Whether a durable queue is as fast with many jobs waiting, and how soon an urgent one comes through.
 *
 * @module
 */

import { type Bench, type Figures, median, type Target } from "./_bench.ts";
import { job, jobsFrom, LOCAL_QUEUE_JOBS } from "./_queue.ts";
import { openQueue } from "./_queues.ts";

const BACKLOGS = { "1k": 1000, "10k": 10_000, "100k": 100_000 } as const;
const WORKERS = 10;
/** Urgent jobs put in on top of the backlog, one after the other. */
const URGENT = 200;
/** Jobs whose rate is measured, the urgent ones among them. */
const OUT = 1000;
/** After this many of those an urgent one is sent. */
const HALF = OUT / 2;
const BULK = 500;

/**
 * Figures: "add-us" of one urgent job; "perSec" of the first 1,000 to start; "behind": batch jobs that
 * start between the acknowledgement of an urgent job and its start.
 */
export const durableBacklog: Bench = {
  name: "durable-backlog",
  about: "an urgent add and the first 1,000 starts by the number that waits, 10 at once",
  rounds: 5,
  cases: [...Object.keys(BACKLOGS).map((size) => `sluice ${size}`), "graphile 100k"],
  measure,
  targets: [
    growth("add-us", "sluice 100k", "sluice 1k"),
    growth("perSec", "sluice 1k", "sluice 100k"),
    behind("sluice 100k", WORKERS),
    behind("graphile 100k"),
  ],
};

/** At 100,000 a job may cost so much more than at 1,000. */
function growth(figure: string, more: string, less: string): Target {
  const about = `D5 ${figure}, ${more} / ${less}`;
  const by = { of: less, figure };
  return { about, over: { of: more, figure }, by, aim: "at most", bound: 1.25 };
}

function behind(of: string, bound?: number): Target {
  const about = `D2 batch jobs that an urgent one waits for, ${of}`;
  const over = { of, figure: "behind" };
  return { about, over, by: 1, aim: "at most", ...(bound === undefined ? {} : { bound }) };
}

async function measure(of: string): Promise<Figures> {
  const [name, size] = of.split(" ") as [string, keyof typeof BACKLOGS]; // a name from `cases`
  const waiting = BACKLOGS[size];
  const ended = Promise.withResolvers<void>();
  const sentBehind = Promise.withResolvers<number>();
  let firstAtMs = 0;
  let lastAtMs = 0;
  let starts = 0;
  let startsAtAck = Infinity;
  const late = job(waiting, { urgent: true });
  const run = (one: { readonly n: number }): void => {
    starts++;
    if (starts === 1) firstAtMs = performance.now();
    if (starts === HALF) {
      queue.add(late).then(() => startsAtAck = starts);
    }
    if (starts === OUT) {
      lastAtMs = performance.now();
      ended.resolve();
    }
    if (one.n === late.n) sentBehind.resolve(Math.max(0, starts - 1 - startsAtAck));
  };
  await using queue = await openQueue(name, { most: WORKERS, run });
  for (let n = 0; n < waiting; n += BULK) await queue.addMany(jobsFrom(n, BULK));
  // Numbers of their own: only the late one has the last.
  const adds: number[] = [];
  for (let n = 0; n < URGENT; n++) {
    const startMs = performance.now();
    await queue.add(job(-1 - n, { urgent: true }));
    adds.push(1000 * (performance.now() - startMs));
  }
  await queue.work();
  await ended.promise;
  const behindJobs = await sentBehind.promise;
  return {
    "add-us": median(adds),
    perSec: (OUT - 1) * 1000 / (lastAtMs - firstAtMs),
    behind: Math.min(behindJobs, waiting + LOCAL_QUEUE_JOBS),
  };
}
