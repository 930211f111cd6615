/**
 * Jobs of which the compiler knows what they come to.
 *
 * @module
 */

import type { NewJob } from "./job.ts";

/**
 * A job for a handler that is known.
 *
 * @internal
 */
export interface PoolJob<Payload, Lane extends string, Result> extends NewJob<Payload, Lane> {
  /** Only for inference: what the handler returns. Never present at run time. */
  readonly "~result"?: readonly [Result] | undefined;
}

/**
 * A job for one of several handlers.
 *
 * @internal
 */
export interface TypedJob<Type extends string, Payload, Lane extends string, Result>
  extends PoolJob<Payload, Lane, Result> {
  /** Which of the pool's `handlers` runs it. */
  readonly type: Type;
}

/**
 * What the handler of a job returns. `unknown` if the type of the job does not say. Hint: a conditional
 * type would stay open in methods that are generic, and nothing could implement them.
 *
 * @internal
 */
export type ResultOf<Submit, Type extends string> = NonNullable<
  (Submit & Asked<Type>)["~result"]
>[0];

/** Leaves of some jobs those of a type. */
interface Asked<Type extends string> {
  readonly type?: Type;
  readonly "~result"?: readonly [unknown] | undefined;
}
