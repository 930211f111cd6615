/**
 * What "What if?" takes and answers over the wire.
 *
 * @module
 */

import type { PoolOutcome } from "../../simulate/happened.ts";

/** Changes of a pool's config that are to be simulated. */
export interface WhatIfBody {
  /** By the keys of the config: `{ "size.max": 30, "lanes.urgent.targetWaitMs": 100 }`. */
  readonly changes: Readonly<Record<string, unknown>>;
}

/** The last minutes of a pool, as they were and as they would have been. */
export interface WhatIfJson {
  /** The changes, each with what was there. */
  readonly changes: readonly string[];
  /** How much of the past was played, ms. */
  readonly spanMs: number;
  /** When that began, ms since epoch. */
  readonly fromMs: number;
  /** What happened. `null`: there is no sample of it. */
  readonly happened: PoolOutcome | null;
  /** What the simulation makes of the config as it is: how far it can be trusted. */
  readonly asItIs: PoolOutcome;
  /** What it makes of the changed one. */
  readonly changed: PoolOutcome;
  /** What is better and what is worse with the changes. */
  readonly comparison: readonly string[];
  /** Length of what each figure of the lanes is of, ms. */
  readonly bucketMs: number;
  /** The longest waits over time, highest priority first. */
  readonly lanes: readonly WhatIfLaneJson[];
}

/** The longest waits of a lane over time, in parts of `bucketMs`. `null`: not known. */
export interface WhatIfLaneJson {
  /** Name of the lane. */
  readonly lane: string;
  /** The wait that growth aims to stay below, ms. `null`: none. */
  readonly targetWaitMs: number | null;
  /** What happened, ms: a figure each second of the last two minutes, one a minute before. */
  readonly happenedMs: readonly (number | null)[];
  /** With the config as it is, ms. */
  readonly asItIsMs: readonly (number | null)[];
  /** With the changes, ms. */
  readonly changedMs: readonly (number | null)[];
}
