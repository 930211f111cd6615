/**
 * Ends of jobs that lead to jobs of other lanes: the store notes each with the end, and the note goes with
 * the job that is added. Whatever is killed in between, there is one job for each end.
 *
 * @module
 */

import { Alarm } from "./alarm.ts";
import { messageOf } from "../contract/errors.ts";
import type { HandOn, Queue } from "../contract/store.ts";
import type { HandOnInput } from "../config/input.ts";
import { handedPayload } from "../base/handed_payload.ts";
import type { PoolCore } from "./pool_core.ts";
import { storeCall } from "./store_call.ts";
import type { HandedJob, Takers } from "./takers.ts";

/** Most ends that are read, and added, at once. */
const MOST_AT_ONCE = 500;

/** So often ends are looked for that a process left which was killed, ms. */
const LOOK_EVERY_MS = 10_000;

/** First wait after a store that failed, ms; it doubles up to the time above. */
const FIRST_PAUSE_MS = 1000;

/** What handing on needs of its pool. */
export interface HandingOnContext extends PoolCore {
  /** Notes ends. */
  readonly queue: Queue;
  /** Who takes jobs. */
  readonly takers: Takers;
}

/** Owns the way from the ends of one pool to jobs of other lanes. */
export class HandingOn {
  readonly #context: HandingOnContext;
  readonly #alarm: Alarm;
  #working: Promise<void> | undefined;
  #again = false;
  #open = false;
  #pauseMs = FIRST_PAUSE_MS;

  /** Begins nothing before `open`. */
  constructor(context: HandingOnContext) {
    this.#context = context;
    this.#alarm = new Alarm(context.clock, () => this.look());
  }

  /** True while ends are handed on. */
  get isAtWork(): boolean {
    return this.#working !== undefined;
  }

  /** Hands on from now on. */
  open(): void {
    this.#open = true;
  }

  /** Hands on what is noted. Without a lane that leads to a pool which takes jobs, the store is not asked. */
  look(): void {
    if (!this.#open || !this.#leads) return;
    this.#again = true;
    this.#working ??= this.#handOnAll();
  }

  /** Resolves once what is noted by now is handed on. */
  async looked(): Promise<void> {
    this.look();
    await this.#working;
  }

  /** Hands on what is noted, and nothing after that. */
  async close(): Promise<void> {
    this.look();
    this.#open = false;
    await this.#working;
    this.#alarm.cancel();
  }

  get #leads(): boolean {
    const { state: { lanes }, takers } = this.#context;
    const isTaken = (target: HandOnInput | undefined): boolean =>
      target !== undefined && takers.get(target.pool) !== undefined;
    return lanes.some(({ settings: { onDead, then } }) => isTaken(onDead) || isTaken(then));
  }

  async #handOnAll(): Promise<void> {
    const { clock, log, state } = this.#context;
    let inMs = LOOK_EVERY_MS;
    while (this.#again) {
      this.#again = false;
      try {
        await this.#handOnNoted();
        this.#pauseMs = FIRST_PAUSE_MS;
      } catch (thrown) {
        log.error("Ends of jobs could not be handed on: it is tried again", {
          pool: state.pool,
          error: messageOf(thrown),
        });
        inMs = this.#pauseMs;
        this.#pauseMs = Math.min(LOOK_EVERY_MS, 2 * this.#pauseMs);
      }
    }
    this.#working = undefined; // at once: a look that comes now starts again
    if (this.#open) this.#alarm.by(clock.nowMs() + inMs);
  }

  async #handOnNoted(): Promise<void> {
    const { queue, clock } = this.#context;
    let after: string | undefined;
    for (;;) {
      const noted = await storeCall(clock, () => queue.toHandOn?.(MOST_AT_ONCE, after) ?? []);
      if (noted.length === 0) return;
      after = noted.at(-1)!.precondition.key;
      await this.#handOn(noted);
    }
  }

  async #handOn(noted: readonly HandOn[]): Promise<void> {
    const { takers } = this.#context;
    const byPool = new Map<string, HandedJob[]>();
    for (const one of noted) {
      const target = this.#targetOf(one);
      if (target === undefined) continue; // it is noted until its lane leads somewhere again
      const { record: { key, traceparent }, precondition } = one;
      const payload = handedPayload(one);
      const { pool, lane, type = "" } = target;
      const jobs = byPool.get(pool) ?? [];
      byPool.set(pool, jobs);
      jobs.push({ lane, type, payload, key, traceparent, precondition });
    }
    for (const [pool, jobs] of byPool) await takers.get(pool)?.take(jobs);
  }

  #targetOf({ record }: HandOn): HandOnInput | undefined {
    const { settings } = this.#context.state.lanes.find(({ name }) => name === record.lane) ?? {};
    return record.state === "done" ? settings?.then : settings?.onDead;
  }
}
