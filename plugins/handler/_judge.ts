/**
 * What a status means.
 *
 * @module
 */

import type { HttpSettings } from "./_http_options.ts";

/** What becomes of the job, unless the receiver says "later". */
export type Judgement = "done" | "retry" | "dead";

/** Statuses that say "later" rather than "no", of the receiver as a whole. */
export const DEFERRING: ReadonlySet<number> = new Set([408, 425, 429, 503, 529]);

/** Those of them that say so without naming a time: the others may be about one request. */
export const OVERLOADED: ReadonlySet<number> = new Set([429, 503, 529]);

/** Judges by the lists of the options: a status by itself counts before its hundred. */
export function judge(
  status: number,
  { success, retry }: Pick<HttpSettings, "success" | "retry">,
): Judgement {
  for (const name of [status, `${Math.floor(status / 100)}xx`]) {
    if (success.some((each) => each === name)) return "done";
    if (retry.some((each) => each === name)) return "retry";
  }
  return "dead";
}
