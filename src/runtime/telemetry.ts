/**
 * What pools ask of telemetry. With none, nothing of it is on their way.
 *
 * @module
 */

import type { Job } from "../contract/job.ts";
import type { PoolHandle } from "./handles.ts";
import type { Fate } from "./verdict.ts";

/** One run of a handler. */
export interface TracedRun {
  /** Name of the pool. */
  readonly pool: string;
  /** What runs. */
  readonly job: Job;
  /** From due to started, ms. */
  readonly waitMs: number;
  /** True if it had been blocked by its key in that time. */
  readonly isBlocked: boolean;
  /** What runs it. */
  readonly worker: string;
  /** Takes out of a text what may not be shown. */
  readonly hide: (text: string) => string;
  /** What becomes of the job by a throw. */
  readonly fateOf: (thrown: unknown) => Fate;
}

/** Traces jobs and exports figures. */
export interface Telemetry {
  /** W3C trace context of anyone who enqueues now. `undefined`: there is none. Called at each enqueue without one. */
  traceparent(): string | undefined;
  /** Calls a handler inside a span of its own; answers or throws what it does. */
  run(traced: TracedRun, call: () => unknown): unknown;
  /**
   * Exports the figures of pools until the function it returns is called, which exports those of then.
   * `pools` is asked each time.
   */
  watch(pools: () => readonly PoolHandle[]): () => Promise<void>;
}
