/**
 * The pool that benchmarks run: in memory, three lanes, everything else by default: reserved lanes,
 * the age scaler, shedding at the cap, windows and quantiles.
 *
 * @module
 */

import type { PoolHandle } from "../src/runtime/handles.ts";
import type { PoolInput } from "../src/config/input.ts";
import type { HandlerFunction } from "../src/config/slot_input.ts";
import { start } from "../mod.ts";

/** Lanes, highest priority first. */
export const LANES = ["urgent", "normal", "batch"] as const;

/**
 * Target of all lanes, ms. What is put in within one turn of the event loop grows old before the
 * first of it may run: with the default target the rest of it would be shed.
 */
const PATIENT_MS = 60_000;

/** A pool that runs, until it is disposed of. */
export interface BenchPool extends AsyncDisposable {
  /** What to enqueue to. */
  readonly pool: PoolHandle;
}

/** Starts a pool with `max` workers; `parts` changes more. */
export async function startPool(
  handler: HandlerFunction,
  max: number,
  parts: Partial<PoolInput> = {},
): Promise<BenchPool> {
  const lanes = LANES.map((name) => ({ name, targetWaitMs: PATIENT_MS }));
  const pool: PoolInput = { handler, size: { min: max, max }, lanes, ...parts };
  const sluice = await start({ pools: { bench: pool } });
  return {
    pool: sluice.pool("bench"),
    [Symbol.asyncDispose]: async () => {
      await sluice.stop();
    },
  };
}
