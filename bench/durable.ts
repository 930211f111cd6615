/**
 * Durable queues beside each other: jobs put in, taken out, and through.
 *
 * @module
 */

import process from "node:process";
import type { Bench, Figures, Place, Target } from "./_bench.ts";
import { job, jobsFrom, type Payload } from "./_queue.ts";
import { openQueue } from "./_queues.ts";

/** Jobs put in by callers that each await their own. */
const IN_FLIGHT = 10_000;
const CALLERS = 100;
/** Jobs put in one after the other. */
const ONE_BY_ONE = 1000;
/** Jobs put in with one call, so often. */
const BULK = 500;
const BULKS = 20;
/** Jobs that wait before the workers start. */
const OUT = 20_000;
/** Jobs sent while the workers run. */
const THROUGH = 10_000;
/** What takes longer is measured by what was done until then: disks differ by a hundred times. */
const LONGEST_MS = 5000;

const PEERS = ["bullmq everysec", "bullmq always", "graphile"] as const;
const CONCURRENCIES = [10, 100] as const;

/**
 * Figures: "…PerSec" of jobs; "rssMb" of the process and "fileBytes" of a job while 10,000 wait; "perSec"
 * from the first start, or the first send, to the last acknowledged end, and "cpuUs", CPU time of this process
 * for one of those jobs.
 */
export const durable: Bench = {
  name: "durable",
  about: "jobs/s into, out of and through durable queues",
  rounds: 5,
  cases: [
    "in set",
    ...["sluice", ...PEERS, "kv queue"].map((queue) => `in ${queue}`),
    ...CONCURRENCIES.flatMap((most) =>
      ["sluice", ...PEERS].map((queue) => `out c=${most} ${queue}`)
    ),
    ...["sluice", ...PEERS, "kv queue"].map((queue) => `through c=100 ${queue}`),
  ],
  measure,
  targets: [
    ...CONCURRENCIES.flatMap((most) => [
      ratio(`D1 out, c=${most}`, place(`out c=${most}`, "bullmq everysec"), most === 10 ? 4 : 3),
      ratio(`D1 out, c=${most}`, place(`out c=${most}`, "bullmq always")),
      ratio(`D2 out, c=${most}`, place(`out c=${most}`, "graphile"), most === 10 ? 1 : undefined),
    ]),
    ratio("D3 100 in flight", place("in", "bullmq everysec", "inFlightPerSec"), 3),
    ratio("D3 100 in flight", place("in", "kv queue", "inFlightPerSec"), 8),
    ratio("D3 one by one", place("in", "set", "oneByOnePerSec"), 0.9),
    ratio("D3 500 a call", place("in", "bullmq everysec", "bulkPerSec"), 5),
    figure("D6 RSS with 10,000 waiting, MB", "rssMb", 110),
    figure("D6 bytes of the file for one of them", "fileBytes", 250),
    ...["bullmq everysec", "bullmq always", "graphile", "kv queue"].map((queue) =>
      ratio("put in, run and acknowledged, c=100", place("through c=100", queue))
    ),
  ],
};

function place(shape: string, queue: string, of = "perSec"): Place {
  return { of: `${shape} ${queue}`, figure: of };
}

/** Sluice over a peer in the same shape. */
function ratio(about: string, by: Place, bound?: number): Target {
  const shape = /^(in|\w+ c=\d+) /.exec(by.of)![1]!; // names are built above
  const over = place(shape, "sluice", by.figure);
  const text = `${about}, sluice / ${by.of.slice(shape.length + 1)}`;
  return { about: text, over, by, aim: "at least", ...(bound === undefined ? {} : { bound }) };
}

function figure(about: string, of: string, bound: number): Target {
  return { about, over: place("in", "sluice", of), by: 1, aim: "at most", bound };
}

function measure(of: string): Promise<Figures> {
  if (of === "in set") return measureSet();
  const [, shape, most, queue] = /^(\w+)(?: c=(\d+))? (.+)$/.exec(of)!; // a name from `cases`
  switch (shape) {
    case "in":
      return measureIn(queue!);
    case "out":
      return measureOut(queue!, Number(most));
    default:
      return measureThrough(queue!, Number(most));
  }
}

