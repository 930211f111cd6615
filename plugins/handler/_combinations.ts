/**
 * Options of `http` that do not go together.
 *
 * @module
 */

import type { HttpSettings } from "./_http_options.ts";
import { DEFERRING } from "./_judge.ts";

/** One of them. */
export interface Mismatch {
  /** The option that is to change. */
  readonly key: keyof HttpSettings;
  /** What is wanted. */
  readonly message: string;
}

/** All that are in options which are right one by one. */
export function mismatchesIn({ success, retry }: HttpSettings): readonly Mismatch[] {
  return retry.flatMap((status): readonly Mismatch[] => {
    if (success.includes(status)) {
      return [{ key: "retry", message: `Expected ${status} in one of "success" and "retry"` }];
    }
    if (typeof status === "string" || !DEFERRING.has(status)) return [];
    const message = `Expected no ${status} in "retry": it says "later", and its jobs are deferred`;
    return [{ key: "retry", message }];
  });
}
