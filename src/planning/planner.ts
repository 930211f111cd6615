/**
 * Composition: what controller, caps and bounds together make of a view. Targets, not steps.
 *
 * @module
 */

import { judgeLimit, judgeProposal } from "../base/answers.ts";
import type { DecisionPart } from "../contract/decision.ts";
import { messageOf } from "../contract/errors.ts";
import type { Cap, Controller, Limit, Proposal, StartLimit } from "../contract/strategy.ts";
import type { LaneView, PoolView } from "../contract/view.ts";
import type { SharedUse } from "./permits.ts";
import { LONG_MS, windowOf } from "./start_window.ts";

/** A strategy with its name. */
export interface Named<Strategy> {
  /** Name of the plugin. */
  readonly name: string;
  /** The instance. */
  readonly run: Strategy;
}

/** A cap with what the core does about it. */
export interface NamedCap extends Named<Cap> {
  /** `cluster`: holds over all processes together, so each takes its share. */
  readonly scope: "cluster" | "process";
  /** The named downstream that it is about: other pools share that. `undefined`: none. */
  readonly shared?: SharedUse | undefined;
}

/** Which part of a cap over several processes is this one's. */
export interface Shares {
  /** Workers, of `whole`. @param wants Workers that the pool would have if there were enough. */
  workers(cap: NamedCap, whole: number, wants: number): number;
  /** Starts in each window, of a rate's. @param room Workers that could take a job each. */
  starts(rate: CapRate, room: number): number;
}

/** A limit on starts that a cap has given. */
export interface CapRate {
  /** Who has given it. */
  readonly cap: NamedCap;
  /** Its place among those of its cap, from 1. */
  readonly number: number;
  /** Names it, from plan to plan, among those of its pool. */
  readonly key: string;
  /** All of it. */
  readonly limit: StartLimit;
}

/** A limit on starts that this process holds. */
export interface HeldRate {
  /** Names it, from plan to plan, among those of its pool. */
  readonly key: string;
  /** Its limit: this process's part. */
  readonly limit: StartLimit;
  /** All of it, a part of a limit over several processes, or what a ledger of all of them gives. */
  readonly by: "whole" | "share" | "ledger";
}

/** What a plan is made under. */
export interface PlanBounds {
  /** Least workers. */
  readonly min: number;
  /** Most workers. */
  readonly max: number;
  /** Wanted count instead of the controller's. `undefined`: ask the controller. */
  readonly target: number | undefined;
  /** Workers that are being started. */
  readonly starting: number;
  /** This process's part of the caps over several. `undefined`: all of them. */
  readonly shares: Shares | undefined;
  /** Jobs that the start rate of the last plan, and a cool-down, let start now: more workers would find nothing to do. */
  readonly startable: number;
}

/** A strategy that threw or answered nonsense. */
export interface PlanFailure {
  /** Name of the plugin. */
  readonly plugin: string;
  /** What it threw, or what is wrong with its answer. */
  readonly error: string;
}

/** What a pool is to do. Repeating it changes nothing. */
export interface Plan {
  /** Workers to have. */
  readonly target: number;
  /** The tightest bound: caps and the maximum. */
  readonly limit: number;
  /** Limits on starts: all of them hold. */
  readonly rates: readonly HeldRate[];
  /** Starts per second of the slowest of those for all lanes. `Infinity`: there are none. */
  readonly startsPerSec: number;
  /** What sets `startsPerSec`, as `boundBy` names it. Empty: nothing does. */
  readonly rateCap: string;
  /** What set the target. `work`: jobs are ready, so there is one worker at least. */
  readonly boundBy: string;
  /** What each strategy asked for. */
  readonly proposals: readonly DecisionPart[];
  /** Plan again then, at the latest. `Infinity`: when something happens. */
  readonly reviewAtMs: number;
  /** Strategies whose last good answer is used instead. */
  readonly failures: readonly PlanFailure[];
}

/** Makes plans; remembers the last good answer of each strategy, for when one fails. */
export interface Planner {
  /** Makes the plan for this moment. */
  plan(view: PoolView, bounds: PlanBounds): Plan;
}

/**
 * Composes one controller and caps, in order. A cap wins over the minimum.
 *
 * @param lastLimits The last good answers of caps; a planner that follows another takes its own on.
 */
