/**
 * Looks up and changes the jobs of one pool for its users, and hears from the store what others did to
 * them.
 *
 * @module
 */

import { attemptOf } from "./attempt_note.ts";
import { withAttempt } from "../base/history.ts";
import { checkChange, checkId, checkQuery } from "./called.ts";
import type { JobRecord } from "../contract/job.ts";
import type { Dispatch } from "./dispatch.ts";
import type { PoolCore } from "./pool_core.ts";
import type { PoolLoop } from "./pool_loop.ts";
import type { Runner } from "./runner.ts";
import { storeCall, storeChange } from "./store_call.ts";
import type { Change, Changed, JobPage, JobQuery, Queue } from "../contract/store.ts";

/** What it takes to get at the jobs of a pool. */
export interface JobAccessContext extends PoolCore {
  /** Where jobs live. */
  readonly queue: Queue;
  /** Holds those that have not started. */
  readonly dispatch: Dispatch;
  /** Runs them. */
  readonly runner: Runner;
  /** Told of what may be claimable now. */
  readonly loop: PoolLoop;
}

/** Gets at the jobs of one pool. */
export class JobAccess {
  readonly #context: JobAccessContext;

  /** Those of a pool. */
  constructor(context: JobAccessContext) {
    this.#context = context;
  }

  /** Looks a job up. `undefined`: there is none of that id. */
  async find(id: string): Promise<JobRecord | undefined> {
    checkId(id);
    const { clock, queue, runner } = this.#context;
    const record = await storeCall(clock, () => queue.find(id));
    if (record?.state !== "running") return record;
    const worker = runner.workerOf(id);
    const run = worker?.run;
    const progress = run?.reported;
    const { now, state: { wall } } = this.#context;
    const history = worker === undefined || run?.lines === undefined
      ? undefined
      : withAttempt(record.history, attemptOf(run, "running", { worker, nowMs: now(), wall }));
    return {
      ...record,
      ...(progress === undefined ? {} : { progress }),
      ...(history === undefined ? {} : { history }),
      ...(worker?.aborted === "cancelled" ? { cancelling: true } : {}),
    };
  }

  /** Lists jobs. */
  async list(query: JobQuery): Promise<JobPage> {
    checkQuery(query);
    const { clock, queue } = this.#context;
    return await storeCall(clock, () => queue.list(query));
  }

  /** Cancels, revives or removes a job. */
  async change(id: string, change: Change): Promise<Changed> {
    checkChange(id, change);
    return await storeChange(this.#context.clock, () => this.#change(id, change));
  }

  /** One that runs here was cancelled. */
  cancelled(id: string): void {
    const { dispatch, runner, loop, now } = this.#context;
    const nowMs = now();
    if (!dispatch.drop(id, nowMs)) runner.abort(id, "cancelled", nowMs);
    loop.schedule();
  }

  /** One ended while it waited. */
  expired({ lane, id, error, reason = "expired", state }: JobRecord): void {
    if (state === "cancelled") {
      this.#tellCancelled(lane, id);
      return;
    }
    const { state: { pool }, hub, now } = this.#context;
    this.#context.state.ended(lane, reason);
    if (!hub.active) return;
    const ending = { lane, id, reason, error, serviceMs: undefined };
    hub.emit({ kind: "job-dead", atMs: now(), pool, ...ending });
  }

  async #change(id: string, change: Change): Promise<Changed> {
    const { queue, state, now, loop } = this.#context;
    // Looked up before: once it has ended it may be forgotten.
    const isCancel = change === "cancel";
    const lane = isCancel && (queue.laneOf?.(id) ?? (await queue.find(id))?.lane) || "";
    const changed = await queue.change(id, change, state.wall.at(now()));
    if (changed.ok && changed.state === "cancelled") this.#tellCancelled(lane, id);
    if (changed.ok) loop.arrived();
    return changed;
  }

  #tellCancelled(lane: string, id: string): void {
    const { state, hub, now } = this.#context;
    state.ended(lane, "cancelled");
    if (hub.active) hub.emit({ kind: "job-cancelled", atMs: now(), pool: state.pool, lane, id });
  }
}
