/**
 * Puts other settings in effect in a pool that runs: everything new is made first, then all of it
 * takes the place of the old between two turns of the pool.
 *
 * @module
 */

import { answered } from "./store_call.ts";
import type { PoolContext, PoolParts } from "./assemble.ts";
import { differs } from "../config/diff_parts.ts";
import { messageOf, StoreError } from "../contract/errors.ts";
import { keyRateOf } from "../planning/key_rate.ts";
import { makeInstances } from "./instances.ts";
import type { LaneSettings, PoolSettings } from "../config/settings.ts";
import type { Queue, QueueRules } from "../contract/store.ts";

/** Other settings that are ready to be put in effect. */
export interface Adoption {
  /** Puts them in effect: at once, all of them, without a fault. */
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
  const {
    cooldown,
    state,
    queue,
    slots,
    crew,
    dispatch,
    signals,
    intake,
    steering,
    sizes,
    pauses,
    permits,
    loop,
    overruns,
  } = parts;
  const before = { settings: state.settings, instances: slots.instances };
  const instances = makeInstances(settings, { seed, log, before });
  const rules = rulesOf(settings);
  requireRules(settings, queue);
  const reopen = differs(rulesOf(state.settings), rules) // refused before, if it cannot reopen
    ? await answered(clock, state.settings.leaseMs, () => queue.reopen?.(rules))
    : undefined;
  return { commit };

  function commit(): void {
    const nowMs = state.at(clock.nowMs());
    const was = state.settings;
    reopen?.(state.wall.at(nowMs));
    state.adopt(settings);
    slots.adopt(instances);
    permits.adopt();
    dispatch.adopt();
    intake.adopt(instances.handlers);
    signals.adopt(settings.signals);
    cooldown.adopt(nowMs);
    sizes.adopt();
    steering.adopt(nowMs);
    overruns.adopt();
    crew.adopt(instances.handlers, nowMs);
    pauseLanes(was); // before what is stored is read: it does not know them yet
    pauses.adopt();
    loop.adopt();
  }

  /** Puts in effect, in all processes, what the config says of `paused` and did not before. */
  function pauseLanes(was: PoolSettings): void {
    const before = new Map(was.lanes.map((lane) => [lane.name, lane.paused]));
    const lanes = settings.lanes.filter(({ name, paused }) => before.get(name) !== paused);
    if (lanes.length === 0) return;
    pauses.configure(lanes).then(
      () => loop.arrived(),
      (thrown) => {
        const error = messageOf(thrown);
        const names = lanes.map(({ name }) => name).join(", ");
        log.error("Lanes that a reload paused or resumed changed in this process only", {
          lanes: names,
          error,
        });
      },
    );
  }
}

/** What a pool asks of its queue. */
export function rulesOf({ lanes, leaseMs, keep }: PoolSettings): QueueRules {
  return {
    lanes: lanes.map(({ name, maxRunningPerKey, ratesPerKey, ...lane }) => {
      const handsOn = handedOn(lane);
      return {
        name,
        maxRunningPerKey,
        ...(ratesPerKey.length === 0 ? {} : { keyRates: ratesPerKey.map(keyRateOf) }),
        ...(handsOn.length === 0 ? {} : { handsOn }),
      };
    }),
    attempts: lanes.map((lane) => lane.attempts),
    leaseMs,
    keep,
  };
}

/** Which ends of a lane's jobs are handed on. */
function handedOn({ onDead, then }: Pick<LaneSettings, "onDead" | "then">): ("done" | "dead")[] {
  return [
    ...(onDead === undefined ? [] : ["dead" as const]),
    ...(then === undefined ? [] : ["done" as const]),
  ];
}

/** @throws {StoreError} If a lane needs what the store does not have: rates by key, a dedupe mode, ends handed on. */
export function requireRules({ name, lanes }: PoolSettings, queue: Queue): void {
  const limited = lanes.find(({ ratesPerKey }) => ratesPerKey.length > 0);
  if (limited !== undefined && queue.holdsKeyRates !== true) {
    refuse(
      `The store does not hold ratesPerKey, which lane "${limited.name}" of pool "${name}" has`,
    );
  }
  const mode = lanes.find(({ dedupe }) => (dedupe?.mode ?? "until-end") !== "until-end");
  if (mode !== undefined && queue.holdsDedupe !== true) {
    refuse(`The store does not hold dedupe, which lane "${mode.name}" of pool "${name}" has`);
  }
  const leading = lanes.find((lane) => handedOn(lane).length > 0);
  if (leading !== undefined && queue.toHandOn === undefined) {
    const key = leading.onDead === undefined ? "then" : "onDead";
    refuse(`The store hands no ends on, but lane "${leading.name}" of pool "${name}" has ${key}`);
  }
}

function refuse(why: string): never {
  throw new StoreError(undefined, why);
}