/** What the database does alone: a commit for each. */
async function measureSet(): Promise<Figures> {
  const folder = await Deno.makeTempDir();
  const kv = await Deno.openKv(`${folder}/queue.db`);
  const oneByOnePerSec = await perSec(ONE_BY_ONE, 1, ({ n }) => kv.set(["bench", n], job(n)));
  kv.close();
  await Deno.remove(folder, { recursive: true });
  return { oneByOnePerSec };
}

async function measureIn(name: string): Promise<Figures> {
  await using queue = await openQueue(name, { most: 10, run: () => {} });
  const emptyBytes = queue.fileBytes?.() ?? 0;
  let sent = 0;
  const inFlightPerSec = await perSec(IN_FLIGHT, CALLERS, (job) => {
    sent++;
    return queue.add(job);
  });
  if (sent < IN_FLIGHT) await queue.addMany(jobsFrom(sent, IN_FLIGHT - sent));
  const rssMb = Deno.memoryUsage().rss / 1e6;
  const fileBytes = ((queue.fileBytes?.() ?? NaN) - emptyBytes) / IN_FLIGHT;
  const cpuUs = cpuTimer();
  const oneByOnePerSec = await perSec(ONE_BY_ONE, 1, queue.add);
  const oneByOneCpuUs = cpuUs() / ONE_BY_ONE;
  const bulksPerSec = await perSec(BULKS, 1, ({ n }) => queue.addMany(jobsFrom(n * BULK, BULK)));
  const bulkPerSec = BULK * bulksPerSec;
  const figures = { inFlightPerSec, oneByOnePerSec, oneByOneCpuUs, bulkPerSec, rssMb };
  return queue.fileBytes === undefined ? figures : { ...figures, fileBytes };
}

async function measureOut(name: string, most: number): Promise<Figures> {
  let startedAtMs = Infinity;
  const run = (): void => {
    startedAtMs = Math.min(startedAtMs, performance.now());
  };
  const ends = new Ends(OUT);
  await using queue = await openQueue(name, { most, run, ended: () => ends.one() });
  for (let n = 0; n < OUT; n += BULK) await queue.addMany(jobsFrom(n, BULK));
  const cpuUs = cpuTimer();
  await queue.work();
  if (await ends.allWithin(LONGEST_MS)) await queue.settled?.();
  const elapsedMs = performance.now() - startedAtMs;
  return { perSec: ends.count * 1000 / elapsedMs, cpuUs: cpuUs() / ends.count };
}

async function measureThrough(name: string, most: number): Promise<Figures> {
  const ends = new Ends(THROUGH);
  await using queue = await openQueue(name, { most, run: () => {}, ended: () => ends.one() });
  await queue.work();
  const startedAtMs = performance.now();
  const cpuUs = cpuTimer();
  await perSec(THROUGH, CALLERS, queue.add);
  if (await ends.allWithin(startedAtMs + LONGEST_MS - performance.now())) await queue.settled?.();
  const elapsedMs = performance.now() - startedAtMs;
  return { perSec: ends.count * 1000 / elapsedMs, cpuUs: cpuUs() / ends.count };
}

/** Begins to count: what it returns tells the CPU time of this process since, us. */
function cpuTimer(): () => number {
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
}

/** Calls a second, of callers that each await theirs before the next. */
async function perSec(
  calls: number,
  callers: number,
  call: (job: Payload) => Promise<unknown>,
): Promise<number> {
  const startedAtMs = performance.now();
  const untilMs = startedAtMs + LONGEST_MS;
  let called = 0;
  const caller = async (): Promise<void> => {
    while (called < calls && performance.now() < untilMs) await call(job(called++));
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return called * 1000 / (performance.now() - startedAtMs);
}

/** Counts ends of jobs. */
class Ends {
  /** This many so far. */
  count = 0;
  readonly #expected: number;
  readonly #all = Promise.withResolvers<void>();

  constructor(expected: number) {
    this.#expected = expected;
  }

  one(): void {
    if (++this.count === this.#expected) this.#all.resolve();
  }

  /** False: some are missing when the time is over. */
  async allWithin(ms: number): Promise<boolean> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timeout = new Promise<void>((resolve) => timer = setTimeout(resolve, Math.max(0, ms)));
    await Promise.race([this.#all.promise, timeout]);
    clearTimeout(timer);
    return this.count >= this.#expected;
  }
}
