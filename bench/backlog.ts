/**
 * Whether putting in and taking out cost the same at any backlog.
 *
 * @module
 */

import PQueue from "p-queue";
import { type Bench, type Figures, median } from "./_bench.ts";
import { LANES, startPool } from "./_pool.ts";

const SIZES = { "1k": 1000, "10k": 10_000, "100k": 100_000, "1M": 1_000_000 } as const;
/** Jobs put in and taken out on top of the backlog, so often. */
const BATCH = 1000;
const BATCHES = 40;
const WARM_UP = 100_000;
const WORKERS = 10;
const URGENT = [LANES[0]];
/** Urgent jobs put in on top of p-queue's backlog. */
const FEW = 200;

/** Figures in ns per job: "in", "out" (all of an attempt) and "urgent-in". */
export const backlog: Bench = {
  name: "backlog",
  about: "ns per job put in and run, by the number that waits",
  rounds: 5,
  cases: ["sluice 1k", "sluice 10k", "sluice 100k", "sluice 1M", "p-queue 100k"],
  measure: (of) => of === "p-queue 100k" ? measurePeer() : measureSluice(of.split(" ")[1]!),
  targets: [
    growth("in", "1M"),
    growth("out", "1M"),
    {
      about: "M4 p-queue / sluice, urgent put in on 100k",
      over: { of: "p-queue 100k", figure: "urgent-in" },
      by: { of: "sluice 100k", figure: "urgent-in" },
      aim: "at least",
      bound: 300,
    },
  ],
};

function growth(figure: string, size: string): Bench["targets"][number] {
  return {
    about: `M4 ${figure}, ${size} / 10k`,
    over: { of: `sluice ${size}`, figure },
    by: { of: "sluice 10k", figure },
    aim: "at most",
    bound: 1.5,
  };
}

async function measureSluice(size: string): Promise<Figures> {
  const gate = turnstile();
  await using bench = await startPool(gate.pass, WORKERS);
  const { pool } = bench;
  const put = (jobs: number, lanes: readonly string[] = LANES): void => {
    for (let index = 0; index < jobs; index++) {
      pool.post({ lane: lanes[index % lanes.length]!, payload: index });
    }
  };
  for (let done = 0; done < WARM_UP; done += BATCH) {
    put(BATCH + WORKERS);
    await gate.open(BATCH);
  }
  put(SIZES[size as keyof typeof SIZES] + WORKERS); // the cases name their sizes
  await gate.open(BATCH);

  const ins: number[] = [];
  const urgents: number[] = [];
  const outs: number[] = [];
  for (let batch = 0; batch < BATCHES; batch++) {
    put(WORKERS); // those that will be held at the turnstile
    ins.push(await nsPerJob(BATCH, () => put(BATCH)));
    outs.push(await nsPerJob(BATCH, () => gate.open(BATCH)));
    put(WORKERS);
    urgents.push(await nsPerJob(BATCH, () => put(BATCH, URGENT)));
    await gate.open(BATCH);
  }
  gate.open(Infinity);
  return { in: median(ins), out: median(outs), "urgent-in": median(urgents) };
}

async function measurePeer(): Promise<Figures> {
  const queue = new PQueue({ concurrency: WORKERS, autoStart: false });
  const noop = async (): Promise<void> => {};
  for (let index = 0; index < SIZES["100k"]; index++) queue.add(noop, { priority: 0 });
  const ns = await nsPerJob(FEW, () => {
    for (let index = 0; index < FEW; index++) queue.add(noop, { priority: 1 });
  });
  return { "urgent-in": ns };
}

async function nsPerJob(jobs: number, run: () => void | Promise<void>): Promise<number> {
  const startedAtMs = performance.now();
  await run();
  return (performance.now() - startedAtMs) * 1e6 / jobs;
}

/** A handler that lets as many jobs through as it is set to, and holds the rest. */
function turnstile(): { pass(): Promise<void> | undefined; open(jobs: number): Promise<void> } {
  let left = 0;
  let held = Promise.withResolvers<void>();
  let passed = (): void => {};
  return {
    pass: () => {
      if (left === 0) return held.promise;
      if (--left === 0) {
        held = Promise.withResolvers<void>();
        passed();
        return held.promise;
      }
      return Promise.resolve();
    },
    open: (jobs) => {
      left = jobs;
      held.resolve();
      return new Promise((resolve) => passed = resolve);
    },
  };
}
