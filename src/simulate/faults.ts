/**
 * Makes go wrong what the scenario says.
 *
 * @module
 */

import type { Downstream } from "./handler.ts";
import type { Scenario } from "./read_scenario.ts";

/** What faults act on. */
export interface FaultTarget {
  /** Calls back at a time, ms since the beginning. */
  readonly at: (atMs: number, run: () => void) => void;
  /** What handlers call. */
  readonly downstream: Downstream;
  /** Turns the store's errors on and off. */
  readonly failStore: (fails: boolean) => void;
  /** Blocks the event loops of all processes. */
  readonly block: (forMs: number) => void;
  /** Kills a process. */
  readonly kill: () => void;
  /** Starts another in its place. */
  readonly restart: () => void;
}

/** Sets all faults going. Where those of a factor overlap, their factors multiply. */
export function playFaults(faults: Scenario["faults"], target: FaultTarget): void {
  const { downstream, failStore, block, kill, restart } = target;
  const begun = { down: 0, store: 0 };
  const refusals: (number | undefined)[] = [];
  const times = { slow: [] as number[], slots: [] as number[] };
  const apply = (): void => {
    downstream.factor = product(times.slow);
    downstream.slots = product(times.slots);
  };
  for (const fault of faults) {
    switch (fault.kind) {
      case "slow":
      case "slots": {
        const factors = times[fault.kind];
        span(fault, target, () => {
          factors.push(fault.factor);
          apply();
        }, () => {
          factors.splice(factors.indexOf(fault.factor), 1);
          apply();
        });
        break;
      }
      case "down":
        span(fault, target, () => downstream.down = ++begun.down > 0, () => {
          downstream.down = --begun.down > 0;
        });
        break;
      case "refuse": {
        const refuse = (): void => {
          downstream.refuses = refusals.length > 0;
          downstream.retryAfterMs = refusals.at(-1);
        };
        span(fault, target, () => {
          refusals.push(fault.retryAfterMs);
          refuse();
        }, () => {
          refusals.splice(refusals.indexOf(fault.retryAfterMs), 1);
          refuse();
        });
        break;
      }
      case "store-error":
        span(fault, target, () => failStore(++begun.store > 0), () => failStore(--begun.store > 0));
        break;
      case "block":
        target.at(fault.atMs, () => block(fault.forMs));
        break;
      case "kill":
        span(fault, target, kill, restart);
    }
  }
}

function product(factors: readonly number[]): number {
  return factors.reduce((product, factor) => product * factor, 1);
}

function span(
  { atMs, forMs }: { readonly atMs: number; readonly forMs: number },
  { at }: FaultTarget,
  begin: () => void,
  end: () => void,
): void {
  at(atMs, begin);
  at(atMs + forMs, end);
}
