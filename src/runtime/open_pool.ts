/**
 * Opens pools: at the start, and at a reload that brings new ones.
 *
 * @module
 */

import { rulesOf } from "./adopt.ts";
import { answered } from "./asked.ts";
import type { PoolContext } from "./assemble.ts";
import { wallMs } from "../clock.ts";
import type { JobRecord } from "../job.ts";
import { Pool } from "./pool.ts";
import { randomStream } from "../random.ts";
import type { PoolSettings } from "../settings.ts";

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
 * @throws {StoreError} If the store fails at it.
 */
export async function makePool(settings: PoolSettings, context: PoolContext): Promise<Pool> {
  const { store, clock, seed } = context;
  let pool: Pool | undefined;
  const queue = await answered(() =>
    store.open({
      pool: settings.name,
      ...rulesOf(settings),
      random: randomStream(seed, `${settings.name}/queue`),
      nowMs: wallMs(clock),
      listener: {
        wake: () => pool?.wake(),
        cancelled: (id: string) => pool?.cancelled(id),
        ended: (record: JobRecord) => pool?.expired(record),
      },
    })
  );
  try {
    const made = pool = new Pool(settings, queue, context);
    await answered(() => made.load());
    return made;
  } catch (thrown) {
    await answered(() => queue.leave(wallMs(clock)));
    throw thrown;
  }
}
