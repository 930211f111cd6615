/**
 * Runs jobs as calls: who enqueues waits for the result.
 *
 * @module
 */

import { messageOf } from "../contract/errors.ts";
import type { NewJob, Outcome } from "../contract/job.ts";
import { JobError } from "../contract/job_error.ts";
import type { Added, MaybePromise, Queue } from "../contract/store.ts";
import { checkRun } from "./called.ts";
import type { Enqueuing } from "./enqueuing.ts";
import type { RunOptions } from "./handles.ts";
import type { JobAccess } from "./job_access.ts";
import type { LastThrows } from "./last_throws.ts";
import type { PoolCore } from "./pool_core.ts";
import { isPromise } from "./store_guard.ts";

/** What calls need of their pool. */
export interface CallsContext extends PoolCore {
  /** Where jobs live. */
  readonly queue: Queue;
  /** Takes jobs. */
  readonly enqueuing: Enqueuing;
  /** Looks jobs up, and cancels them. */
  readonly jobs: JobAccess;
  /** What jobs died of. */
  readonly throws: LastThrows;
}

/** Owns the calls of one pool. */
export class Calls {
  readonly #context: CallsContext;

  /** Begins with no call. */
  constructor(context: CallsContext) {
    this.#context = context;
  }

  /** Enqueues a job and waits for its result. */
  run(job: NewJob, options: RunOptions = {}): Promise<unknown> {
    try {
      checkRun(options);
      options.signal?.throwIfAborted();
      const added = this.#context.enqueuing.take(job);
      if (options.signal !== undefined) return this.#abortable(added, options.signal);
      return isPromise(added) ? added.then((one) => this.#end(one)) : this.#end(added);
    } catch (thrown) {
      return Promise.reject(thrown);
    }
  }

  #abortable(added: MaybePromise<Added>, signal: AbortSignal): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const taken = Promise.resolve(added);
      const abort = (): void => {
        reject(signal.reason);
        taken.then((one) => this.#cancel(one), () => {}); // one that is not taken runs nowhere
      };
      signal.addEventListener("abort", abort, { once: true });
      taken.then((one) => this.#end(one))
        .finally(() => signal.removeEventListener("abort", abort))
        .then(resolve, reject);
    });
  }

  /** Cancels a job, but none that others have enqueued. */
  async #cancel({ id, duplicate }: Added): Promise<void> {
    if (duplicate) return;
    const { jobs, log, state: { pool } } = this.#context;
    try {
      await jobs.change(id, "cancel");
    } catch (thrown) {
      log.warn("A call was given up, but its job could not be cancelled", {
        pool,
        job: id,
        error: messageOf(thrown),
      });
    }
  }

  /** Waits for the end of a job. */
  #end(added: Added): Promise<unknown> {
    const { queue, throws } = this.#context;
    throws.began();
    return queue.outcome(added).then((outcome) => {
      if (outcome.state === "done" && outcome.resultError === undefined) {
        throws.ended();
        return outcome.result;
      }
      return this.#failed(added, outcome);
    });
  }

  async #failed({ id }: Added, outcome: Outcome): Promise<never> {
    const { throws, jobs } = this.#context;
    const last = outcome.state === "dead" ? throws.of(id) : undefined;
    throws.ended();
    const { error } = outcome;
    throw new JobError({
      id,
      outcome,
      attempts: last?.attempt ?? (await jobs.find(id).catch(() => undefined))?.attempt,
      cause: last?.thrown ?? (error === undefined ? undefined : new Error(error)),
    });
  }
}
