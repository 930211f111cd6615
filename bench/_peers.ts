/**
 * BullMQ on Redis and graphile-worker on PostgreSQL.
 *
 * @module
 */

import { LOCAL_QUEUE_JOBS } from "./_queue.ts";
import type { DurableQueue, Payload, Work } from "./_queue.ts";
import { startPostgres, startRedis } from "./_servers.ts";

/** How BullMQ is set up. */
export interface BullmqOptions {
  /** When Redis flushes its file. */
  readonly fsync: "everysec" | "always";
  /** True: jobs that are not urgent have a priority, so that urgent ones go before them. */
  readonly prioritized?: boolean;
}

/** A queue of BullMQ with its worker. */
export async function bullmq(
  work: Work,
  { fsync, prioritized = false }: BullmqOptions,
): Promise<DurableQueue> {
  const { Queue, Worker } = await import("bullmq");
  const server = await startRedis(fsync);
  const connection = { host: "127.0.0.1", port: server.port, maxRetriesPerRequest: null };
  const defaultJobOptions = { removeOnComplete: true, removeOnFail: true };
  const queue = new Queue<Payload>("bench", { connection, defaultJobOptions });
  const worker = new Worker<Payload>("bench", async ({ data }) => await work.run(data), {
    connection,
    concurrency: work.most,
    autorun: false,
  });
  await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()]);
  worker.on("completed", () => work.ended?.());
  let running: Promise<void> | undefined;
  const optionsOf = (job: Payload) => prioritized && !job.urgent ? { priority: 10 } : {};
  return {
    add: (data) => queue.add("job", data, optionsOf(data)),
    addMany: (jobs) =>
      queue.addBulk(jobs.map((data) => ({ name: "job", data, opts: optionsOf(data) }))),
    work: () => {
      running = worker.run();
    },
    [Symbol.asyncDispose]: async () => {
      await worker.close(true);
      await running;
      await queue.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** How graphile-worker is set up. */
export interface GraphileOptions {
  /**
   * This many workers take urgent jobs only, and the others both: two runners, without the local queue,
   * behind whose jobs urgent ones would wait. Omitted: one runner with it, which is the fastest.
   */
  readonly reserved?: number;
}

/** graphile-worker with its runners. */
export async function graphile(work: Work, { reserved }: GraphileOptions): Promise<DurableQueue> {
  const { Logger, makeWorkerUtils, run } = await import("graphile-worker");
  const server = await startPostgres();
  const connectionString = `postgres://bench@127.0.0.1:${server.port}/postgres`;
  const logger = new Logger(() => () => {});
  const utils = await makeWorkerUtils({ connectionString, logger });
  await utils.migrate();
  const task = async (payload: unknown): Promise<void> => {
    await work.run(payload as Payload); // typed by the one who sends
    work.ended?.();
  };
  const shared = { connectionString, logger, noHandleSignals: true, taskList: { job: task } };
  const runner = (concurrentJobs: number, forbiddenFlags: string[] | null) =>
    run({ ...shared, forbiddenFlags, preset: { worker: { concurrentJobs } } });
  const fast = {
    concurrentJobs: work.most,
    localQueue: { size: LOCAL_QUEUE_JOBS },
    completeJobBatchDelay: 0,
  };
  let runners: readonly Awaited<ReturnType<typeof run>>[] = [];
  const specOf = ({ urgent }: Payload) =>
    urgent ? { priority: -1, flags: ["urgent"] } : { priority: 0, flags: ["batch"] };
  return {
    add: (payload) => utils.addJob("job", payload, specOf(payload)),
    addMany: (jobs) =>
      utils.addJobs(jobs.map((payload) => ({ identifier: "job", payload, ...specOf(payload) }))),
    work: async () => {
      runners = await Promise.all(
        reserved === undefined
          ? [run({ ...shared, preset: { worker: fast } })]
          : [runner(reserved, ["batch"]), runner(work.most - reserved, null)],
      );
    },
    // Ends are stored some time after they are reported.
    settled: async () => {
      const sql = "select count(*)::int as jobs from graphile_worker._private_jobs";
      for (let jobs = 1; jobs > 0;) {
        const { rows } = await utils.withPgClient((client) => client.query<{ jobs: number }>(sql));
        jobs = rows[0]!.jobs;
      }
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(runners.map((one) => one.stop()));
      await utils.release();
      await server[Symbol.asyncDispose]();
    },
  };
}
