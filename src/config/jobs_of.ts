/**
 * What may be enqueued, as it follows from the type of a config.
 *
 * @module
 */

import type { Job, NewJob } from "../contract/job.ts";
import type { PoolJob, TypedJob } from "../contract/job_types.ts";
import type { Plugin, Slot } from "../contract/plugin.ts";

/** Jobs by pool name. A config whose type says nothing, such as the path of a file, allows any. */
export type JobsOf<Config> = Config extends { readonly pools: infer Pools }
  ? { [Name in keyof Pools & string]: JobOf<Pools[Name]> }
  : Record<string, NewJob>;

/**
 * Jobs of one pool: its lanes, the payload of its handler, the types of its handlers.
 *
 * @internal
 */
export type JobOf<Pool> = Pool extends { readonly handlers: infer Handlers } ? {
    [Type in keyof Handlers & string]:
      & TypedJob<Type, PayloadOf<Handlers[Type]>, LaneOf<Pool>, ReturnOf<Handlers[Type]>>
      & Naming<Pool>;
  }[keyof Handlers & string]
  :
    & (Pool extends { readonly handler: infer Handler }
      ? PoolJob<PayloadOf<Handler>, LaneOf<Pool>, ReturnOf<Handler>>
      : NewJob<unknown, LaneOf<Pool>>)
    & Naming<Pool>;

/** A job has to name its lane unless the pool has routes. */
type Naming<Pool> = "routes" extends keyof Pool ? unknown : { readonly lane: LaneOf<Pool> };

/** Names of the lanes of a pool. */
export type LaneOf<Pool> = Pool extends
  { readonly lanes: readonly { readonly name: infer Name extends string }[] } ? Name
  : string;

/** What the jobs of a handler carry. `unknown` for one that is named by text. */
export type PayloadOf<Handler> = Handler extends Plugin<"handler", infer _Input, infer Payload>
  ? Payload
  : Handler extends Slot<"handler", infer Payload> ? Payload
  : Handler extends (job: infer Given, ...rest: never) => unknown
    ? Given extends Job<infer Payload> ? Payload : unknown
  : unknown;

/** What a handler returns. `unknown` for one that is named by text. */
export type ReturnOf<Handler> = Handler extends
  Plugin<"handler", infer _Input, infer _Payload, infer Result> ? Result
  : Handler extends Slot<"handler", infer _Payload, infer Result> ? Result
  : Handler extends (...given: never) => infer Result ? Awaited<Result>
  : unknown;