export function createPlanner(
  controller: Named<Controller>,
  caps: readonly NamedCap[],
  lastLimits: WeakMap<NamedCap, Limit> = new WeakMap(),
): Planner {
  const keys = keysOf(caps);
  return { plan };

  function plan(view: PoolView, bounds: PlanBounds): Plan {
    const failures: PlanFailure[] = [];
    const proposals: DecisionPart[] = [];
    let reviewAtMs = Infinity;

    let target: number;
    let boundBy: string;
    if (bounds.target === undefined) {
      const proposal = propose(view, failures);
      proposals.push({
        by: controller.name,
        kind: "controller",
        workers: proposal.workers,
        reason: proposal.reason,
      });
      reviewAtMs = proposal.reviewAtMs ?? Infinity;
      target = Math.max(0, Math.ceil(proposal.workers - 1e-9)); // none: 0, not -0
      boundBy = "controller";
    } else {
      target = bounds.target;
      boundBy = "override";
    }
    if (target < bounds.min) {
      target = bounds.min;
      boundBy = "size.min";
    }
    if (target === 0 && bounds.target === undefined && view.lanes.some(hasStartable)) {
      target = 1;
      boundBy = "work";
    }
    if (target > bounds.max) {
      target = bounds.max;
      boundBy = "size.max";
    }

    let limit = bounds.max;
    let startsPerSec = Infinity;
    let rateCap = "";
    const wholes: CapRate[] = [];
    const share = (cap: NamedCap, whole: number): Shares | undefined =>
      cap.scope === "process" || whole === Infinity ? undefined : bounds.shares;
    for (const cap of caps) {
      const answer = ask(cap, view, target, failures);
      const whole = Math.floor(answer.workers + 1e-9);
      const workers = share(cap, whole)?.workers(cap, whole, target) ?? whole;
      const here = workers < whole ? `: ${workers} of ${whole} here` : "";
      const kind = cap.shared === undefined ? "cap" : "downstream";
      proposals.push({ by: cap.name, kind, workers, reason: answer.reason + here });
      reviewAtMs = Math.min(reviewAtMs, answer.reviewAtMs ?? Infinity);
      if (workers < target) {
        target = workers;
        boundBy = binderOf(cap);
      }
      limit = Math.min(limit, workers);
      limitsIn(answer).forEach((limit, index) => {
        wholes.push({ cap, number: index + 1, key: `${keys.get(cap)}/${index + 1}`, limit });
      });
    }
    const room = Math.max(view.idle, target - view.busy);
    const rates = wholes.map((rate): HeldRate => {
      const { cap, key, limit } = rate;
      const isOwn = cap.scope === "cluster" && cap.shared === undefined; // a ledger is one pool's
      const isLong = isOwn && windowOf(limit).perMs > LONG_MS;
      const shares = isLong ? undefined : share(cap, limit.starts);
      const starts = shares?.starts(rate, room) ?? limit.starts;
      const perSec = starts * 1000 / limit.perMs;
      if (limit.lane === undefined && perSec < startsPerSec) {
        startsPerSec = perSec;
        rateCap = binderOf(cap);
      }
      const by = isLong ? "ledger" : starts < limit.starts ? "share" : "whole";
      return { key, limit: { ...limit, starts }, by };
    });
    const have = view.live + bounds.starting;
    const useful = Math.max(have, Math.min(bounds.min, limit)) + bounds.startable;
    if (target > useful) {
      target = useful;
      boundBy = waitsFor(view) ?? (rateCap === "" ? "cooldown" : rateCap); // a breaker lets some start
    }
    return {
      target,
      limit,
      rates,
      startsPerSec,
      rateCap,
      boundBy,
      proposals,
      reviewAtMs,
      failures,
    };
  }

  function propose(view: PoolView, failures: PlanFailure[]): Proposal {
    try {
      return judgeProposal(controller.run(view));
    } catch (thrown) {
      failures.push({ plugin: controller.name, error: messageOf(thrown) });
    }
    return {
      workers: view.target,
      reason: `${controller.name} failed: the last target stays in use`,
    };
  }

  function ask(cap: NamedCap, view: PoolView, wanted: number, failures: PlanFailure[]): Limit {
    try {
      const limit = judgeLimit(cap.run(view, wanted));
      lastLimits.set(cap, limit);
      return limit;
    } catch (thrown) {
      failures.push({ plugin: cap.name, error: messageOf(thrown) });
    }
    const last = lastLimits.get(cap);
    if (last !== undefined) {
      return {
        ...last,
        reason: `${cap.name} failed: its last limit stays in use`,
        reviewAtMs: undefined,
      };
    }
    return { workers: view.target, reason: `${cap.name} failed: no growth until it answers` };
  }
}

/** What bounds a pool while it cools down. `undefined`: it does not. */
export function waitsFor({ holdUntilMs, heldBy }: PoolView): string | undefined {
  if (holdUntilMs === 0) return undefined;
  return heldBy === "" ? "cooldown" : `downstream:${heldBy}`;
}

function binderOf({ name, shared }: NamedCap): string {
  return `${shared === undefined ? "cap" : "downstream"}:${name}`;
}

/** Names caps, those of one name by their order too. */
function keysOf(caps: readonly NamedCap[]): ReadonlyMap<NamedCap, string> {
  const seen = new Map<string, number>();
  return new Map(caps.map((cap) => {
    const count = (seen.get(cap.name) ?? 0) + 1;
    seen.set(cap.name, count);
    return [cap, count === 1 ? cap.name : `${cap.name}#${count}`];
  }));
}

/** All limits on starts that a cap has answered. */
export function limitsIn({ startsPerSec, rates = [] }: Limit): readonly StartLimit[] {
  if (startsPerSec === undefined || startsPerSec === Infinity) return rates;
  return [{ starts: startsPerSec, perMs: 1000 }, ...rates];
}

/**
 * True if a job of the lane could start. One worker is there for such jobs whatever the controller
 * says: it may leave lanes out, or go by figures that nobody measures while nothing runs.
 */
function hasStartable({ ready, paused, running, maxRunning }: LaneView): boolean {
  return ready > 0 && !paused && running < maxRunning;
}
