/**
 * What is used of `@std/async`, with types: the package on npm brings none.
 *
 * @module
 */

import { delay as untypedDelay } from "@std/async";

/** Options of `delay`. */
export interface DelayOptions {
  /** Ends the wait when it aborts: `delay` rejects with its reason. */
  readonly signal?: AbortSignal;
}

/** Resolves after `ms`, at most 2^31 - 1. */
export const delay: (ms: number, options?: DelayOptions) => Promise<void> = untypedDelay;
