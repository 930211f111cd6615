/**
 * What a waiting job takes of the heap.
 *
 * @module
 */

import fastq from "fastq";
import PQueue from "p-queue";
import type { Bench } from "./_bench.ts";
import { heapBytes } from "./_heap.ts";
import { LANES, startPool } from "./_pool.ts";

const JOBS = 100_000;
const WORKERS = 10;

/** Figure "bytes": of the heap, per waiting job. */
export const bytes: Bench = {
  name: "bytes",
  about: "bytes of heap per waiting job (100,000 behind 10 that run)",
  rounds: 3,
  cases: ["post", "enqueue", "fastq", "fastq.promise", "p-queue"],
  v8Flags: "--expose-gc",
  measure: async (of) => ({ bytes: await bytesOf(of) }),
  targets: [
    {
      about: "M5 enqueue, its end asked for",
      over: { of: "enqueue", figure: "bytes" },
      by: 1,
      aim: "at most",
      bound: 320,
    },
    { about: "post", over: { of: "post", figure: "bytes" }, by: 1, aim: "at most" },
    {
      about: "enqueue / fastq.promise",
      over: { of: "enqueue", figure: "bytes" },
      by: { of: "fastq.promise", figure: "bytes" },
      aim: "at most",
    },
  ],
};

function bytesOf(of: string): Promise<number> | number {
  switch (of) {
    case "post":
    case "enqueue":
      return bytesOfSluice(of);
    default:
      return bytesOfPeer(of);
  }
}

/** Jobs that wait behind workers that are held until it has been measured. */
async function bytesOfSluice(how: "post" | "enqueue"): Promise<number> {
  const gate = Promise.withResolvers<void>();
  await using bench = await startPool(() => gate.promise, WORKERS);
  const { pool } = bench;
  const put = async (index: number): Promise<void> => {
    const job = { lane: LANES[index % LANES.length]!, payload: index };
    if (how === "post") pool.post(job);
    else (await pool.enqueue(job)).done;
  };
  for (let index = 0; index < WORKERS; index++) await put(index);
  const before = heapBytes();
  for (let index = 0; index < JOBS; index++) await put(index);
  const after = heapBytes();
  gate.resolve();
  return (after - before) / JOBS;
}

function bytesOfPeer(of: string): number {
  const held = new Promise<void>(() => {});
  const push = peer(of, () => held);
  for (let index = 0; index < WORKERS; index++) push(index);
  const before = heapBytes();
  for (let index = 0; index < JOBS; index++) push(index);
  const after = heapBytes();
  push(0); // keeps the queue in use until here
  return (after - before) / JOBS;
}

function peer(of: string, run: () => Promise<void>): (index: number) => unknown {
  switch (of) {
    case "fastq": {
      const queue = fastq<unknown, number, void>(
        (_, done) => void run().then(() => done(null)),
        10,
      );
      return (index) => queue.push(index);
    }
    case "fastq.promise": {
      const queue = fastq.promise<unknown, number, void>(run, WORKERS);
      return (index) => queue.push(index);
    }
    default: {
      const queue = new PQueue({ concurrency: WORKERS });
      return (index) => queue.add(run, { priority: index % LANES.length });
    }
  }
}
