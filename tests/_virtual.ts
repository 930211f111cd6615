/**
 * A running config on a virtual clock.
 *
 * @module
 */

import { start, type StartOptions } from "../mod.ts";
import type { ConfigInput } from "../src/config/input.ts";
import type { PoolEvent } from "../src/contract/event.ts";
import type { PoolHandle, Sluice } from "../src/runtime/handles.ts";
import { VirtualClock } from "../src/time/virtual_clock.ts";

/** What a test on a virtual clock holds. */
export interface Virtual {
  readonly clock: VirtualClock;
  readonly sluice: Sluice;
  readonly pool: PoolHandle;
  readonly events: PoolEvent[];
}

/** What varies of a pool in a test. */
export type PoolParts = Partial<ConfigInput["pools"][string]>;

/** Runs `test` against one pool named `p` with lanes `high` and `low`, then stops it. */
export async function withPool(
  parts: PoolParts,
  test: (virtual: Virtual) => Promise<void>,
  options: StartOptions & { readonly clock?: VirtualClock } = {},
): Promise<void> {
  const clock = options.clock ?? new VirtualClock();
  const events: PoolEvent[] = [];
  const config = {
    pools: {
      p: {
        handler: () => "ok",
        size: { min: 1, max: 4 },
        lanes: [{ name: "high" }, { name: "low" }],
        ...parts,
      },
    },
  } as ConfigInput; // the parts of a test may leave no handler beside its handlers
  const observer = (event: PoolEvent): void => void events.push(event);
  const sluice = await start(config, { seed: 1, observer, ...options, clock });
  try {
    await test({ clock, sluice, pool: sluice.pool("p"), events });
  } finally {
    const stopped = sluice.stop();
    await clock.advance(120_000);
    await stopped;
  }
}

/** A handler whose jobs end when `clock` has moved by the payload's ms (or `ms`); heeds its abort. */
export function sleeper(
  clock: () => VirtualClock,
  ms = 20,
): (job: { payload: unknown }, context: { signal: AbortSignal }) => Promise<string> {
  return (job, { signal }) =>
    new Promise((resolve, reject) => {
      const now = clock();
      const length = typeof job.payload === "number" ? job.payload : ms;
      const timer = now.at(now.nowMs() + length, () => resolve("slept"));
      signal.addEventListener("abort", () => {
        timer.cancel();
        reject(signal.reason);
      });
    });
}
