/**
 * A running config on a virtual clock.
 *
 * @module
 */

import { start, type StartOptions } from "../mod.ts";
import type { ConfigInput } from "../src/config/input.ts";
import type { PoolEvent } from "../src/contract/event.ts";
import type { PoolHandle, Sluice } from "../src/runtime/handles.ts";
import type { Clock } from "../src/time/clock.ts";
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

/** How a pool is started in a test. */
export interface VirtualOptions extends Omit<StartOptions, "clock"> {
  readonly clock?: VirtualClock;
  /** What the pool takes for its clock, on the time of `clock`. @default {`clock` itself} */
  readonly own?: Clock;
  readonly store?: ConfigInput["store"];
  /** False: nobody observes, and `events` stays empty. @default {true} */
  readonly observed?: boolean;
}

/** A config with one pool named `p`, with lanes `high` and `low` unless they are given, and further pools. */
export function configOf(
  parts: PoolParts,
  more: ConfigInput["pools"] = {},
  store?: ConfigInput["store"],
): ConfigInput {
  const p = {
    handler: ok,
    size: { min: 1, max: 4 },
    lanes: [{ name: "high" }, { name: "low" }],
    ...parts,
  } as ConfigInput["pools"][string]; // the parts of a test may leave no handler beside its handlers
  return { pools: { p, ...more }, ...(store === undefined ? {} : { store }) };
}

/** A handler that does nothing: the same function in each config. */
export function ok(): string {
  return "ok";
}

/** Starts one pool named `p` on a virtual clock. All tests of whole pools in virtual time go by this. */
export async function startPool(
  parts: PoolParts,
  { clock = new VirtualClock(), own = clock, store, observer, observed = true, ...options }:
    VirtualOptions = {},
): Promise<Virtual> {
  const events: PoolEvent[] = [];
  const observe = (event: PoolEvent): void => {
    events.push(event);
    observer?.(event);
  };
  const config = configOf(parts, {}, store);
  const observing = observed ? { observer: observe } : {};
  const sluice = await start(config, { seed: 1, ...options, ...observing, clock: own });
  return { clock, sluice, pool: sluice.pool("p"), events };
}

/** Stops a pool, and moves time until it has. */
export async function stopPool(
  { clock, sluice }: Pick<Virtual, "clock" | "sluice">,
): Promise<void> {
  const stopped = sluice.stop();
  await clock.advance(120_000);
  await stopped;
}

/** Runs `test` against one pool as `startPool` starts it, then stops it. */
export async function withPool(
  parts: PoolParts,
  test: (virtual: Virtual) => Promise<void>,
  options: VirtualOptions = {},
): Promise<void> {
  const virtual = await startPool(parts, options);
  try {
    await test(virtual);
  } finally {
    await stopPool(virtual);
  }
}

/** A handler whose jobs end when `clock` has moved by the payload's ms (or `ms`); it ends at its abort. */
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
