/**
 * Opens pools: at the start, and at a reload that brings new ones.
 *
 * @module
 */

import { requireRules, rulesOf } from "./adopt.ts";
import { answered } from "./store_call.ts";
import { type PoolContext, works } from "./assemble.ts";
import { wallMs } from "../time/clock.ts";
import { messageOf } from "../contract/errors.ts";
import type { JobRecord } from "../contract/job.ts";
import { Pool } from "./pool.ts";
import { randomStream } from "../base/random.ts";
import type { PoolSettings } from "../config/settings.ts";
import type { Queue } from "../contract/store.ts";

/**
 * Opens a pool: joins its queue and starts its minimum of workers.
 *
 * @throws {StoreError} If the store fails at it.
 */
export async function openPool(settings: PoolSettings, context: PoolContext): Promise<Pool> {
  const pool = await makePool(settings, context);
  pool.begin();
  return pool;
}

/**
 * Makes a pool that has joined its queue and will run once it begins.
 *
 * @throws {StoreError} If the store fails at it, or does not answer within `leaseMs`.
 */
export async function makePool(settings: PoolSettings, context: PoolContext): Promise<Pool> {
  const { store, clock, seed, log } = context;
  const { name, leaseMs } = settings;
  let pool: Pool | undefined;
  const opening = (async () =>
    await store.open({
      pool: name,
      ...rulesOf(settings),
      random: randomStream(seed, `${name}/queue`),
      nowMs: wallMs(clock),
      leases: works(name, context),
      listener: {
        wake: () => pool?.wake(),
        adding: () => pool?.adding(),
        cancelled: (id: string) => pool?.cancelled(id),
        ended: (record: JobRecord) => pool?.expired(record),
      },
    }))();
  const leave = async (queue: Queue): Promise<void> => {
    try {
      await answered(clock, leaseMs, () => queue.leave(wallMs(clock)));
    } catch (thrown) {
      log.error("The store could not be left by a pool that did not open", {
        pool: name,
        error: messageOf(thrown),
      });
    }
  };
  let queue: Queue;
  try {
    queue = await answered(clock, leaseMs, () => opening);
  } catch (thrown) {
    opening.then(leave, () => {}); // one that opens after all; what failed was reported
    throw thrown;
  }
  try {
    requireRules(settings, queue);
    const made = pool = new Pool(settings, queue, context);
    await answered(clock, leaseMs, () => made.load());
    return made;
  } catch (thrown) {
    await leave(queue);
    throw thrown;
  }
}

/** How long a store may take to close, ms: one that gives its own calls time has ended them by then. */
const CLOSES_WITHIN_MS = 15_000;

/** Closes a store. One that fails at it, or never answers, holds nobody up. */
export async function closeStore({ store, clock, log }: PoolContext): Promise<void> {
  try {
    await answered(clock, CLOSES_WITHIN_MS, () => store.close());
  } catch (thrown) {
    log.error("The store could not be closed", { error: messageOf(thrown) });
  }
}
