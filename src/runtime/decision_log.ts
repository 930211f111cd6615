/**
 * The decisions of one pool: recorded, folded while nothing changes, told in one sentence.
 *
 * @module
 */

import { grouped } from "../base/format.ts";
import type { Decision, DecisionInputs, DecisionPart } from "../contract/decision.ts";
import type { Plan } from "../planning/planner.ts";
import type { PoolState } from "./pool_state.ts";

/** Decisions that are kept. */
const KEPT = 500;

/** Keeps the latest decisions in a ring; repetitions extend the last one. */
export class DecisionLog {
  readonly #ring: Decision[] = [];
  #made = 0;
  #repeated: (() => Decision) | undefined; // the latest repetition; told only when someone reads it

  /** The latest decision. `undefined` before the first. */
  get last(): Decision | undefined {
    this.#tell();
    return this.#ring[(this.#made - 1) % KEPT];
  }

  /** Newest first, at most `limit`. */
  newest(limit: number): readonly Decision[] {
    this.#tell();
    const count = Math.min(limit, this.#ring.length);
    return Array.from({ length: count }, (_, back) => this.#ring[(this.#made - 1 - back) % KEPT]!);
  }

  /** Records what was decided. Answers the decision if it is a new one. */
  record(
    state: PoolState,
    from: number,
    plan: Plan,
    retire: readonly string[],
  ): Decision | undefined {
    const last = this.#ring[(this.#made - 1) % KEPT];
    const repeats = last !== undefined && last.to === plan.target && from === plan.target &&
      last.boundBy === plan.boundBy && last.inputs.stuck === state.stuck &&
      retire.length === 0 && last.retire.length === 0;
    if (repeats) {
      const untilMs = state.nowMs;
      const { size, rateBound, holdUntilMs, heldBy, stuck } = state;
      const figures = { size, rateBound, holdUntilMs, heldBy, stuck };
      this.#repeated = () => {
        return { ...last, untilMs, latest: sentenceOf(figures, from, plan, retire) };
      };
      return undefined;
    }
    const decision: Decision = {
      atMs: state.nowMs,
      untilMs: state.nowMs,
      from,
      to: plan.target,
      inputs: inputsOf(state),
      proposals: plan.proposals,
      boundBy: plan.boundBy,
      retire,
      sentence: sentenceOf(state, from, plan, retire),
    };
    this.#tell();
    this.#ring[this.#made++ % KEPT] = decision;
    return decision;
  }

  /** Takes the latest repetition into the ring. */
  #tell(): void {
    if (this.#repeated === undefined) return;
    this.#ring[(this.#made - 1) % KEPT] = this.#repeated();
    this.#repeated = undefined;
  }
}

function inputsOf(state: PoolState): DecisionInputs {
  let ready = 0;
  let blocked = 0;
  let oldestWaitMs = 0;
  for (const lane of state.lanes) {
    ready += lane.ready;
    blocked += lane.blocked;
    oldestWaitMs = Math.max(oldestWaitMs, lane.oldestWaitMs);
  }
  const { busy, live, starting, retiring, stuck } = state;
  return { ready, blocked, oldestWaitMs, busy, live, starting, retiring, stuck };
}

/** What a sentence needs of a pool's state. */
type Figures = Pick<PoolState, "size" | "rateBound" | "holdUntilMs" | "heldBy" | "stuck">;

function sentenceOf(state: Figures, from: number, plan: Plan, retire: readonly string[]): string {
  const { target } = plan;
  const move = target > from
    ? `Grew from ${from} to ${target}`
    : target < from
    ? `Shrank from ${from} to ${target}`
    : `Held at ${target}`;
  const cause = causeOf(state, plan);
  return `${move}: ${cause}${cooling(state)}${leaving(retire)}${hanging(state.stuck)}`;
}

function causeOf(state: Figures, plan: Plan): string {
  const asked = plan.proposals.find((part) => part.kind === "controller");
  const wish = asked === undefined ? "set by an override" : wishOf(asked);
  const idle = `${wish}, but more would have nothing to do`;
  switch (plan.boundBy) {
    case "controller":
    case "override":
      return wish;
    case "size.min":
      return `${wish}, but size.min is ${state.size.min}`;
    case "work":
      return `${wish}, but jobs are ready: at least one worker`;
    case "cooldown":
      return idle;
    case "size.max":
      return `${wish}, but size.max is ${state.size.max}`;
    default: {
      if (state.holdUntilMs > 0 && plan.boundBy === `downstream:${state.heldBy}`) return idle;
      const [cap] = plan.proposals.filter((part) => `${part.kind}:${part.by}` === plan.boundBy)
        .sort((a, b) => a.workers - b.workers); // of a downstream, connections and rates
      const name = cap?.kind === "downstream" ? `downstream ${cap.by}` : cap?.by;
      if (state.rateBound) return `${wish}, but the start rate of ${name} holds jobs back`;
      return `${wish}, but ${name} allows ${cap?.workers} (${cap?.reason})`;
    }
  }
}

function wishOf(part: DecisionPart): string {
  return `${part.by} wants ${grouped(Math.ceil(part.workers - 1e-9))} (${part.reason})`;
}

function cooling({ holdUntilMs, heldBy }: Figures): string {
  if (holdUntilMs === 0) return "";
  const who = heldBy === "" ? "the receiver" : `downstream ${heldBy}`;
  return `; ${who} says "not now": the pool cools down`;
}

function leaving(retire: readonly string[]): string {
  if (retire.length === 0) return "";
  return `; ${retire.length === 1 ? `${retire[0]} leaves` : `${retire.length} workers leave`}`;
}

function hanging(stuck: number): string {
  if (stuck === 0) return "";
  return `, ${stuck === 1 ? "1 worker is" : `${stuck} workers are`} stuck`;
}
