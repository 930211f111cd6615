/**
 * Pools that run no-op jobs: Sluice and its peers behind one face.
 *
 * @module
 */

import fastq from "fastq";
import PQueue from "p-queue";
import type { JobHandle } from "../src/runtime/handles.ts";
import { LANES, startPool } from "./_pool.ts";

/** Runs no-op jobs. */
export interface Runner extends AsyncDisposable {
  /** Puts `count` jobs in, in one turn of the event loop; resolves once all have run. */
  run(count: number): Promise<void>;
}

/** The runner of that name, with `most` jobs running at once. */
export function runnerOf(subject: string, most: number): Promise<Runner> | Runner {
  switch (subject) {
    case "post":
      return postRunner(most);
    case "enqueue":
      return enqueueRunner(most);
    case "fastq":
      return fastqRunner(most);
    case "fastq.promise":
      return fastqPromiseRunner(most);
    case "p-queue":
      return pQueueRunner(most);
    default:
      throw new TypeError(`No runner is named "${subject}"`);
  }
}

/** Fire and forget: the handlers count. */
async function postRunner(most: number): Promise<Runner> {
  const count = counter();
  const bench = await startPool(count.noop, most);
  return {
    run: (jobs) => {
      const ended = count.expect(jobs);
      for (let index = 0; index < jobs; index++) {
        bench.pool.post({ lane: LANES[index % LANES.length]!, payload: index });
      }
      return ended;
    },
    [Symbol.asyncDispose]: () => bench[Symbol.asyncDispose](),
  };
}

/** Each job's end is awaited. */
async function enqueueRunner(most: number): Promise<Runner> {
  const { pool, ...bench } = await startPool(async () => {}, most);
  const endOf = (job: JobHandle): Promise<unknown> => job.done;
  const one = (index: number): Promise<unknown> =>
    pool.enqueue({ lane: LANES[index % LANES.length]!, payload: index }).then(endOf);
  return { run: (jobs) => all(jobs, one), ...bench };
}

/** Callbacks: the caller is given nothing per job. */
function fastqRunner(most: number): Runner {
  const count = counter();
  const queue = fastq<unknown, number, void>((_, done) => {
    count.noop().then(() => done(null));
  }, most);
  return {
    run: (jobs) => {
      const ended = count.expect(jobs);
      for (let index = 0; index < jobs; index++) queue.push(index);
      return ended;
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

/** A promise per job. */
function fastqPromiseRunner(most: number): Runner {
  const queue = fastq.promise<unknown, number, void>(async () => {}, most);
  return {
    run: (jobs) => all(jobs, (index) => queue.push(index)),
    [Symbol.asyncDispose]: async () => {},
  };
}

/** A promise per job, with as many priorities as Sluice has lanes. */
function pQueueRunner(most: number): Runner {
  const queue = new PQueue({ concurrency: most });
  const noop = async (): Promise<void> => {};
  return {
    run: (jobs) => all(jobs, (index) => queue.add(noop, { priority: index % LANES.length })),
    [Symbol.asyncDispose]: async () => {},
  };
}

async function all(jobs: number, one: (index: number) => Promise<unknown>): Promise<void> {
  const ends = new Array<Promise<unknown>>(jobs);
  for (let index = 0; index < jobs; index++) ends[index] = one(index);
  await Promise.all(ends);
}

/** A no-op handler that counts its calls. */
function counter(): { noop(): Promise<void>; expect(calls: number): Promise<void> } {
  let left = 0;
  let resolve = (): void => {};
  return {
    // deno-lint-ignore require-await -- what is measured is the cost of an async handler
    noop: async () => {
      if (--left === 0) resolve();
    },
    expect: (calls) => {
      left = calls;
      return new Promise((done) => resolve = done);
    },
  };
}
