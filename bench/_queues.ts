/**
 * Durable queues behind one face: Sluice on a file, and its peers.
 *
 * @module
 */

import { DatabaseSync } from "node:sqlite";
import { denoKv } from "../stores/deno_kv/mod.ts";
import { start } from "../mod.ts";
import { bullmq, graphile } from "./_peers.ts";
import type { DurableQueue, Payload, Work } from "./_queue.ts";

type Open = (work: Work) => Promise<DurableQueue>;

const QUEUES: Readonly<Record<string, Open>> = {
  "sluice": (work) => sluice(work, "reserved-lane"),
  "sluice 2+8": (work) => sluice(work, { use: "reserved-lane", with: { reserve: { urgent: 2 } } }),
  "sluice strict": (work) => sluice(work, "strict-priority"),
  "bullmq everysec": (work) => bullmq(work, { fsync: "everysec" }),
  "bullmq always": (work) => bullmq(work, { fsync: "always" }),
  "bullmq priority": (work) => bullmq(work, { fsync: "everysec", prioritized: true }),
  "graphile": (work) => graphile(work, {}),
  "graphile 2+8": (work) => graphile(work, { reserved: 2 }),
  "kv queue": kvQueue,
};

/** Opens the queue of that name, with nothing in it. @throws {LeftOut} If its server is not on this machine. */
export function openQueue(name: string, work: Work): Promise<DurableQueue> {
  const open = QUEUES[name];
  if (open === undefined) throw new TypeError(`No queue is named "${name}"`);
  return open(work);
}

/** Paused until `work`, so that jobs wait. A target that no wait reaches: none is rejected. */
async function sluice(
  work: Work,
  lanePolicy: string | { readonly use: string; readonly with: object },
): Promise<DurableQueue> {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/queue.db`;
  const lanes = ["urgent", "batch"].map((name) => ({
    name,
    targetWaitMs: 3_600_000,
    paused: true,
  }));
  const running = await start({
    store: { use: denoKv, with: { path } },
    pools: {
      bench: {
        // Typed by the one who sends.
        handler: ({ payload }) => work.run(payload as unknown as Payload),
        size: { min: work.most, max: work.most },
        lanes,
        lanePolicy,
      },
    },
  });
  const pool = running.pool("bench");
  if (work.ended !== undefined) {
    running.observe(({ kind }) => kind === "job-done" && work.ended!());
  }
  const given = (payload: Payload) => ({ lane: payload.urgent ? "urgent" : "batch", payload });
  return {
    add: (payload) => pool.enqueue(given(payload)),
    addMany: (payloads) => pool.enqueueAll(payloads.map(given)),
    work: () => Promise.all(lanes.map(({ name }) => pool.resume(name))),
    fileBytes: () => fileBytes(path),
    [Symbol.asyncDispose]: async () => {
      await running.stop();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** Deno KV's own queue: it has no bound on how many run at once, and tells nobody of ends. */
async function kvQueue(work: Work): Promise<DurableQueue> {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/queue.db`;
  const kv = await Deno.openKv(path);
  let listening: Promise<void> | undefined;
  return {
    add: (payload) => kv.enqueue(payload),
    addMany: async (payloads) => {
      for (let from = 0; from < payloads.length; from += 100) {
        const atomic = kv.atomic();
        for (const payload of payloads.slice(from, from + 100)) atomic.enqueue(payload);
        await atomic.commit();
      }
    },
    // deno-lint-ignore require-await -- it goes on until the database is closed
    work: async () => {
      listening = kv.listenQueue(async (payload) => {
        await work.run(payload);
        work.ended?.();
      });
    },
    fileBytes: () => fileBytes(path),
    [Symbol.asyncDispose]: async () => {
      kv.close();
      await listening;
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** Size of a database whose log has been carried over. */
function fileBytes(path: string): number {
  using database = new DatabaseSync(path);
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  return Deno.statSync(path).size;
}
