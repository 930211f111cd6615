/**
 * A candidate controller beside the live one: asked on the same views, without effect.
 *
 * @module
 */

import { judgeProposal } from "../base/answers.ts";
import { grouped } from "../base/format.ts";
import type { ShadowReport } from "../contract/decision.ts";
import { messageOf } from "../contract/errors.ts";
import type { Named, Plan } from "../planning/planner.ts";
import type { Controller, Proposal } from "../contract/strategy.ts";
import type { PoolCore } from "./pool_core.ts";

/** A slow candidate is asked so seldom that it takes at most one part in this many of the time. */
const LEAST_PARTS = 20;

/** What a shadow needs of its pool. */
export interface ShadowContext extends Pick<PoolCore, "state" | "hub" | "now"> {
}

/** What both want. */
type Wishes = Pick<ShadowReport, "workers" | "liveWorkers" | "sentence" | "liveSentence">;

/** Asks a candidate and counts where it differs. Its faults stay its own. */
export class Shadow {
  readonly #candidate: Named<Controller>;
  readonly #context: ShadowContext;
  #wish: Proposal | undefined;
  #notBeforeMs = -Infinity;
  #ticks = 0;
  #differed = 0;
  #skipped = 0;
  #failed = 0;
  #sum = 0;
  #least = 0;
  #most = 0;
  #last: Wishes | undefined;
  #error: string | undefined;

  /** Has seen no tick. */
  constructor(candidate: Named<Controller>, context: ShadowContext) {
    this.#candidate = candidate;
    this.#context = context;
  }

  /** The candidate. */
  get candidate(): Named<Controller> {
    return this.#candidate;
  }

  /** What it came to so far. */
  get report(): ShadowReport {
    const counted = Math.max(1, this.#ticks);
    return {
      controller: this.#candidate.name,
      ticks: this.#ticks,
      differed: this.#differed,
      share: rounded(this.#differed / counted),
      meanDifference: rounded(this.#sum / counted),
      leastDifference: this.#least,
      mostDifference: this.#most,
      skipped: this.#skipped,
      failed: this.#failed,
      ...this.#last,
      ...this.#error === undefined ? {} : { error: this.#error },
    };
  }

  /** Asks the candidate, before the live one is asked and the view changes. */
  ask(): void {
    const { state, now } = this.#context;
    const beganMs = now();
    this.#wish = undefined;
    if (beganMs < this.#notBeforeMs) {
      this.#skipped++;
      return;
    }
    try {
      this.#wish = judgeProposal(this.#candidate.run(state.face));
    } catch (thrown) {
      this.#fails(messageOf(thrown));
    }
    const tookMs = now() - beganMs;
    this.#notBeforeMs = beganMs + tookMs * LEAST_PARTS;
  }

  /** Compares what it answered with the plan that the live controller was asked for. */
  compare(plan: Plan): void {
    const wish = this.#wish;
    const live = plan.proposals.find(({ kind }) => kind === "controller");
    // The planner puts the live one's last answer in where that fails: it says nothing of the two.
    const liveFails = plan.failures.some(({ plugin }) => plugin === live?.by);
    if (wish === undefined || live === undefined || liveFails) return;
    this.#works();
    const [workers, liveWorkers] = [this.#bounded(wish, plan), this.#bounded(live, plan)];
    const before = this.#last;
    this.#last = {
      workers,
      liveWorkers,
      sentence: sentenceOf(this.#candidate.name, wish),
      liveSentence: sentenceOf(live.by, live),
    };
    const difference = workers - liveWorkers;
    this.#ticks++;
    this.#sum += difference;
    this.#least = Math.min(this.#least, difference);
    this.#most = Math.max(this.#most, difference);
    if (difference !== 0) this.#differed++;
    const differedBefore = before !== undefined && before.workers !== before.liveWorkers;
    if (differedBefore !== (difference !== 0)) this.#tell(this.#last, difference !== 0);
  }

  /** Both are held to the size and to what the caps allowed the live one. */
  #bounded({ workers }: Pick<Proposal, "workers">, { limit }: Plan): number {
    const whole = Math.ceil(workers - 1e-9);
    return Math.min(Math.max(whole, this.#context.state.size.min), limit);
  }

  #tell(last: Wishes, differs: boolean): void {
    const { hub, state: { pool, nowMs: atMs } } = this.#context;
    if (!hub.active) return;
    const { name: controller } = this.#candidate;
    hub.emit({
      kind: differs ? "shadow-differs" : "shadow-agrees",
      atMs,
      pool,
      controller,
      ...last,
    });
  }

  #fails(error: string): void {
    this.#failed++;
    const { hub, state: { pool, nowMs: atMs } } = this.#context;
    if (this.#error === undefined && hub.watched) {
      hub.emit({ kind: "plugin-failed", atMs, pool, plugin: this.#plugin, error });
    }
    this.#error = error;
  }

  #works(): void {
    if (this.#error === undefined) return;
    this.#error = undefined;
    const { hub, state: { pool, nowMs: atMs } } = this.#context;
    if (hub.watched) hub.emit({ kind: "plugin-recovered", atMs, pool, plugin: this.#plugin });
  }

  /** Tells the candidate from the same controller where it is live. */
  get #plugin(): string {
    return `shadow ${this.#candidate.name}`;
  }
}

function sentenceOf(
  name: string,
  { workers, reason }: Pick<Proposal, "workers" | "reason">,
): string {
  return `${name} wants ${grouped(Math.ceil(workers - 1e-9))} (${reason})`;
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
