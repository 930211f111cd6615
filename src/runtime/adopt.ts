/**
 * Puts other settings in force in a pool that runs: everything new is made first, then all of it
 * takes the place of the old between two turns of the pool.
 *
 * @module
 */

import { answered } from "./asked.ts";
import type { PoolContext, PoolParts } from "./assemble.ts";
import { differs } from "../config/diff_parts.ts";
import { messageOf } from "../errors.ts";
import { makeInstances } from "./instances.ts";
import type { PoolSettings } from "../settings.ts";
import type { QueueRules } from "../store.ts";

/** Other settings that are ready to be put in force. */
export interface Adoption {
  /** Puts them in force: at once, all of them, without a fault. */
  commit(): void;
}

/**
 * Makes all that other settings need.
 *
 * @throws {Error} If a plugin fails at it: nothing has changed.
 * @throws {StoreError} If the store does.
 */
export async function prepareAdoption(
  parts: PoolParts,
  settings: PoolSettings,
  { clock, log, seed }: PoolContext,
): Promise<Adoption> {
  const { state, queue, slots, crew, dispatch, signals, intake, steering, pauses, permits, loop } =
    parts;
  const before = { settings: state.settings, instances: slots.instances };
  const instances = makeInstances(settings, { seed, log, before });
  const rules = rulesOf(settings);
  const reopen = differs(rulesOf(state.settings), rules) // refused before, if it cannot reopen
    ? await answered(() => queue.reopen?.(rules))
    : undefined;
  return { commit };

  function commit(): void {
    const nowMs = clock.nowMs();
    const was = state.settings;
    reopen?.(nowMs);
    state.nowMs = nowMs;
    state.adopt(settings);
    slots.adopt(instances);
    dispatch.adopt();
    intake.adopt(instances.handlers);
    signals.adopt(settings.signals);
    steering.adopt(nowMs);
    crew.adopt(instances.handlers, nowMs);
    pauses.adopt();
    permits.adopt();
    pauseLanes(was);
    loop.adopt();
  }

  /** Pauses or resumes lanes that are configured so now and were not before, for all processes. */
  function pauseLanes(was: PoolSettings): void {
    for (const { name, paused } of settings.lanes) {
      const before = was.lanes.find((lane) => lane.name === name)?.paused ?? false;
      if (paused === before) continue;
      pauses.set(name, paused).then(
        () => loop.arrived(),
        (thrown) => {
          const error = messageOf(thrown);
          log.error("A lane could not be paused or resumed by a reload", { lane: name, error });
        },
      );
    }
  }
}

/** What a pool asks of its queue. */
export function rulesOf({ lanes, leaseMs, keep }: PoolSettings): QueueRules {
  return {
    lanes: lanes.map(({ name, maxRunningPerKey }) => ({ name, maxRunningPerKey })),
    attempts: lanes.map((lane) => lane.attempts),
    leaseMs,
    keep,
  };
}
